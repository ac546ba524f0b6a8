// Reads what the catalog says of a table's columns besides their types. Judges nothing.
#pragma once

#include "core/column_hint.hpp"
#include "core/error.hpp"
#include "core/outbox_table.hpp"
#include "postgres/session/connection.hpp"

#include <boost/asio/awaitable.hpp>

#include <vector>

namespace walrelay::postgres {

/// In the order of the table's columns; none where there is no such table. Through a connection of
/// connection_kind::sql; needs no right besides CONNECT.
[[nodiscard]] boost::asio::awaitable<result<std::vector<column_hint>>> read_column_hints(
    connection& sql, table_name table);

}  // namespace walrelay::postgres
