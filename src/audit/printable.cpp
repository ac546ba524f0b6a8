#include "audit/printable.hpp"

#include "core/percent.hpp"
#include "core/utf8.hpp"

#include <cstddef>

namespace walrelay::audit {
namespace {

constexpr std::size_t longest_bytes = 200;
constexpr unsigned char first_beyond_ascii = 0x80;

bool is_utf8(std::string_view text) {
    while (!text.empty()) {
        const auto first = first_character(text);
        if (first.bytes == 0) {
            return false;
        }
        text.remove_prefix(first.bytes);
    }
    return true;
}

}  // namespace

std::string printable(std::string_view bytes) {
    auto end = bytes.size();
    if (end > longest_bytes) {
        end = longest_bytes;
        while (end > longest_bytes - 4 && continues_a_character(bytes[end])) {
            --end;
        }
    }
    const auto shown = bytes.substr(0, end);
    const bool text = is_utf8(shown);
    std::string line;
    for (const char byte : shown) {
        const bool beyond_ascii = static_cast<unsigned char>(byte) >= first_beyond_ascii;
        if (is_control(byte) || (beyond_ascii && !text)) {
            append_percent_encoded(line, byte);
        } else {
            line += byte;
        }
    }
    return end < bytes.size() ? line + "..." : line;
}

}  // namespace walrelay::audit
