#include "app/json_text.hpp"

#include <fmt/format.h>

#include <iterator>

namespace walrelay::app {

std::string json_string(std::string_view text) {
    constexpr unsigned char first_printable = 0x20;
    std::string quoted = "\"";
    for (const char each : text) {
        if (each == '"' || each == '\\') {
            quoted += '\\';
            quoted += each;
        } else if (static_cast<unsigned char>(each) < first_printable) {
            fmt::format_to(std::back_inserter(quoted), "\\u{:04x}", static_cast<unsigned>(each));
        } else {
            quoted += each;
        }
    }
    return quoted + "\"";
}

}  // namespace walrelay::app
