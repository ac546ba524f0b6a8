// Which rows of the tables the stream lacks: rows of a snapshot against the messages' ids.
//
// Where a slot was lost, the rows are those after walrelay.slot_start. Only what limits have
// removed from the stream's beginning, and what that table does not tell, is judged by the order of
// rows.
#pragma once

#include "audit/missing_rows.hpp"
#include "config/settings.hpp"
#include "core/change.hpp"
#include "core/error.hpp"
#include "core/facts.hpp"
#include "core/lineage.hpp"
#include "outbox/message_id_reader.hpp"
#include "outbox/reading_order.hpp"
#include "postgres/session/connection.hpp"
#include "postgres/tables/outbox_snapshot.hpp"
#include "postgres/tables/slot_start.hpp"
#include "postgres/tables/witness_store.hpp"
#include "preflight/preflight.hpp"
#include "servers/run_to_end.hpp"
#include "tasks/backfill/slot_rest.hpp"

#include <boost/asio/awaitable.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace walrelay::tasks {

/// How the rows of one table are read: in the same order each time, within one snapshot, so that
/// one reading finds by its place what another one has judged.
struct table_reading {
    postgres::table_scope from;
    outbox::message_id_reader ids;
    outbox::reading_order order;
    relation description;
    std::vector<std::string> columns;
    /// SQL, or empty for all rows.
    std::string condition;
    /// SQL that tells whether a row is still to be written back; empty where all of them are.
    std::string pending;
    /// Rows that were published may not have been written back.
    bool also_published = false;

    /// Of these columns of each row.
    [[nodiscard]] postgres::row_reading of(std::vector<std::string> which) const {
        postgres::row_reading how{from, std::move(which), condition, order.columns};
        how.repeatable = true;
        return how;
    }
};

class missing_search : public std::enable_shared_from_this<missing_search> {
public:
    missing_search(servers::executors on, const config::settings& settings,
                   preflight::backfill_reason reason);

    /// It is told which rows were met. To be called before `run`; null for nobody.
    void tell_of_rows(std::shared_ptr<slot_rest> whom) { rest_ = std::move(whom); }
    /// `sql` is within the snapshot. Errors: of either server, temporary_file, and
    /// postgres_unsuitable where it cannot be told which rows are missing. `line` is that of the
    /// server: a message of a branch that it has left stands for none of its rows.
    [[nodiscard]] boost::asio::awaitable<result<void>> run(postgres::connection& sql,
                                                           const postgres::snapshot_facts& snapshot,
                                                           lineage line);
    /// Ends the reading of the stream. For another thread than that of `run`, too.
    void give_up() { given_up_ = true; }

    // Afterwards.

    /// In the order of the configuration.
    [[nodiscard]] std::vector<table_reading>& readings() { return readings_; }
    [[nodiscard]] const audit::missing_rows& rows() const { return *missing_; }
    [[nodiscard]] std::uint64_t row_count() const;
    /// Of walrelay's last messages in the stream, which a relay looks at, the one whose row would
    /// come last; nothing where their order means nothing (sole_writer = false). Those of before
    /// can be of a history that was restored since.
    struct last_message {
        commit_position at;
        std::uint64_t sequence = 0;
    };
    [[nodiscard]] const std::optional<last_message>& last() const { return last_; }
    /// The stream's last sequence when it was read.
    [[nodiscard]] std::uint64_t stream_sequence() const { return stream_sequence_; }
    /// walrelay.slot_start tells which rows come after the beginning of the slot that was lost.
    [[nodiscard]] bool knows_start() const { return start_.has_value(); }

private:
    template <class Value = void>
    using outcome = boost::asio::awaitable<result<Value>>;

    outcome<> read_start(postgres::connection& sql);
    outcome<> read_witness();
    outcome<> look_for_holes();
    [[nodiscard]] bool is_known(const commit_position& at) const;
    result<void> end_scan(std::uint64_t gone, std::uint64_t newly_gone);
    /// An error where the stream that was read is not the one that the witness names: what it lacks
    /// says nothing of what was stored.
    [[nodiscard]] result<void> require_same_stream(const stream_facts& facts,
                                                   asked_message asked) const;
    result<void> prepare(const postgres::snapshot_facts& snapshot);
    result<void> add_reading(std::size_t index, const postgres::snapshot_facts& snapshot);
    [[nodiscard]] std::string condition_of(std::size_t table) const;
    [[nodiscard]] bool may_lack_write_backs(std::size_t table) const;
    outcome<> read_ids(postgres::connection& sql, std::uint32_t table);
    result<void> add_ids(std::uint32_t table, const postgres::row_set& rows);
    result<void> scan_stream();
    outcome<> read_dead_letters(postgres::connection& sql);
    result<void> excuse_what_is_older();
    std::uint64_t excuse(std::uint32_t table, std::uint64_t removed);
    void was_met(std::string_view id);
    [[nodiscard]] bool is_held(std::uint32_t table) const;
    [[nodiscard]] bool has_status(std::uint32_t table) const;
    [[nodiscard]] bool heals() const { return reason_ == preflight::backfill_reason::slot_lost; }

    servers::executors on_;
    const config::settings& settings_;
    preflight::backfill_reason reason_;
    lineage line_;
    std::vector<table_reading> readings_;
    std::unique_ptr<audit::missing_rows> missing_;
    std::optional<postgres::slot_start> start_;
    std::optional<postgres::read_witness_row> known_;
    /// Newer ones have replaced messages: what the witness knows to be stored is not looked for in
    /// the stream, which need not have it any more.
    bool has_holes_ = false;
    /// Some of them were newer than what the witness knows.
    bool has_new_holes_ = false;
    /// What the rows are sorted by, of the row that was read last.
    std::optional<postgres::cell> last_time_;
    std::uint64_t stream_sequence_ = 0;
    std::optional<last_message> last_;
    /// From the stream's beginning.
    std::uint64_t removed_messages_ = 0;
    std::shared_ptr<slot_rest> rest_;
    /// Asked by the thread that reads the stream.
    std::atomic<bool> given_up_ = false;
};

}  // namespace walrelay::tasks
