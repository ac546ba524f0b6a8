// The rows of the outbox tables as of one moment, read in pieces through a cursor; and what says
// how far the slot has come. Judges nothing.
#pragma once

#include "core/error.hpp"
#include "core/facts.hpp"
#include "core/lsn.hpp"
#include "core/outbox_table.hpp"
#include "core/waiting_slot.hpp"
#include "postgres/catalog/table_scope.hpp"
#include "postgres/session/connection.hpp"
#include "postgres/session/row_set.hpp"

#include <boost/asio/awaitable.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace walrelay::postgres {

struct snapshot_facts {
    /// Every row of the snapshot was committed before it.
    lsn end = {};
    /// In the order of the request.
    std::vector<table_facts> tables = {};
    std::vector<std::pair<type_oid, type_oid>> domains = {};
    /// As far as the server's statistics know.
    std::uint64_t expected_rows = 0;
};

/// Begins a read-only transaction that sees one moment, in which row-level security hides nothing
/// silently. `snapshot` is one that another connection has exported, or empty for a moment of its
/// own. All functions here take a connection of connection_kind::sql.
[[nodiscard]] boost::asio::awaitable<result<snapshot_facts>> begin_snapshot(
    connection& sql, std::vector<table_name> tables, std::string snapshot = {});

/// One reading of the rows of a table.
struct row_reading {
    table_scope from = {};
    std::vector<std::string> columns = {};
    /// An SQL condition, or empty for all rows.
    std::string where = {};
    /// Columns of the table.
    std::vector<std::string> order_by = {};
    /// Where it is an SQL condition, a last column says whether it is true of the row.
    std::string judged = {};
    /// The rows come in the same order each time they are read within the snapshot, whatever
    /// columns are read: a row can be named by its place. Costs a sort on the server.
    bool repeatable = false;
};

/// Errors: postgres_unsuitable with the GRANT that is missing.
[[nodiscard]] boost::asio::awaitable<result<void>> open_cursor(connection& sql, row_reading how);
/// The next rows of the table that was opened last; none at its end, which closes it.
[[nodiscard]] boost::asio::awaitable<result<row_set>> fetch_rows(connection& sql,
                                                                 std::size_t rows_max);
/// Passes over the next rows without fetching them.
[[nodiscard]] boost::asio::awaitable<result<void>> skip_rows(connection& sql, std::uint64_t rows);
/// Ends the reading of a table before its end.
[[nodiscard]] boost::asio::awaitable<result<void>> close_cursor(connection& sql);
[[nodiscard]] boost::asio::awaitable<result<void>> end_snapshot(connection& sql);

/// The slot, as far as it tells whether a row is still to come.
struct slot_progress {
    bool exists = false;
    /// It is not there, and everything that it had to send waits in a copy of it.
    std::optional<slot_wait> waits = {};
    bool active = false;
    /// Its WAL is gone.
    bool lost = false;
    lsn confirmed = {};
    /// pg_current_wal_flush_lsn(); 0 on a standby.
    lsn flushed = {};
};
[[nodiscard]] boost::asio::awaitable<result<slot_progress>> read_slot_progress(connection& sql,
                                                                               std::string slot);

struct dead_letter_id {
    table_name source = {};
    std::string message_id = {};  // empty where the row has none
};
/// Of the slot's own dead letters (letter_owner.hpp), at most `rows_max` after the row `after`,
/// which is moved; none at the end, and where there is no table of dead letters.
[[nodiscard]] boost::asio::awaitable<result<std::vector<dead_letter_id>>> read_dead_letters(
    connection& sql, std::string slot, std::string& after, std::size_t rows_max);

}  // namespace walrelay::postgres
