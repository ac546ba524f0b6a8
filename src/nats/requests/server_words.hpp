// What nats-server says in words and nowhere else. Pure.
#pragma once

#include <charconv>
#include <cstdint>
#include <string_view>

namespace walrelay::nats {

/// "Exceeded MaxRequestBatch of 100": 100; 0 where there is no number.
[[nodiscard]] inline std::uint64_t last_number_in(std::string_view text) {
    constexpr std::string_view digits = "0123456789";
    const auto end = text.find_last_of(digits);
    if (end == std::string_view::npos) {
        return 0;
    }
    const auto before = text.substr(0, end + 1).find_last_not_of(digits);
    const auto begin = before == std::string_view::npos ? 0 : before + 1;
    std::uint64_t number = 0;
    std::from_chars(text.data() + begin, text.data() + end + 1, number);
    return number;
}

}  // namespace walrelay::nats
