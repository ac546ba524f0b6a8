// Words that the relay machine's parts share in what they log.
#pragma once

#include "core/error.hpp"
#include "core/gap_words.hpp"

#include <chrono>
#include <cstddef>
#include <string>

namespace walrelay::relay {

inline constexpr int exit_done = 0;
inline constexpr int exit_operator_needed = 3;

using walrelay::how_to_close_a_gap;

/// "0.250 s".
[[nodiscard]] inline std::string seconds_text(std::chrono::milliseconds delay) {
    constexpr int milliseconds_per_second = 1000;
    auto text = std::to_string(delay.count() % milliseconds_per_second);
    text.insert(0, 3 - text.size(), '0');
    return std::to_string(delay.count() / milliseconds_per_second) + "." + text + " s";
}

[[nodiscard]] inline bool operator_needed(const error& why) {
    const auto wanted = advice_for(why.code);
    return wanted == advice::this_configuration || wanted == advice::this_message;
}

}  // namespace walrelay::relay
