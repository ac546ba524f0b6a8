#include "core/one_line.hpp"

#include <array>
#include <cstdint>
#include <cstdio>

namespace walrelay {
namespace {

constexpr unsigned continuation_mask = 0xC0;
constexpr unsigned continuation = 0x80;

unsigned byte_at(std::string_view text, std::size_t index) {
    return static_cast<unsigned char>(text[index]);
}

struct character {
    std::uint32_t code = 0;
    std::size_t bytes = 0;  // 0: it is none
};

/// The first one. Source: RFC 3629, section 4.
character first_of(std::string_view text) {
    constexpr unsigned bits = 6;
    constexpr unsigned payload_mask = 0x3F;
    const auto lead = byte_at(text, 0);
    if (lead < continuation) {
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
    character read{lead & (lead_mask >> length), length};
    for (std::size_t index = 1; index < length; ++index) {
        const auto next = byte_at(text, index);
        if ((next & continuation_mask) != continuation) {
            return {};
        }
        read.code = (read.code << bits) | (next & payload_mask);
    }
    constexpr std::array<std::uint32_t, 5> least = {0, 0, 0x80, 0x800, 0x10000};
    const bool surrogate = read.code >= 0xD800 && read.code <= 0xDFFF;
    return read.code < least.at(length) || read.code > 0x10FFFF || surrogate ? character{} : read;
}

/// Source: Unicode, "Bidirectional Algorithm" (UAX 9), section 2; line and paragraph separators.
bool misleads(std::uint32_t code) {
    return (code >= 0x80 && code <= 0x9F) || code == 0x061C || code == 0x200E || code == 0x200F ||
           (code >= 0x2028 && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
}

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
        const auto next = first_of(text);
        if (next.bytes == 0) {
            append_number(line, "\\x%02x", byte_at(text, 0));
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
    while (at > 0 && at < text.size() && (byte_at(text, at) & continuation_mask) == continuation) {
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
