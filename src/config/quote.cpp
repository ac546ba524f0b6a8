// Text of a user inside a message.
#include "config/quote.hpp"

#include <cstddef>

namespace walrelay::config {

std::string printable(std::string_view text) {
    constexpr std::string_view digits = "0123456789abcdef";
    constexpr std::size_t shown_bytes = 200;
    std::size_t end = text.size() <= shown_bytes ? text.size() : shown_bytes;
    // No UTF-8 character is cut in two.
    while (end > 0 && end < text.size() && (static_cast<unsigned char>(text[end]) >> 6U) == 2U) {
        --end;
    }
    std::string shown;
    for (const char c : text.substr(0, end)) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x20U || byte == 0x7fU) {
            shown += {'\\', 'x', digits[byte >> 4U], digits[byte & 0xfU]};
        } else {
            shown += c;
        }
    }
    return end < text.size() ? shown + "..." : shown;
}

std::string in_quotes(std::string_view text) {
    return '"' + printable(text) + '"';
}

}  // namespace walrelay::config
