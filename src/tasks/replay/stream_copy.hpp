// A replay into another stream: the command itself is the relay. A temporary copy of the kept slot
// in, a fenced lane of that stream out; positions and ids are those of the rows themselves. Nothing
// is written to the database, and the live flow is not touched.
#pragma once

#include "config/settings.hpp"
#include "core/error.hpp"
#include "core/position.hpp"
#include "postgres/session/connection.hpp"
#include "postgres/tables/replay_desk.hpp"
#include "servers/run_to_end.hpp"
#include "tasks/replay/left_out.hpp"
#include "tasks/replay/replay_work.hpp"

#include <boost/asio/awaitable.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace walrelay::tasks {

struct copy_wish {
    std::string stream;
    /// The stream's last row, after which it goes on; nothing where that is new.
    std::optional<position> after;
    std::uint64_t rows_planned = 0;
};

struct copy_outcome {
    std::uint64_t published = 0;
    /// Rows that cannot be messages there.
    left_out_rows left_out = {};
    std::uint64_t last_sequence = 0;
    /// Why it has ended before the end of the range.
    std::optional<error> broken_off = {};
};

/// Up to the end of the range, and until the stream was seen to have it. A broker that is away is
/// waited for; where PostgreSQL is lost it is broken off, and the same command goes on. Errors: it
/// has not begun.
[[nodiscard]] boost::asio::awaitable<result<copy_outcome>> copy_to_stream(
    servers::executors on, const config::settings& settings, postgres::connection& sql,
    postgres::kept_replay of, copy_wish wanted, tell_progress tell);

}  // namespace walrelay::tasks
