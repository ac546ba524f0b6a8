// Random text for properties that have to hold for every value, with a seed that can be told.
#pragma once

#include <random>
#include <string>
#include <string_view>

namespace walrelay::test {

/// Up to `longest` letters of `alphabet`; "" can come out.
inline std::string random_text(std::mt19937& random, std::string_view alphabet,
                               std::size_t longest) {
    std::string text(random() % (longest + 1), '\0');
    for (auto& letter : text) {
        letter = alphabet[random() % alphabet.size()];
    }
    return text;
}

/// Undoes percent-encoding; a '%' that two digits do not follow is kept.
inline std::string percent_decoded(std::string_view text) {
    constexpr int hexadecimal = 16;
    std::string decoded;
    for (std::size_t index = 0; index < text.size(); ++index) {
        if (text[index] == '%' && index + 2 < text.size()) {
            const std::string digits(text.substr(index + 1, 2));
            decoded += static_cast<char>(std::stoi(digits, nullptr, hexadecimal));
            index += 2;
        } else {
            decoded += text[index];
        }
    }
    return decoded;
}

}  // namespace walrelay::test
