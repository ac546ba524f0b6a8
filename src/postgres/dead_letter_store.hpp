// Keeps what cannot be delivered, in the table walrelay.dead_letter of the outbox's database.
//
// Through a connection of connection_kind::sql. The table is that of sql/dead_letter.sql.
#pragma once

#include "core/dead_letter.hpp"
#include "core/error.hpp"
#include "postgres/connection.hpp"

#include <boost/asio/awaitable.hpp>

#include <string>
#include <string_view>

namespace walrelay::postgres {

/// The text of sql/dead_letter.sql: one statement and comments.
[[nodiscard]] std::string_view dead_letter_table_sql();

/// What a role needs to relay, list, retry and drop dead letters.
[[nodiscard]] std::string dead_letter_grants_sql(std::string_view role);

/// Makes schema and table where they are missing. errc::postgres_unsuitable if the role may not.
[[nodiscard]] boost::asio::awaitable<result<void>> create_dead_letter_table(connection& sql);

/// Returns once the letter is committed and flushed; makes the table where it is missing. A letter
/// that is there already, by its position, is left as it is. errc::postgres_unsuitable, with the
/// SQL that mends it, if PostgreSQL would refuse it for ever; else what `connection::query` gives.
[[nodiscard]] boost::asio::awaitable<result<void>> store_dead_letter(connection& sql,
                                                                     const dead_letter& letter);

}  // namespace walrelay::postgres
