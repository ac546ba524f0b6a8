// Characters in bytes: UTF-8 as RFC 3629 has it, and which of its characters make a text look like
// another one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace walrelay {

struct utf8_character {
    std::uint32_t code = 0;
    std::size_t bytes = 0;  // 0: it is none
};

/// The first one of a text that is not empty.
[[nodiscard]] utf8_character first_character(std::string_view text);

/// Whether it turns the direction of a text, breaks a line, or is a control character of C1.
/// Source: Unicode, "Bidirectional Algorithm" (UAX 9), section 2; line and paragraph separators.
[[nodiscard]] bool misleads(std::uint32_t code);

/// Whether the byte goes on with a character that has begun before it.
[[nodiscard]] constexpr bool continues_a_character(char byte) {
    return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

}  // namespace walrelay
