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
#include "tasks/replay/replay_work.hpp"

#include <boost/asio/awaitable.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace walrelay::tasks {

struct copy_wish {
    std::string stream;
    /// The stream's last row, after which it goes on; nothing where that is new.
    std::optional<position> after;
    std::uint64_t rows_planned = 0;
};

struct copy_outcome {
    std::uint64_t published = 0;
    /// Rows that cannot be messages there; the first few of them by name.
    std::uint64_t left_out = 0;
    std::vector<std::string> left_out_named = {};
    std::uint64_t last_sequence = 0;

    void leave_out(const position& where, const std::string& why) {
        constexpr std::size_t named_max = 10;
        ++left_out;
        if (left_out_named.size() < named_max) {
            left_out_named.push_back(to_string(where) + ": " + why);
        }
    }
};

/// Up to the end of the range. A broker that is away is waited for; where PostgreSQL is lost it
/// ends, and the same command goes on.
[[nodiscard]] boost::asio::awaitable<result<copy_outcome>> copy_to_stream(
    servers::executors on, const config::settings& settings, postgres::connection& sql,
    postgres::kept_replay of, copy_wish wanted, tell_progress tell);

}  // namespace walrelay::tasks
