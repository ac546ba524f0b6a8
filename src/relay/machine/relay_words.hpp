// Words that the relay machine's parts share in what they log.
#pragma once

#include "core/error.hpp"
#include "core/position.hpp"
#include "relay/checkpoint/gap_words.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

namespace walrelay::relay {

inline constexpr int exit_done = 0;
inline constexpr int exit_operator_needed = 3;

/// "0.250 s".
[[nodiscard]] inline std::string seconds_text(std::chrono::milliseconds delay) {
    constexpr int milliseconds_per_second = 1000;
    auto text = std::to_string(delay.count() % milliseconds_per_second);
    text.insert(0, 3 - text.size(), '0');
    return std::to_string(delay.count() / milliseconds_per_second) + "." + text + " s";
}

/// A message of the stream, at this sequence (0 is not known), is of a row that the database cannot
/// have yet: what is published now would stand before it.
[[nodiscard]] error lies_beyond_the_wal(const std::string& stream, const commit_position& where,
                                        std::uint64_t sequence, lsn wal_end);

[[nodiscard]] inline bool operator_needed(const error& why) {
    const auto wanted = advice_for(why.code);
    return wanted == advice::this_configuration || wanted == advice::this_message;
}

}  // namespace walrelay::relay
