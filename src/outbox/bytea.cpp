#include "outbox/bytea.hpp"

#include <array>
#include <cstdint>

namespace walrelay::outbox {
namespace {

constexpr std::uint8_t not_a_digit = 0xff;
constexpr unsigned half_bits = 4;

constexpr auto digit_values = [] {
    std::array<std::uint8_t, 256> table{};
    table.fill(not_a_digit);
    for (std::uint8_t value = 0; value < 10; ++value) {
        table[std::size_t{'0'} + value] = value;
    }
    for (std::uint8_t value = 10; value < 16; ++value) {
        table[std::size_t{'a'} + value - 10] = value;
        table[std::size_t{'A'} + value - 10] = value;
    }
    return table;
}();

std::uint8_t digit_value(char digit) {
    return digit_values[static_cast<unsigned char>(digit)];
}

bool are_pairs_of_digits(std::string_view digits) {
    unsigned seen = 0;
    for (const char digit : digits) {
        seen |= digit_value(digit);
    }
    return digits.size() % 2 == 0 && (seen >> half_bits) == 0;
}

std::uint32_t byte_at(std::string_view digits, std::size_t index) {
    return (std::uint32_t{digit_value(digits[2 * index])} << half_bits) |
           digit_value(digits[2 * index + 1]);
}

/// Three bytes, of which `given` are there and the rest is padding, as four letters.
void append_letters(std::string& text, std::uint32_t group, std::size_t given) {
    constexpr std::string_view alphabet =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    constexpr std::uint32_t letter_mask = 63;
    const std::array<char, 4> letters = {alphabet[(group >> 18) & letter_mask],
                                         alphabet[(group >> 12) & letter_mask],
                                         given > 1 ? alphabet[(group >> 6) & letter_mask] : '=',
                                         given > 2 ? alphabet[group & letter_mask] : '='};
    text.append(letters.data(), letters.size());
}

}  // namespace

bool append_bytes(std::string& bytes, std::string_view digits) {
    if (!are_pairs_of_digits(digits)) {
        return false;
    }
    const auto start = bytes.size();
    const auto count = digits.size() / 2;
    bytes.resize(start + count);
    for (std::size_t index = 0; index < count; ++index) {
        bytes[start + index] = static_cast<char>(byte_at(digits, index));
    }
    return true;
}

bool append_base64(std::string& text, std::string_view digits) {
    if (!are_pairs_of_digits(digits)) {
        return false;
    }
    const auto count = digits.size() / 2;
    for (std::size_t start = 0; start < count; start += 3) {
        const auto given = std::min<std::size_t>(3, count - start);
        std::uint32_t group = byte_at(digits, start) << 16;
        group |= given > 1 ? byte_at(digits, start + 1) << 8 : 0;
        group |= given > 2 ? byte_at(digits, start + 2) : 0;
        append_letters(text, group, given);
    }
    return true;
}

}  // namespace walrelay::outbox
