// The rows of an outbox table that are to be published again as they are now, found by their ids.
#pragma once

#include "core/error.hpp"
#include "core/outbox_table.hpp"
#include "postgres/catalog/table_scope.hpp"
#include "postgres/session/connection.hpp"
#include "postgres/session/row_set.hpp"

#include <boost/asio/awaitable.hpp>

#include <string>
#include <vector>

namespace walrelay::postgres {

struct replay_table {
    table_name table = {};
    std::string id_column = {};
    /// Before the id; empty where the table has no such column.
    std::string time_column = {};
    std::vector<std::string> columns = {};
    /// As of table_scope.
    bool partitioned = false;

    [[nodiscard]] table_scope scope() const { return {table, partitioned}; }
};

/// The ids of the rows for which the SQL condition holds, in the order of their times, then ids, as
/// text. Errors: configuration_invalid where PostgreSQL cannot read the condition; else those of
/// `connection::query`.
[[nodiscard]] boost::asio::awaitable<result<std::vector<std::string>>> ids_of_rows(
    connection& sql, replay_table of, std::string condition);

/// The rows of these ids in the order of the ids; those that there are. configuration_invalid where
/// an id is none.
[[nodiscard]] boost::asio::awaitable<result<row_set>> rows_of_ids(connection& sql, replay_table of,
                                                                  std::vector<std::string> ids);

}  // namespace walrelay::postgres
