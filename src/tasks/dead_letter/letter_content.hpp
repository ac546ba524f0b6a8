// Dead letters without content: the row was above delivery.max_row_bytes, or not there any more
// when an UPDATE was to publish it again. Its content is read from its table, where the row is.
// That of a replay tells no row: another replay publishes it.
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
    /// Of the letter: why it never had any.
    std::string reason = {};
    /// Why it has no content still, and what leads out.
    std::string why = {};
    std::string fix = {};
};

/// What an operator is told of a letter that has no content, and what leads to it.
[[nodiscard]] std::string words_on_missing_content(const postgres::contentless_letter& letter);

/// Gives letters their rows as these are now, before a retry. Returns those that stay without
/// content, by id. `sql` reads and writes letters; rows are read with a connection of its own,
/// which is made only where there is such a letter. Errors: of `sql`; that the tables cannot be
/// read.
[[nodiscard]] boost::asio::awaitable<result<std::vector<empty_letter>>> read_contents(
    servers::executors on, const config::settings& settings, postgres::connection& sql,
    postgres::dead_letter_selection which);

}  // namespace walrelay::tasks
