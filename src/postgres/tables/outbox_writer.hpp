// Changes rows of outbox tables: their status after the ack, and when they become dead letters.
//
// Through a connection of its own, because a row that somebody has locked makes it wait. Where an
// UPDATE could count as one that publishes a row again, its transaction begins with a row in
// walrelay.control that marks it in the WAL as walrelay's own.
#pragma once

#include "core/dead_letter.hpp"
#include "core/error.hpp"
#include "core/outbox_table.hpp"
#include "core/position.hpp"
#include "postgres/session/connection.hpp"
#include "postgres/tables/dead_letter_store.hpp"
#include "postgres/tables/key_kinds.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace walrelay::postgres {

/// A row that is to be written back.
struct written_row {
    std::string key;
    /// Set where the row may have become a dead letter before: it is left alone then.
    std::optional<position> doubtful = {};
    /// Of the transaction that has written it, where that may not be visible yet.
    std::optional<transaction_id> xid = {};
};

/// One operation at a time. After an error other than postgres_unsuitable the connection is to be
/// given up.
class outbox_writer {
public:
    /// Values and functions in the configuration's fragments, and triggers, see the search_path of
    /// postgres/fragment_path. Commits wait for their flush. `outboxes` are all that are written,
    /// `slot` is the relay's, whose letters these are.
    [[nodiscard]] static boost::asio::awaitable<result<outbox_writer>> begin(
        connection sql, std::vector<table_name> outboxes, std::string slot);

    /// Runs outbox.on_published, or deletes, for the rows in one statement. `retried`: also those
    /// that are not pending. Errors: postgres_unsuitable where PostgreSQL would refuse it again,
    /// naming table and statement; else postgres_lost.
    [[nodiscard]] boost::asio::awaitable<result<void>> write_back(const outbox_table& table,
                                                                  std::vector<written_row> rows,
                                                                  bool retried);

    struct row_set_aside {
        const outbox_table* table = nullptr;
        const dead_letter* letter = nullptr;
    };
    /// As store_dead_letters, and in the same transaction outbox.on_dead_letter, where the table
    /// has it and the letter a key. Nothing is changed for a letter that is there already.
    [[nodiscard]] boost::asio::awaitable<result<void>> set_aside(std::vector<row_set_aside> rows);

    /// The same in three parts, for two sessions: code of others that an update of the outbox runs
    /// must not be where letters are kept. First which of them have no letter yet; then
    /// outbox.on_dead_letter of these; then the letters. What is cut short is done again: a row
    /// without a letter is sent again.
    [[nodiscard]] boost::asio::awaitable<result<std::vector<row_set_aside>>> without_letter(
        std::vector<row_set_aside> rows);
    [[nodiscard]] boost::asio::awaitable<result<void>> set_statuses(
        std::vector<row_set_aside> rows);
    [[nodiscard]] boost::asio::awaitable<result<void>> keep_letters(
        std::vector<row_set_aside> rows);

    struct fetched_row {
        row_set row;  // empty where there is none, or one that is too large
        std::uint64_t too_large_bytes = 0;
    };
    /// The row as it is now, with all its columns, unless it has more than `bytes_max`
    /// as text. Errors: postgres_unsuitable where the role may not read the table, with the grant;
    /// else as `connection::query`.
    [[nodiscard]] boost::asio::awaitable<result<fetched_row>> fetch(const outbox_table& table,
                                                                    written_row row,
                                                                    std::uint64_t bytes_max);

    /// The server's process that runs the statements.
    [[nodiscard]] int server_process() const { return sql_.server_process(); }
    void close() { sql_.close(); }

private:
    outbox_writer(connection&& sql, std::vector<table_name> outboxes,
                  std::vector<std::string> open_schemas)
        : sql_(std::move(sql)),
          outboxes_(std::move(outboxes)),
          open_schemas_(std::move(open_schemas)) {}

    /// Takes out those whose key is no value of the type: their rows are not there (any more).
    boost::asio::awaitable<result<void>> leave_unfitting(std::vector<written_row>& rows,
                                                         key_kind kind);
    boost::asio::awaitable<answer> change_rows(const outbox_table& table, key_kind kind,
                                               const std::vector<written_row>& rows, bool retried);
    boost::asio::awaitable<answer> find_row(const outbox_table& table, key_kind kind,
                                            const std::string& key, std::uint64_t bytes_max);
    /// Of a row that was not found, which can be too large.
    boost::asio::awaitable<result<fetched_row>> measure_row(const outbox_table& table,
                                                            key_kind kind, const std::string& key,
                                                            std::uint64_t bytes_max);
    enum class part : std::uint8_t { all, statuses, letters };
    boost::asio::awaitable<result<void>> store(const std::vector<row_set_aside>& rows, part what,
                                               bool only_fitting);
    boost::asio::awaitable<result<void>> store(std::vector<row_set_aside> rows, part what);
    boost::asio::awaitable<result<std::set<std::string>>> letters_among(
        const std::vector<std::string>& positions);
    [[nodiscard]] result<fetched_row> not_fetched(const server_report& report,
                                                  const outbox_table& table) const;
    boost::asio::awaitable<result<std::optional<dead_letter_status>>> status_of(
        const row_set_aside& row, bool only_fitting);
    boost::asio::awaitable<result<void>> leave_dead_letters(std::vector<written_row>& rows);
    [[nodiscard]] error explain_refusal(const server_report& report, const outbox_table& table,
                                        const std::string& statement) const;

    connection sql_;
    std::vector<table_name> outboxes_;
    std::string slot_;
    std::vector<std::string> open_schemas_;
    key_kinds key_kinds_;
};

}  // namespace walrelay::postgres
