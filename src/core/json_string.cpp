#include "core/json_string.hpp"

namespace walrelay {

std::string json_string(std::string_view text) {
    constexpr unsigned first_printable = 0x20;
    constexpr unsigned bits_of_a_digit = 4;
    constexpr unsigned digit_mask = 0xF;
    constexpr std::string_view digits = "0123456789abcdef";
    std::string quoted = "\"";
    for (const char each : text) {
        const auto code = static_cast<unsigned char>(each);
        if (code < first_printable) {
            quoted += "\\u00";
            quoted += digits[code >> bits_of_a_digit];
            quoted += digits[code & digit_mask];
            continue;
        }
        if (each == '"' || each == '\\') {
            quoted += '\\';
        }
        quoted += each;
    }
    return quoted + "\"";
}

}  // namespace walrelay
