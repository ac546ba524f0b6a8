// How a relay is at one moment. Plain data.
#pragma once

#include "core/change.hpp"
#include "core/lsn.hpp"
#include "core/relay_counts.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace walrelay {

enum class relay_state {
    /// Neither server has been reached yet, nor failed.
    starting,
    /// Another consumer holds the slot.
    standby,
    /// Rows that were there before the slot are published.
    snapshot,
    /// Streaming; what was committed before is not stored yet, or more than ten seconds behind.
    catching_up,
    streaming,
    waiting_postgres,
    waiting_broker,
    /// On its way to its end.
    draining,
    /// An operator must decide.
    halted,
};
inline constexpr std::size_t relay_state_count = 9;
[[nodiscard]] const char* to_string(relay_state state);

/// Whether the relay does what it is there for.
[[nodiscard]] constexpr bool is_ready(relay_state state) {
    return state == relay_state::standby || state == relay_state::snapshot ||
           state == relay_state::catching_up || state == relay_state::streaming;
}

struct relay_status {
    relay_state state = relay_state::starting;
    /// It holds the slot.
    bool is_leader = false;
    /// Of a halted relay, which holds neither: whether the last look at it had an answer.
    bool postgres_connected = false;
    bool broker_connected = false;
    /// Why it is not ready, and what an operator can do about it; empty where it is.
    std::string reason = {};
    std::string fix = {};
    std::size_t window_messages = 0;
    std::size_t window_bytes = 0;
    std::size_t window_limit_messages = 0;
    std::size_t window_limit_bytes = 0;
    /// The window is full.
    bool reading_paused = false;
    std::size_t write_back_pending = 0;
    /// How long ago the oldest row was committed that is not stored; 0 where there is none, nothing
    /// where that is not known.
    std::optional<std::chrono::microseconds> lag = {};
    /// How long ago the oldest message that is not stored was sent first, be it on an earlier
    /// connection; 0 where none was sent.
    std::chrono::microseconds oldest_unacked{0};
    /// What the slot may be told; nothing before the slot is known.
    std::optional<lsn> confirmed = {};
    /// The slowest message of the last minute, where one was stored.
    std::optional<slow_message> slowest = {};
};

}  // namespace walrelay
