// Restarts of the relay, the broker and PostgreSQL, and for how long each of them excuses a wait.
#pragma once

#include "chaos/arena.hpp"
#include "soak/diary.hpp"
#include "soak/slow_reader.hpp"

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

namespace walrelay::soak {

/// After so long a relay must be connected to a server that is there again.
inline constexpr std::chrono::seconds reconnect_limit{10};
/// After that, until what has gathered meanwhile is in the stream. PostgreSQL first decodes again
/// what was written since its oldest transaction began, minutes of it here, and sends none of it.
inline constexpr std::chrono::seconds catch_up_limit{5};

/// SIGTERM ends a relay within this, unless rows that it should write back are locked.
inline constexpr std::chrono::seconds stop_limit{3};
inline constexpr const char* stop_of_relay = "SIGTERM of walrelay";

struct restart_record {
    std::string kind;
    moment begun{};
    /// The process runs again, and a server answers.
    moment over{};
    bool of_broker = false;
    bool of_postgres = false;
};

/// The next one of a fixed order; `number` counts them. To be called by the thread that started
/// the processes. Throws std::runtime_error.
[[nodiscard]] restart_record restart(chaos::arena& where, std::size_t number);

/// From its beginning until the relay has said that it is connected again (at most
/// reconnect_limit after it was over), and catch_up_limit.
[[nodiscard]] period excuse_of(const restart_record& fault, const std::vector<log_line>& log);

}  // namespace walrelay::soak
