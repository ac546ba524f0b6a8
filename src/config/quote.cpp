// Text of a user inside a message.
#include "config/quote.hpp"

#include <cstddef>

namespace walrelay::config {
namespace {

constexpr std::size_t shown_bytes_limit = 200;

bool is_control(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20U || byte == 0x7fU;
}

bool continues_a_character(char c) {
    return (static_cast<unsigned char>(c) & 0xc0U) == 0x80U;
}

/// Where to cut, so that no UTF-8 character is cut in two.
std::size_t shown_bytes(std::string_view text) {
    if (text.size() <= shown_bytes_limit) {
        return text.size();
    }
    std::size_t end = shown_bytes_limit;
    while (end > 0 && continues_a_character(text[end])) {
        --end;
    }
    return end;
}

}  // namespace

std::string printable(std::string_view text) {
    constexpr std::string_view digits = "0123456789abcdef";
    const std::size_t end = shown_bytes(text);
    std::string shown;
    for (const char c : text.substr(0, end)) {
        if (is_control(c)) {
            const auto byte = static_cast<unsigned char>(c);
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
