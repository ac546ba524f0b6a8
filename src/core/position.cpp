#include "core/position.hpp"

#include <algorithm>
#include <array>
#include <charconv>
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

void append_lsn(std::string& text, lsn place) {
    constexpr unsigned digit_bits = 4;
    constexpr std::uint64_t digit_mask = 15;
    std::array<char, lsn_digits> digits{};
    std::uint64_t rest = place.value;
    for (std::size_t left = digits.size(); left > 0; --left) {
        digits[left - 1] = "0123456789ABCDEF"[rest & digit_mask];
        rest >>= digit_bits;
    }
    text.append(digits.begin(), digits.end());
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
    if (!counts_events(where.at)) {
        append_lsn(text, where.at.row);
        text += '.';
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
