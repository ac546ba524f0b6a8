// How a fuzz target says that a property does not hold: the input is what libFuzzer keeps then.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace walrelay::fuzz {

/// Ends the process where `holds` is false, and says what was violated.
inline void require(bool holds, const char* property) {
    if (!holds) {
        static_cast<void>(std::fprintf(stderr, "violated: %s\n", property));
        std::abort();
    }
}

/// Whether no byte of the text can end a line: none is below a blank.
inline bool is_one_line(std::string_view text) {
    return std::ranges::none_of(text,
                                [](char each) { return static_cast<unsigned char>(each) < ' '; });
}

/// The same of text for people and for headers, which has no DEL either.
inline bool is_printable(std::string_view text) {
    constexpr char del = 0x7F;
    return is_one_line(text) && text.find(del) == std::string_view::npos;
}

/// Reads every byte that a view points at: the sanitizer knows whether it is there.
inline void read_all(std::string_view view) {
    volatile std::size_t sum = 0;
    for (const char each : view) {
        sum = sum + static_cast<unsigned char>(each);
    }
}

inline std::string_view as_text(const std::uint8_t* data, std::size_t size) {
    return {reinterpret_cast<const char*>(data), size};
}

}  // namespace walrelay::fuzz
