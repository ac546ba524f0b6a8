// The newest rows of an outbox table, cheaply: through an index where there is one, else from the
// last pages of the table. Judges nothing.
#pragma once

#include "core/change.hpp"
#include "core/error.hpp"
#include "core/lsn.hpp"
#include "core/outbox_table.hpp"
#include "postgres/session/connection.hpp"
#include "postgres/session/row_set.hpp"

#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace walrelay::postgres {

struct newest_rows_request {
    table_name table;
    /// What is wanted of each row.
    std::vector<std::string> columns;
    /// A column of a timestamp type; empty where there is none.
    std::string created_at = {};
    /// Rows that were made just before and just after it are wanted, too.
    wall_time around = {};
    /// SQL: only rows for which it is true are wanted. Empty for all.
    std::string is_later = {};
    /// Only rows are wanted that were made since: what a relay that runs asks for again and again,
    /// so that some dozens of pages are read at most.
    std::optional<wall_time> since = {};
};

struct newest_row {
    std::vector<cell> values;
    /// 1970 where the table does not say it.
    wall_time created_at;
};

struct newest_rows {
    std::vector<newest_row> rows;
    /// All that are wanted are among them; else that there are none says nothing.
    bool is_whole = false;
    /// The server ended the reading, and there are none.
    bool took_too_long = false;
};

/// At most some ten thousand; none where the table is large and has neither such an index nor,
/// before PostgreSQL 14, a way to its last pages. Within 3 s for a statement and half a second for
/// a lock, in a transaction of its own on a connection of connection_kind::sql. Errors: also those
/// of a role that may not read the table, or from which row-level security can hide rows.
[[nodiscard]] boost::asio::awaitable<result<newest_rows>> read_newest_rows(
    connection& sql, newest_rows_request request);

/// A moment that rows can be later than.
struct tables_moment {
    /// As PostgreSQL writes it, and the first number of no transaction yet.
    std::string snapshot;
    std::uint64_t next = 0;
    lsn inserted;
    wall_time now;
    /// Rows inserted so far, also by transactions that were rolled back, as far as the statistics
    /// know it: of each table with its partitions. Counted from 0 again after a crash, and not at
    /// all where the server counts nothing (track_counts).
    std::vector<std::int64_t> rows_inserted;
    bool counts = true;
};
/// Not on a standby.
[[nodiscard]] boost::asio::awaitable<result<tables_moment>> read_tables_moment(
    connection& sql, std::vector<table_name> tables);

struct wal_moment {
    /// Everything that can be seen now was committed before it: the end of the last record.
    lsn inserted;
    lsn flushed;
    wall_time now;
};
[[nodiscard]] boost::asio::awaitable<result<wal_moment>> read_wal_moment(connection& sql);

}  // namespace walrelay::postgres
