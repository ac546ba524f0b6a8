// What the startup check (relay/machine) asks of the servers: the newest rows of the tables, and
// the exact look for rows that nobody answered for. Judges nothing.
#pragma once

#include "config/settings.hpp"
#include "core/error.hpp"
#include "core/facts.hpp"
#include "postgres/session/connection.hpp"
#include "relay/machine/roll_call.hpp"
#include "servers/run_to_end.hpp"

#include <boost/asio/awaitable.hpp>

#include <optional>
#include <string>
#include <vector>

namespace walrelay::tasks {

/// `around` is when the stream's last message was stored. Nothing where the rows cannot be read
/// within a few seconds, which is told in the log and harms nothing. `sql` must live as long.
[[nodiscard]] boost::asio::awaitable<std::optional<relay::roll>> take_roll(
    boost::asio::any_io_executor executor, postgres::connection& sql,
    const config::settings& settings, const postgres_facts& facts, wall_time around);

/// Which of the rows are neither in the stream, also as one that was published again, nor in the
/// dead letters, also as one that was dropped. Reads the whole stream. Errors: of either server.
[[nodiscard]] boost::asio::awaitable<result<std::vector<relay::roll_row>>> find_missing(
    servers::executors on, const config::settings& settings, std::vector<relay::roll_row> rows);

/// Keeps the rows as dead letters that were dropped: from now on nobody misses them.
[[nodiscard]] boost::asio::awaitable<result<void>> leave_out(boost::asio::any_io_executor executor,
                                                             const config::settings& settings,
                                                             std::vector<relay::roll_row> rows);

}  // namespace walrelay::tasks
