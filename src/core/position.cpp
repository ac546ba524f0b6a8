#include "core/position.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstring>
#include <limits>

namespace walrelay {
namespace {

constexpr int decimal = 10;
constexpr int hexadecimal = 16;
constexpr std::size_t lsn_digits = 16;

/// Takes the number in front of the next dot (or the end) off `text`.
template <class Number>
std::optional<Number> take_number(std::string_view& text, int base) {
    const auto length = std::min(text.find('.'), text.size());
    const auto digits = text.substr(0, length);
    Number number = 0;
    const char* const end = digits.data() + digits.size();
    const auto [stop, failure] = std::from_chars(digits.data(), end, number, base);
    if (failure != std::errc{} || stop != end) {
        return std::nullopt;
    }
    text.remove_prefix(length);
    return number;
}

bool take_dot(std::string_view& text) {
    if (text.empty() || text.front() != '.') {
        return false;
    }
    text.remove_prefix(1);
    return true;
}

/// Takes 16 hex digits in front of the next dot off `text`.
std::optional<lsn> take_lsn(std::string_view& text) {
    if (text.find('.') != lsn_digits) {
        return std::nullopt;
    }
    const auto value = take_number<std::uint64_t>(text, hexadecimal);
    return value ? std::optional(lsn{*value}) : std::nullopt;
}

void append_number(std::string& text, std::uint64_t number) {
    std::array<char, std::numeric_limits<std::uint64_t>::digits10 + 1> digits{};
    const auto [end, failure] = std::to_chars(digits.begin(), digits.end(), number);
    text.append(digits.begin(), end);
}

/// The eight hex digits of `half` as they stand in memory, the first one lowest.
std::uint64_t hex_digits(std::uint32_t half) {
    // Each digit gets a byte of its own, the last one the lowest.
    std::uint64_t spread = half;
    spread = (spread | (spread << 16U)) & 0x0000FFFF0000FFFFU;
    spread = (spread | (spread << 8U)) & 0x00FF00FF00FF00FFU;
    spread = (spread | (spread << 4U)) & 0x0F0F0F0F0F0F0F0FU;
    // 1 where the digit is a letter.
    const auto letters = ((spread + 0x0606060606060606U) >> 4U) & 0x0101010101010101U;
    const auto text = spread + 0x3030303030303030U + letters * ('A' - '9' - 1);
    return __builtin_bswap64(text);
}

// Once for each event, so not digit by digit. Little-endian, as all that walrelay is built for.
void append_lsn(std::string& text, lsn place) {
    static_assert(std::endian::native == std::endian::little);
    constexpr unsigned half_bits = 32;
    const std::array<std::uint64_t, 2> halves{
        hex_digits(static_cast<std::uint32_t>(place.value >> half_bits)),
        hex_digits(static_cast<std::uint32_t>(place.value))};
    std::array<char, lsn_digits> digits{};
    std::memcpy(digits.data(), halves.data(), digits.size());
    text.append(digits.data(), digits.size());
}

}  // namespace

std::string to_string(const position& where) {
    std::string text;
    append_to(text, where);
    return text;
}

void append_to(std::string& text, const position& where) {
    append_transaction(text, where);
    append_row(text, where);
}

void append_transaction(std::string& text, const position& where) {
    append_number(text, where.origin.system_identifier);
    text += '.';
    append_number(text, where.origin.timeline);
    text += '.';
    append_lsn(text, where.at.commit);
    text += '.';
}

void append_row(std::string& text, const position& where) {
    constexpr std::uint64_t one_digit = 9;
    if (!counts_events(where.at)) {
        append_lsn(text, where.at.row);
        text += '.';
    }
    if (where.at.index <= one_digit) {
        text += static_cast<char>('0' + where.at.index);
        return;
    }
    append_number(text, where.at.index);
}

std::optional<position> parse_position(std::string_view text) {
    const auto system_identifier = take_number<std::uint64_t>(text, decimal);
    if (!system_identifier || !take_dot(text)) {
        return std::nullopt;
    }
    const auto timeline = take_number<std::uint32_t>(text, decimal);
    if (!timeline || !take_dot(text)) {
        return std::nullopt;
    }
    const auto commit = take_lsn(text);
    if (!commit || !take_dot(text)) {
        return std::nullopt;
    }
    // Four parts are of the first version.
    const bool has_row = text.find('.') != std::string_view::npos;
    const auto row = has_row ? take_lsn(text) : lsn{};
    if (!row || (has_row && (*row == lsn{} || !take_dot(text)))) {
        return std::nullopt;
    }
    const bool padded = text.size() > 1 && text.front() == '0';
    const auto index = take_number<std::uint64_t>(text, decimal);
    if (padded || !index || !text.empty()) {
        return std::nullopt;
    }
    return position{{*system_identifier, *timeline}, {*commit, *row, *index}};
}

}  // namespace walrelay
