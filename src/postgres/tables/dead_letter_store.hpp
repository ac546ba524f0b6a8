// Keeps what cannot be delivered, in the table walrelay.dead_letter of the outbox's database.
//
// Through a connection of connection_kind::sql. The table is that of sql/dead_letter.sql.
#pragma once

#include "core/dead_letter.hpp"
#include "core/error.hpp"
#include "core/lsn.hpp"
#include "core/position.hpp"
#include "postgres/session/connection.hpp"

#include <boost/asio/awaitable.hpp>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace walrelay::postgres {

/// What is changed in the row of a dead letter, in the transaction that stores it.
struct dead_letter_status {
    table_name table;
    /// By which the row is found, and in which column.
    std::string key;
    std::string key_column = {};
    /// Makes the UPDATE from the names of three parameters: key, error (text), attempts (int).
    std::function<std::string(std::string_view key, std::string_view why,
                              std::string_view attempts)>
        make_update;
    /// The transaction is to be told from others (needs_mark).
    bool marked = false;
};

/// A letter, and what is changed in its row with it: both or none.
struct letter_to_store {
    const dead_letter* letter = nullptr;
    std::optional<dead_letter_status> status = {};
    /// Of the relay that sets it aside.
    std::string slot = {};
};

/// Returns once all of them are committed and flushed; makes the table where it is missing. Those
/// that PostgreSQL takes in one transaction go in one; else one by one, so that some can be stored
/// although there is an error. A letter of the slot that is there already, by its position, is left
/// as it is, and its row with it. One that comes of a retry is the letter that was retried again;
/// where that is gone, or was dropped meanwhile, a new one. An error text that is too long for its
/// column is shortened. A table of an earlier version, which this role may not change, gets the
/// letter without its slot. errc::postgres_unsuitable, with the SQL that fixes it, if PostgreSQL
/// would refuse it for ever; else what `connection::query` gives. `outboxes` as in own_tables.hpp,
/// in addition to the letters'.
[[nodiscard]] boost::asio::awaitable<result<void>> store_dead_letters(
    connection& sql, std::vector<letter_to_store> letters, std::vector<table_name> outboxes = {});

/// What `status` of each says, for letters that are to be stored in another session. Errors as of
/// store_dead_letters.
[[nodiscard]] boost::asio::awaitable<result<void>> set_statuses(
    connection& sql, std::vector<letter_to_store> letters);

struct row_left_out {
    table_name table;
    /// Empty where the row has none: then it is one of those of its table, whichever.
    std::string message_id;
    wall_time created_at;
};

/// Keeps rows that an operator went on without as letters that were dropped (sql/dead_letter.sql);
/// makes the table where it is missing. Errors as of store_dead_letters.
[[nodiscard]] boost::asio::awaitable<result<void>> leave_out(connection& sql, std::string slot,
                                                             std::vector<row_left_out> rows,
                                                             std::vector<table_name> outboxes);

/// The slot's own, of rows that it sends again where it has confirmed no more than `confirmed`, on
/// whichever timeline. None where there is no such table.
[[nodiscard]] boost::asio::awaitable<result<std::vector<position>>> dead_letters_after(
    connection& sql, lsn confirmed, std::string slot);

}  // namespace walrelay::postgres
