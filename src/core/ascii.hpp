// Letters and digits of ASCII, whatever the locale is.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace walrelay {

[[nodiscard]] constexpr bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
[[nodiscard]] constexpr bool is_lower(char c) {
    return c >= 'a' && c <= 'z';
}
[[nodiscard]] constexpr bool is_upper(char c) {
    return c >= 'A' && c <= 'Z';
}
[[nodiscard]] constexpr bool is_letter(char c) {
    return is_lower(c) || is_upper(c);
}
[[nodiscard]] constexpr bool is_lower_hex(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'f');
}
[[nodiscard]] constexpr bool is_upper_hex(char c) {
    return is_digit(c) || (c >= 'A' && c <= 'F');
}

[[nodiscard]] constexpr char lower(char c) {
    return is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c;
}
[[nodiscard]] inline std::string lower(std::string_view text) {
    std::string lowered(text);
    std::ranges::transform(lowered, lowered.begin(), [](char c) { return lower(c); });
    return lowered;
}

/// False for an empty text.
template <class Is>
[[nodiscard]] bool consists_of(std::string_view text, Is is) {
    return !text.empty() && std::ranges::all_of(text, is);
}

}  // namespace walrelay
