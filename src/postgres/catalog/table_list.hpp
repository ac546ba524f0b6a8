// Lists the tables of a database with their columns, for somebody who looks for one. Judges
// nothing.
#pragma once

#include "core/change.hpp"
#include "core/error.hpp"
#include "core/outbox_table.hpp"
#include "postgres/session/connection.hpp"

#include <boost/asio/awaitable.hpp>

#include <vector>

namespace walrelay::postgres {

struct listed_table {
    table_name table = {};
    /// A domain by the type that it stands for.
    std::vector<column> columns = {};
};

/// Tables that rows are inserted into by their name: without the partitions, the server's own
/// tables and walrelay's. By schema and name. Needs no right besides CONNECT.
[[nodiscard]] boost::asio::awaitable<result<std::vector<listed_table>>> list_tables(
    connection& sql);

}  // namespace walrelay::postgres
