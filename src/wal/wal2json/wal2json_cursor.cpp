#include "wal/wal2json/wal2json_cursor.hpp"

#include "core/ascii.hpp"

#include <array>
#include <bit>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <system_error>

namespace walrelay::wal {
namespace {

constexpr std::ptrdiff_t word_bytes = sizeof(std::uint64_t);

/// The first byte is the lowest.
std::uint64_t load_word(const char* bytes) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes, sizeof word);
    if constexpr (std::endian::native == std::endian::big) {
        word = __builtin_bswap64(word);
    }
    return word;
}

bool is_plain(char letter) {
    return letter != '"' && letter != '\\' && static_cast<unsigned char>(letter) >= 0x20U;
}

/// The highest bit of the first byte that is not plain; those of later bytes mean nothing, those of
/// bytes before it are 0. A byte minus a limit borrows if it is less, and the borrow spoils only
/// what is behind it.
std::uint64_t first_not_plain(std::uint64_t word) {
    constexpr std::uint64_t each = 0x0101010101010101U;
    const auto no_quote = (word ^ (each * '"')) - each;
    const auto no_backslash = (word ^ (each * '\\')) - each;
    const auto no_control = word - each * 0x20U;
    return (no_quote | no_backslash | no_control) & ~word & (each * 0x80U);
}

/// The character that a backslash and this letter stand for; 0 if none, or one in hex digits.
constexpr auto escapes = [] {
    std::array<char, 256> meaning{};
    for (const auto& [letter, character] :
         {std::array{'"', '"'}, std::array{'\\', '\\'}, std::array{'/', '/'}, std::array{'b', '\b'},
          std::array{'f', '\f'}, std::array{'n', '\n'}, std::array{'r', '\r'},
          std::array{'t', '\t'}}) {
        meaning[static_cast<unsigned char>(letter)] = character;
    }
    return meaning;
}();

/// Reads two bytes.
inline char unescaped(const char* at) {
    return *at == '\\' ? escapes[static_cast<unsigned char>(at[1])] : '\0';
}

struct copied {
    const char* read_up_to;
    char* written_up_to;
};

/// Goes on where less than a word and an escape is left.
copied copy_last_bytes(const char* at, const char* end, char* room) {
    while (at != end) {
        if (is_plain(*at)) {
            *room++ = *at++;
            continue;
        }
        const char character = end - at < 2 ? '\0' : unescaped(at);
        if (character == '\0') {
            break;
        }
        *room++ = character;
        at += 2;
    }
    return {at, room};
}

/// A string without its escapes, up to the quote that ends it, or to what must not be in it or is
/// not known here. Words, not vectors: where JSON stands in JSON every few bytes are an escape, and
/// finding the next one must not take long.
copied copy_unescaped(const char* at, const char* end, char* room) {
    while (end - at > word_bytes) {
        const auto found = first_not_plain(load_word(at));
        std::memcpy(room, at, word_bytes);
        const auto plain = found == 0 ? word_bytes : std::countr_zero(found) / 8;
        at += plain;
        room += plain;
        if (found == 0) {
            continue;
        }
        const char character = unescaped(at);
        if (character == '\0') {
            return {at, room};
        }
        *room++ = character;
        at += 2;
    }
    return copy_last_bytes(at, end, room);
}

bool is_in_numbers(char letter) {
    return is_digit(letter) || letter == '.' || letter == '-' || letter == '+' || letter == 'e' ||
           letter == 'E';
}

}  // namespace

bool wal2json_cursor::take_string(std::string_view& text) {
    if (!take_quote()) {
        return false;
    }
    const auto read = copy_unescaped(at_, end_, room_);
    text = {room_, static_cast<std::size_t>(read.written_up_to - room_)};
    at_ = read.read_up_to;
    room_ = read.written_up_to;
    return take_quote();
}

bool wal2json_cursor::take_quote() {
    const bool is_there = at_ != end_ && *at_ == '"';
    at_ += is_there ? 1 : 0;
    return is_there;
}

bool wal2json_cursor::take_value(field& value) {
    switch (at_end() ? '\0' : *at_) {
        case '"': {
            value.emplace();
            return take_string(*value);
        }
        case 'n':
            value.reset();
            return take("null");
        case 't':
            value = "t";
            return take("true");
        case 'f':
            value = "f";
            return take("false");
        default:
            return take_any_number(value);
    }
}

bool wal2json_cursor::take_number(std::uint32_t& number) {
    const bool has_leading_zero = end_ - at_ > 1 && *at_ == '0' && is_digit(at_[1]);
    const auto read = std::from_chars(at_, end_, number);
    at_ = read.ptr;
    return read.ec == std::errc{} && !has_leading_zero;
}

/// As lenient as with simdjson: the server's own text, so characters are looked at, not grammar.
bool wal2json_cursor::take_any_number(field& value) {
    const char* const begin = at_;
    bool has_digit = false;
    while (at_ != end_ && is_in_numbers(*at_)) {
        has_digit = has_digit || is_digit(*at_);
        ++at_;
    }
    value.emplace(begin, static_cast<std::size_t>(at_ - begin));
    return has_digit;
}

}  // namespace walrelay::wal
