// The replays of a slot: walrelay.replay (sql/replay.sql), and the rows that each puts into
// walrelay.control for the relay to publish.
//
// Through a connection of connection_kind::sql whose schema walrelay can be trusted
// (own_tables.hpp). Errors of a refused statement: explain_use.
#pragma once

#include "core/change.hpp"
#include "core/error.hpp"
#include "core/lsn.hpp"
#include "core/outbox_table.hpp"
#include "core/position.hpp"
#include "postgres/session/connection.hpp"

#include <boost/asio/awaitable.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace walrelay::postgres {

enum class replay_state { running, done, cancelled };

[[nodiscard]] constexpr const char* to_string(replay_state state) {
    switch (state) {
        case replay_state::done:
            return "done";
        case replay_state::cancelled:
            return "cancelled";
        default:
            return "running";
    }
}

/// A row of walrelay.replay. What is asked for is kept as it was understood, so that it goes on as
/// it began whatever the configuration says by then.
struct kept_replay {
    std::int64_t number = 0;
    std::string slot = {};
    replay_state state = replay_state::running;
    /// Empty where it reads rows from their table.
    std::string kept_slot = {};
    /// Of these rows, which are those of `ids` when it begins; later see read_replay_ids.
    std::vector<std::string> ids = {};
    /// How many of them it has come to.
    std::uint64_t taken = 0;
    commit_position from = {};
    lsn until = {};
    std::optional<commit_position> last = {};
    std::optional<wall_time> since = {};
    std::optional<wall_time> before = {};
    /// `schema.table` of each; empty: all of the configuration.
    std::vector<table_name> tables = {};
    std::string subject = {};
    std::vector<std::string> aggregates = {};
    std::string to_subject = {};
    /// The row that was written last.
    std::optional<position> at = {};
    std::uint64_t rows_planned = 0;
    std::uint64_t rows_written = 0;
    /// The stream's last sequence before it began; nothing where it is not known.
    std::optional<std::uint64_t> stream_sequence = {};
    /// Of one that is done: so many of its rows were found in the stream and in the dead letters.
    std::optional<std::uint64_t> rows_stored = {};
    [[nodiscard]] bool reads_table() const { return kept_slot.empty(); }

    /// As PostgreSQL prints them in UTC.
    std::string started_at = {};
    std::string changed_at = {};
};

/// Makes walrelay.replay where it is missing, and sees to it that a relay on the slot gets what is
/// written. Errors: those of create_table and of check_slot_for_retries; postgres_unsuitable where
/// walrelay.control or walrelay.replay is one of an earlier version.
[[nodiscard]] boost::asio::awaitable<result<void>> prepare_replays(
    connection& sql, std::string slot, std::string publication, std::vector<table_name> outboxes);

/// Returns its number.
[[nodiscard]] boost::asio::awaitable<result<std::int64_t>> begin_replay(connection& sql,
                                                                        kept_replay wanted);
/// Those that run and the newest of the others, at most 100, oldest first; none where there is no
/// table.
[[nodiscard]] boost::asio::awaitable<result<std::vector<kept_replay>>> list_replays(
    connection& sql, std::string slot);
/// Nothing where the slot has no such replay.
[[nodiscard]] boost::asio::awaitable<result<std::optional<kept_replay>>> find_replay(
    connection& sql, std::string slot, std::int64_t number);
/// Sets its state where it is running. Returns whether it was.
[[nodiscard]] boost::asio::awaitable<result<bool>> end_replay(connection& sql, std::int64_t number,
                                                              replay_state how);

/// The next ids of a replay that reads a table, at most `count` after the first `taken`.
[[nodiscard]] boost::asio::awaitable<result<std::vector<std::string>>> read_replay_ids(
    connection& sql, std::int64_t number, std::uint64_t taken, std::uint64_t count);

/// One row on its way to the relay.
struct replay_row {
    /// Nothing of a row that was read from its table.
    std::optional<position> where = {};
    std::optional<wall_time> committed_at = {};
    table_name source = {};
    std::string event = {};  // relay/intake/row_json
};

/// Writes the rows in their order and notes the last one, or `of.taken`, as the replay's progress,
/// in one transaction. Returns whether the replay still runs: if not, nothing was written.
[[nodiscard]] boost::asio::awaitable<result<bool>> write_replay_batch(connection& sql,
                                                                      kept_replay of,
                                                                      std::vector<replay_row> rows);

}  // namespace walrelay::postgres
