// How an operator closes a gap, in the words of every error that knows of one. Text only.
#pragma once

namespace walrelay {

/// What an operator can do about rows that the stream lacks and the slot does not send: look,
/// publish them, and only then go on without them.
inline constexpr const char* how_to_close_a_gap =
    "walrelay verify names the rows; walrelay resume --heal publishes them from the tables and "
    "goes "
    "on; walrelay resume --give-up goes on without them, and keeps a list of them";

}  // namespace walrelay
