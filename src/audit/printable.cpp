#include "audit/printable.hpp"

#include <cstddef>

namespace walrelay::audit {
namespace {

constexpr std::size_t longest_bytes = 200;
constexpr unsigned char first_beyond_ascii = 0x80;

bool is_continuation(char byte) {
    constexpr unsigned mask = 0xc0;
    return (static_cast<unsigned char>(byte) & mask) == first_beyond_ascii;
}

/// How many bytes the first character takes; 0 if it is none. Source: RFC 3629, section 4.
std::size_t character_bytes(std::string_view text) {
    const auto at = [text](std::size_t index) { return static_cast<unsigned char>(text[index]); };
    const auto first = at(0);
    if (first < first_beyond_ascii) {
        return 1;
    }
    const std::size_t length = first >= 0xc2 && first <= 0xdf   ? 2
                               : first >= 0xe0 && first <= 0xef ? 3
                               : first >= 0xf0 && first <= 0xf4 ? 4
                                                                : 0;
    if (length == 0 || text.size() < length) {
        return 0;
    }
    for (std::size_t index = 1; index < length; ++index) {
        if (!is_continuation(text[index])) {
            return 0;
        }
    }
    const bool overlong = (first == 0xe0 && at(1) < 0xa0) || (first == 0xf0 && at(1) < 0x90);
    const bool surrogate = first == 0xed && at(1) > 0x9f;
    const bool too_high = first == 0xf4 && at(1) > 0x8f;
    return overlong || surrogate || too_high ? 0 : length;
}

bool is_utf8(std::string_view text) {
    while (!text.empty()) {
        const auto length = character_bytes(text);
        if (length == 0) {
            return false;
        }
        text.remove_prefix(length);
    }
    return true;
}

bool is_control(char byte) {
    const auto value = static_cast<unsigned char>(byte);
    return value < 0x20 || value == 0x7f;
}

void append_encoded(std::string& text, char byte) {
    constexpr const char* digits = "0123456789ABCDEF";
    constexpr unsigned half_bits = 4;
    constexpr unsigned half_mask = 15;
    const auto value = static_cast<unsigned char>(byte);
    text += '%';
    text += digits[value >> half_bits];
    text += digits[value & half_mask];
}

}  // namespace

std::string printable(std::string_view bytes) {
    auto end = bytes.size();
    if (end > longest_bytes) {
        end = longest_bytes;
        while (end > longest_bytes - 4 && is_continuation(bytes[end])) {
            --end;
        }
    }
    const auto shown = bytes.substr(0, end);
    const bool text = is_utf8(shown);
    std::string line;
    for (const char byte : shown) {
        const bool beyond_ascii = static_cast<unsigned char>(byte) >= first_beyond_ascii;
        if (is_control(byte) || (beyond_ascii && !text)) {
            append_encoded(line, byte);
        } else {
            line += byte;
        }
    }
    return end < bytes.size() ? line + "..." : line;
}

}  // namespace walrelay::audit
