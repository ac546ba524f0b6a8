// What a replay into another stream would do, counted before anything is done.
#pragma once

#include "config/settings.hpp"
#include "core/error.hpp"
#include "postgres/session/connection.hpp"
#include "postgres/tables/replay_desk.hpp"
#include "relay/machine/replay_target.hpp"
#include "relay/replay/replay_plan.hpp"
#include "servers/run_to_end.hpp"
#include "tasks/replay/left_out.hpp"
#include "tasks/replay/replay_work.hpp"

#include <boost/asio/awaitable.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace walrelay::tasks {

struct copy_plan {
    relay::replay_plan plan = {};
    /// What the stream has already.
    std::optional<relay::replayed_before> there = {};
    /// Rows of the range that it has.
    std::uint64_t rows_there = 0;
    /// Rows from before its last message that it does not have, since an earlier run left them out.
    left_out_rows left_out_there = {};
    /// Rows that are still to be read, also those that cannot be messages.
    std::uint64_t rows_left = 0;
};

/// Reads the whole range and writes nothing. Errors: those of look_at_target and joins_replayed as
/// well.
[[nodiscard]] boost::asio::awaitable<result<copy_plan>> plan_copy(
    servers::executors on, const config::settings& settings, postgres::connection& sql,
    postgres::kept_replay of, std::string stream, tell_progress tell);

}  // namespace walrelay::tasks
