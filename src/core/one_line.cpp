#include "core/one_line.hpp"

#include "core/utf8.hpp"

#include <array>
#include <cstdio>

namespace walrelay {
namespace {

void append_number(std::string& line, const char* format, unsigned number) {
    std::array<char, 16> text{};
    static_cast<void>(std::snprintf(text.data(), text.size(), format, number));
    line += text.data();
}

void append_ascii(std::string& line, char each) {
    constexpr unsigned first_printable = 0x20;
    constexpr unsigned erase = 0x7F;
    const unsigned code = static_cast<unsigned char>(each);
    if (each == '\n') {
        line += "\\n";
    } else if (each == '\t') {
        line += "\\t";
    } else if (code < first_printable || code == erase) {
        append_number(line, "\\x%02x", code);
    } else {
        line += each;
    }
}

void append(std::string& line, std::string_view text) {
    while (!text.empty()) {
        const auto next = first_character(text);
        if (next.bytes == 0) {
            append_number(line, "\\x%02x",
                          static_cast<unsigned>(static_cast<unsigned char>(text.front())));
        } else if (next.bytes == 1) {
            append_ascii(line, text.front());
        } else if (misleads(next.code)) {
            append_number(line, "\\u%04x", next.code);
        } else {
            line += text.substr(0, next.bytes);
        }
        text.remove_prefix(next.bytes == 0 ? 1 : next.bytes);
    }
}

/// Not within a character.
std::size_t boundary_before(std::string_view text, std::size_t at) {
    while (at > 0 && at < text.size() && continues_a_character(text[at])) {
        --at;
    }
    return at;
}

}  // namespace

std::string one_line(std::string_view text, std::size_t bytes_max) {
    std::string line;
    if (text.size() <= bytes_max) {
        line.reserve(text.size());
        append(line, text);
        return line;
    }
    const auto head = boundary_before(text, bytes_max / 2);
    const auto tail = boundary_before(text, text.size() - bytes_max / 2);
    append(line, text.substr(0, head));
    line += " ... (" + std::to_string(tail - head) + " bytes left out) ... ";
    append(line, text.substr(tail));
    return line;
}

}  // namespace walrelay
