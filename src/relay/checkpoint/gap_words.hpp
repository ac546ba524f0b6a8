// What an operator is told to do about rows that are missing; the same wherever that is found.
#pragma once

#include <string>

namespace walrelay::relay {

/// About rows that the stream lacks and the slot does not send: look, publish them, and only then
/// go on without them.
inline constexpr const char* how_to_close_a_gap =
    "walrelay verify names the rows; walrelay resume --heal publishes them from the tables and "
    "goes "
    "on; walrelay resume --give-up goes on without them, and keeps a list of them";

/// The same where the broker has lost what it acked.
[[nodiscard]] std::string how_to_close_loss();

}  // namespace walrelay::relay
