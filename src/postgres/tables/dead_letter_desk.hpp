// Where an operator looks at dead letters, has them sent again and drops them.
//
// Through a connection of connection_kind::sql. Errors are those of `connection::query`, with the
// rights that are lacking named; the table must be there (has_table of own_tables.hpp).
#pragma once

#include "core/change.hpp"
#include "core/error.hpp"
#include "core/outbox_table.hpp"
#include "postgres/session/connection.hpp"
#include "postgres/session/row_set.hpp"

#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace walrelay::postgres {

/// A retry of which nobody has seen yet that its message is stored.
struct queued_retry {
    std::int64_t letter = 0;
    std::int64_t count = 0;
    /// Its message comes after this one; 0 where that is not known.
    std::uint64_t after_sequence = 0;
    /// It became another dead letter.
    bool failed = false;
    /// It was said to be lost. Its message can come all the same, of a slot that was put back.
    bool lost = false;
    /// By the clock of the server.
    wall_time asked_at = {};
};

/// Those of these ids, or all, that were not dropped; of one table, or of any. All functions look
/// at the letters of one slot alone, and at those that have none (letter_owner.hpp); of the latter
/// `all` takes those that are certainly its own.
struct dead_letter_selection {
    bool all = false;
    std::vector<std::int64_t> ids = {};
    std::optional<table_name> table = {};
    /// Retries that the relay has read, so that no message comes of them any more; what became of
    /// them need not be noted.
    std::vector<queued_retry> read = {};
};

enum class dead_letter_form {
    /// Columns named for people.
    columns,
    /// One column with a JSON object in each row.
    json
};

enum class listed_letters {
    /// All that were not dropped.
    all,
    /// Those whose row is still to become a message.
    open,
    /// In place of the letters, the rows that an operator went on without (leave_out of
    /// dead_letter_store.hpp).
    given_up
};

/// The newest `limit`, oldest of them first, without their rows.
[[nodiscard]] boost::asio::awaitable<result<row_set>> list_dead_letters(
    connection& sql, std::string slot, std::int64_t limit, std::optional<table_name> table,
    dead_letter_form form, listed_letters which_state);

/// Whether the database has a table of this name, or a letter is of one.
[[nodiscard]] boost::asio::awaitable<result<bool>> knows_table(connection& sql, table_name table);

/// All of one letter; with `columns` apart from its headers and its row. No row if there is none.
[[nodiscard]] boost::asio::awaitable<result<row_set>> find_dead_letter(connection& sql,
                                                                       std::string slot,
                                                                       std::int64_t id,
                                                                       dead_letter_form form);

/// Name and value of each header.
[[nodiscard]] boost::asio::awaitable<result<row_set>> headers_of_dead_letter(connection& sql,
                                                                             std::int64_t id);

/// Name, type and value of each column of the row.
[[nodiscard]] boost::asio::awaitable<result<row_set>> columns_of_dead_letter(connection& sql,
                                                                             std::int64_t id);

/// Writes the row of each letter through walrelay.control into the WAL, for the relay of the slot
/// to publish, and notes the retry, in one transaction. `all` are those that were never retried, or
/// whose retry failed or was lost. One without content, and one of queued_letters, is passed over.
/// `sequence` is the stream's last one, where it is known. Gives id and occasion of each, by id.
[[nodiscard]] boost::asio::awaitable<result<row_set>> retry_dead_letters(
    connection& sql, std::string slot, std::optional<std::uint64_t> sequence,
    dead_letter_selection which);

/// The row was too large to be kept, or no longer there when its content was to be read.
struct contentless_letter {
    std::int64_t id = 0;
    table_name source = {};
    std::string message_id = {};  // empty where the row has none
    std::string reason = {};
};
/// Those that retry_dead_letters passes over, by id.
[[nodiscard]] boost::asio::awaitable<result<std::vector<contentless_letter>>>
letters_without_content(connection& sql, std::string slot, dead_letter_selection which);
/// Gives a letter that has none its row, in the form of dead_letter::event.
[[nodiscard]] boost::asio::awaitable<result<void>> fill_dead_letter(connection& sql,
                                                                    std::int64_t id,
                                                                    std::string event);

/// Those of which a retry is written that the relay may not have read: its message is still to
/// come, and cannot be taken back. By id.
[[nodiscard]] boost::asio::awaitable<result<std::vector<std::int64_t>>> queued_letters(
    connection& sql, std::string slot, dead_letter_selection which);

/// The oldest 10,000 of the slot, of those that were asked for no longer ago than `not_older`;
/// those that are lost come last.
[[nodiscard]] boost::asio::awaitable<result<std::vector<queued_retry>>> queued_retries(
    connection& sql, std::string slot, std::chrono::seconds not_older);

/// In the message id of a retry, after its last `;`.
[[nodiscard]] std::string occasion_of(const queued_retry& retry);

enum class retry_fate { stored, dead_letter, lost };
/// Notes it for those that have not been retried again since. Only one that is lost changes its
/// fate.
[[nodiscard]] boost::asio::awaitable<result<void>> settle_retries(connection& sql,
                                                                  std::vector<queued_retry> which,
                                                                  retry_fate fate);

/// Letters whose retry was lost, by id.
[[nodiscard]] boost::asio::awaitable<result<std::vector<std::int64_t>>> lost_retries(
    connection& sql, std::string slot);

/// Takes the content out of each and hides it; what is left keeps its row from being missed, and
/// from being offered again. One of queued_letters stays. Gives the ids.
[[nodiscard]] boost::asio::awaitable<result<row_set>> drop_dead_letters(
    connection& sql, std::string slot, dead_letter_selection which);

/// Makes of a table of an earlier version one that knows slots, where there is one and the role
/// may; else nothing.
[[nodiscard]] boost::asio::awaitable<void> upgrade_dead_letters(connection& sql,
                                                                std::vector<table_name> outboxes);

/// The same. errc::postgres_unsuitable where the role may not.
[[nodiscard]] boost::asio::awaitable<result<void>> complete_dead_letters(
    connection& sql, std::vector<table_name> outboxes);

/// Sees to it that a retry reaches a relay on this slot, and makes walrelay.control where it is
/// missing. errc::postgres_unsuitable if it may not, if the slot is missing, or if with pgoutput
/// the publication does not contain that table.
[[nodiscard]] boost::asio::awaitable<result<void>> check_slot_for_retries(connection& sql,
                                                                          std::string slot,
                                                                          std::string publication);

}  // namespace walrelay::postgres
