// Where an operator looks at dead letters, has them sent again and drops them.
//
// Through a connection of connection_kind::sql. Errors are those of `connection::query`, with the
// rights that are lacking named; the table must be there (has_table of own_tables.hpp).
#pragma once

#include "core/error.hpp"
#include "core/outbox_table.hpp"
#include "postgres/session/connection.hpp"
#include "postgres/session/row_set.hpp"

#include <boost/asio/awaitable.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace walrelay::postgres {

/// Those of these ids, or all, that were not dropped; of one table, or of any.
struct dead_letter_selection {
    bool all = false;
    std::vector<std::int64_t> ids = {};
    std::optional<table_name> table = {};
};

enum class dead_letter_form {
    /// Columns named for people.
    columns,
    /// One column with a JSON object in each row.
    json
};

/// The newest `limit`, oldest of them first, without their rows. `given_up`: of the rows that an
/// operator went on without (leave_out of dead_letter_store.hpp), in place of the letters.
[[nodiscard]] boost::asio::awaitable<result<row_set>> list_dead_letters(
    connection& sql, std::int64_t limit, std::optional<table_name> table, dead_letter_form form,
    bool given_up);

/// Whether the database has a table of this name, or a letter is of one.
[[nodiscard]] boost::asio::awaitable<result<bool>> knows_table(connection& sql, table_name table);

/// All of one letter; with `columns` apart from its headers and its row. No row if there is none.
[[nodiscard]] boost::asio::awaitable<result<row_set>> find_dead_letter(connection& sql,
                                                                       std::int64_t id,
                                                                       dead_letter_form form);

/// Name and value of each header.
[[nodiscard]] boost::asio::awaitable<result<row_set>> headers_of_dead_letter(connection& sql,
                                                                             std::int64_t id);

/// Name, type and value of each column of the row.
[[nodiscard]] boost::asio::awaitable<result<row_set>> columns_of_dead_letter(connection& sql,
                                                                             std::int64_t id);

/// Writes the row of each letter through walrelay.control into the WAL, for the relay of the slot
/// to publish, and counts the retry, in one transaction. `all` are those that were never retried: a
/// retry that fails makes a dead letter of its own. Gives id and occasion of each, by id.
[[nodiscard]] boost::asio::awaitable<result<row_set>> retry_dead_letters(
    connection& sql, dead_letter_selection which);

/// Takes the content out of each and hides it; what is left keeps its row from being missed, and
/// from being offered again. Gives the ids.
[[nodiscard]] boost::asio::awaitable<result<row_set>> drop_dead_letters(
    connection& sql, dead_letter_selection which);

/// Sees to it that a retry reaches a relay on this slot, and makes walrelay.control where it is
/// missing. errc::postgres_unsuitable if it may not, if the slot is missing, or if with pgoutput
/// the publication does not contain that table.
[[nodiscard]] boost::asio::awaitable<result<void>> check_slot_for_retries(connection& sql,
                                                                          std::string slot,
                                                                          std::string publication);

}  // namespace walrelay::postgres
