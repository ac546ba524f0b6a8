#include "core/position.hpp"

#include <charconv>
#include <cinttypes>
#include <cstdio>

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

}  // namespace

std::string to_string(const position& where) {
    char text[sizeof "18446744073709551615.4294967295.FFFFFFFFFFFFFFFF.18446744073709551615"];
    const int length = std::snprintf(
        text, sizeof text, "%" PRIu64 ".%" PRIu32 ".%016" PRIX64 ".%" PRIu64,
        where.origin.system_identifier, where.origin.timeline, where.at.commit.value,
        where.at.ordinal);
    return {text, static_cast<std::size_t>(length)};
}

std::optional<position> parse_position(std::string_view text) {
    const auto system_identifier = take_number<std::uint64_t>(text, decimal);
    if (!system_identifier || !take_dot(text)) {
        return std::nullopt;
    }
    const auto timeline = take_number<std::uint32_t>(text, decimal);
    if (!timeline || !take_dot(text) || text.find('.') != lsn_digits) {
        return std::nullopt;
    }
    const auto commit = take_number<std::uint64_t>(text, hexadecimal);
    if (!commit || !take_dot(text)) {
        return std::nullopt;
    }
    const auto ordinal = take_number<std::uint64_t>(text, decimal);
    if (!ordinal || !text.empty()) {
        return std::nullopt;
    }
    return position{{*system_identifier, *timeline}, {lsn{*commit}, *ordinal}};
}

}  // namespace walrelay
