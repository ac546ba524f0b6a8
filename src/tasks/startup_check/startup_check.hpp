// What the startup check (relay/machine) asks of the servers: the newest rows of the tables, and
// the exact look for rows that nobody answered for. Judges nothing.
#pragma once

#include "config/settings.hpp"
#include "core/error.hpp"
#include "core/facts.hpp"
#include "core/lineage.hpp"
#include "postgres/session/connection.hpp"
#include "relay/machine/roll_call.hpp"
#include "servers/run_to_end.hpp"

#include <boost/asio/awaitable.hpp>

#include <optional>
#include <string>
#include <vector>

namespace walrelay::tasks {

/// Rows that the witness does not name.
struct later_rows {
    /// SQL that is true of them; empty where they cannot be told.
    std::string condition = {};
    /// All of them were committed after it.
    lsn after = {};
    /// Only those are wanted that were made since; for calls while the relay runs.
    std::optional<wall_time> since = {};
};

/// As take_roll, with the error where the rows cannot be read.
[[nodiscard]] boost::asio::awaitable<result<relay::roll>> read_roll(
    boost::asio::any_io_executor executor, postgres::connection& sql,
    const config::settings& settings, const postgres_facts& facts, wall_time around,
    later_rows later);

struct taken_roll {
    std::optional<relay::roll> rows = {};
    /// Why there are none, where another try can bring them: a lock, or a connection that ended.
    std::optional<error> unread_for_now = {};
};

/// `around` is when the stream's last message was stored, 1970 where it has none. Where `later`
/// cannot be told, the times of the rows tell which are asked for. Where there are no rows, the log
/// says why. `sql` must live as long.
[[nodiscard]] boost::asio::awaitable<taken_roll> take_roll(boost::asio::any_io_executor executor,
                                                           postgres::connection& sql,
                                                           const config::settings& settings,
                                                           const postgres_facts& facts,
                                                           wall_time around, later_rows later);

/// Which of the rows are neither in the stream, also as one that was published again, nor in the
/// dead letters, also as one that was dropped. Reads the whole stream. `line` is the server's: a
/// message of a branch that it has left stands for none of its rows. Errors: of either server.
[[nodiscard]] boost::asio::awaitable<result<std::vector<relay::roll_row>>> find_missing(
    servers::executors on, const config::settings& settings, std::vector<relay::roll_row> rows,
    lineage line);

/// Keeps the rows as dead letters that were dropped: from now on nobody misses them.
[[nodiscard]] boost::asio::awaitable<result<void>> leave_out(boost::asio::any_io_executor executor,
                                                             const config::settings& settings,
                                                             std::vector<relay::roll_row> rows);

}  // namespace walrelay::tasks
