// Dead letters without content: the row was above delivery.max_row_bytes. Its content is read from
// its table, where the row still is, once it may be so large.
#pragma once

#include "config/settings.hpp"
#include "core/error.hpp"
#include "postgres/session/connection.hpp"
#include "postgres/tables/dead_letter_desk.hpp"
#include "servers/run_to_end.hpp"

#include <boost/asio/awaitable.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace walrelay::tasks {

struct empty_letter {
    std::int64_t id = 0;
    /// Why it has no content still, and what leads out.
    std::string why = {};
    std::string fix = {};
};

/// Gives letters their rows as these are now, before a retry. Returns those that stay without
/// content, by id. `sql` reads and writes letters; rows are read with a connection of its own,
/// which is made only where there is such a letter. Errors: of `sql`; that the tables cannot be
/// read.
[[nodiscard]] boost::asio::awaitable<result<std::vector<empty_letter>>> read_contents(
    servers::executors on, const config::settings& settings, postgres::connection& sql,
    postgres::dead_letter_selection which);

}  // namespace walrelay::tasks
