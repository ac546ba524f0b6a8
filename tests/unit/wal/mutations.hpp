// A text with one thing wrong, in every place and in several ways.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace walrelay::testing {

/// What means something in JSON, in UTF-8 or in a number, and what must not be in a string.
inline constexpr std::array<char, 18> telling_bytes = {'"', '\\', '{',    '}',    '[',    ',',
                                                       ':', '0',  'e',    'n',    't',    'u',
                                                       ' ', '\0', '\x1f', '\x7f', '\x80', '\xc3'};

/// Calls `use` with the text cut there, without the byte there, and with each telling byte in its
/// place and in front of it.
template <class Use>
void with_each_mutation(std::string_view whole, Use use) {
    for (std::size_t offset = 0; offset <= whole.size(); ++offset) {
        const std::string before{whole.substr(0, offset)};
        const std::string behind{whole.substr(offset)};
        const std::string without{behind.empty() ? behind : behind.substr(1)};
        use(before);
        use(before + without);
        for (const char byte : telling_bytes) {
            use(before + byte + without);
            use(before + byte + behind);
        }
    }
}

}  // namespace walrelay::testing
