// One byte, percent-encoded: what all encodings have in common.
#pragma once

#include <string>

namespace walrelay {

/// Appends `%XY`, with capital digits (RFC 3986, section 2.1).
inline void append_percent_encoded(std::string& text, char byte) {
    constexpr const char* digits = "0123456789ABCDEF";
    constexpr unsigned half_bits = 4;
    constexpr unsigned half_mask = 15;
    const auto value = static_cast<unsigned char>(byte);
    const char encoded[] = {'%', digits[value >> half_bits], digits[value & half_mask]};
    text.append(encoded, sizeof encoded);
}

/// Whether it is one of 0x00-0x1F and 0x7F.
[[nodiscard]] constexpr bool is_control(char byte) {
    const auto value = static_cast<unsigned char>(byte);
    return value < 0x20 || value == 0x7f;
}

}  // namespace walrelay
