#include "core/json_string.hpp"

#include "core/utf8.hpp"

#include <cstdint>

namespace walrelay {
namespace {

constexpr std::uint32_t first_printable = 0x20;
constexpr std::uint32_t erase = 0x7F;
constexpr std::uint32_t replacement = 0xFFFD;

void append_escape(std::string& to, std::uint32_t code) {
    constexpr std::string_view digits = "0123456789abcdef";
    constexpr unsigned bits_of_a_digit = 4;
    constexpr unsigned digit_mask = 0xF;
    to += "\\u";
    for (unsigned place = 4; place-- > 0;) {
        to += digits[(code >> (place * bits_of_a_digit)) & digit_mask];
    }
}

}  // namespace

std::string json_string(std::string_view text) {
    std::string quoted = "\"";
    while (!text.empty()) {
        const auto next = first_character(text);
        if (next.bytes == 0) {
            append_escape(quoted, replacement);
            text.remove_prefix(1);
            continue;
        }
        if (next.code < first_printable || next.code == erase || misleads(next.code)) {
            append_escape(quoted, next.code);
        } else {
            quoted += next.code == '"' || next.code == '\\' ? "\\" : "";
            quoted += text.substr(0, next.bytes);
        }
        text.remove_prefix(next.bytes);
    }
    return quoted + "\"";
}

std::string printable_json(std::string_view json) {
    std::string printable;
    while (!json.empty()) {
        const auto next = first_character(json);
        if (next.bytes > 0 && (next.code == erase || misleads(next.code))) {
            append_escape(printable, next.code);
        } else {
            printable += json.substr(0, next.bytes == 0 ? 1 : next.bytes);
        }
        json.remove_prefix(next.bytes == 0 ? 1 : next.bytes);
    }
    return printable;
}

}  // namespace walrelay
