#include "core/utf8.hpp"

#include <array>

namespace walrelay {
namespace {

unsigned byte_at(std::string_view text, std::size_t index) {
    return static_cast<unsigned char>(text[index]);
}

}  // namespace

utf8_character first_character(std::string_view text) {
    constexpr unsigned first_of_many = 0x80;
    constexpr unsigned bits = 6;
    constexpr unsigned payload_mask = 0x3F;
    const auto lead = byte_at(text, 0);
    if (lead < first_of_many) {
        return {lead, 1};
    }
    const std::size_t length = lead >= 0xC2 && lead <= 0xDF   ? 2
                               : lead >= 0xE0 && lead <= 0xEF ? 3
                               : lead >= 0xF0 && lead <= 0xF4 ? 4
                                                              : 0;
    if (length == 0 || text.size() < length) {
        return {};
    }
    constexpr unsigned lead_mask = 0x7F;
    utf8_character read{lead & (lead_mask >> length), length};
    for (std::size_t index = 1; index < length; ++index) {
        if (!continues_a_character(text[index])) {
            return {};
        }
        read.code = (read.code << bits) | (byte_at(text, index) & payload_mask);
    }
    constexpr std::array<std::uint32_t, 5> least = {0, 0, 0x80, 0x800, 0x10000};
    const bool surrogate = read.code >= 0xD800 && read.code <= 0xDFFF;
    const bool is_none = read.code < least.at(length) || read.code > 0x10FFFF || surrogate;
    return is_none ? utf8_character{} : read;
}

bool misleads(std::uint32_t code) {
    return (code >= 0x80 && code <= 0x9F) || code == 0x061C || code == 0x200E || code == 0x200F ||
           (code >= 0x2028 && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
}

}  // namespace walrelay
