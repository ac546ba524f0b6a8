// From a replication frame to a message in the lane. Pure.
//
// Keeps position and order: knows the transaction that is being read, and gives each change to the
// source of events that it belongs to. Knows nothing of connections.
#pragma once

#include "core/error.hpp"
#include "core/instant.hpp"
#include "core/position.hpp"
#include "outbox/table_mapper.hpp"
#include "relay/intake/event_placer.hpp"
#include "relay/intake/insert_source.hpp"
#include "relay/intake/open_transaction.hpp"
#include "relay/intake/snapshot_source.hpp"
#include "relay/intake/table_doubts.hpp"
#include "relay/intake/tableless_source.hpp"
#include "relay/intake/update_source.hpp"
#include "wal/change_reader.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace walrelay::relay {

class intake {
public:
    /// `mappers` in the order of the configuration's tables.
    intake(std::vector<outbox::table_mapper> mappers, intake_options options);
    // Its parts refer to each other.
    intake(const intake&) = delete;
    intake& operator=(const intake&) = delete;
    ~intake() = default;

    /// The server has another history than before: positions that were remembered say nothing.
    void begin_history() { events_.fates().begin_history(); }
    /// A new replication connection begins to stream. Returns the tables that were asked for and
    /// that the fresh catalog does not know as ours: their rows are left alone from now on. Each is
    /// returned once.
    std::vector<table_name> begin_stream(history origin, table_catalog catalog,
                                         output_plugin plugin);

    /// The rows that were there before a slot that begins at `consistent_point` come first. Their
    /// positions are those of core/position's before_slot.
    void begin_snapshot(history origin, table_catalog catalog, lsn consistent_point,
                        wall_time taken_at);

    /// Returns whether less is taken than before: what was read may be too large now.
    bool set_limits(size_limits limits) { return events_.set_limits(limits); }

    /// The broker will never take the message of this position: when its row is read again, it
    /// becomes a dead letter.
    void condemn(commit_position where, condemnation reason) {
        events_.fates().condemn(where, std::move(reason));
    }
    /// The same for a row of a snapshot, which has another position each time.
    void condemn_row(const std::string& message_id, condemnation reason) {
        events_.fates().condemn_row(message_id, std::move(reason));
    }
    /// The rows of these positions are dead letters already, and stay so when they are read again,
    /// also where they could be delivered by now: an operator has them in his hands.
    void keep_dead(std::vector<commit_position> letters) {
        events_.fates().keep_dead(std::move(letters));
    }
    /// The stream has the row of this position, whatever its last messages say: it is not sent
    /// again, as the answer to that would be the same.
    void keep_stored(commit_position where) { events_.fates().keep_stored(where); }
    /// See row_fates.
    void stay_dead(const dead_letters& asked) { events_.fates().stay_dead(asked); }
    void forget_stored() { events_.fates().forget_stored(); }
    /// The dead letter of a message that was read, and that the broker refuses: of the row that was
    /// kept of it. `before` as of ledger::set_aside.
    [[nodiscard]] dead_letter set_aside(const message& refused, const kept_row& row,
                                        const condemnation& reason,
                                        std::optional<commit_position> before);

    /// Reads one frame; at most one message enters the lane, which must have room.
    /// Errors: those of wal (stop), table_unknown (connect again, with a fresh catalog), and
    /// without dead letters row_unmappable, message_too_large and message_refused (this message);
    /// tail_not_met where the slot does not send the row of the stream's last message.
    /// `owner` lets go of a large frame before its row becomes a message, where that needs no more
    /// of it; null for none.
    [[nodiscard]] result<frame_read> read(std::string_view frame, lane& into,
                                          frame_owner* owner = nullptr);

    /// After is_of_unknown_table.
    [[nodiscard]] const table_name& unknown_table() const { return tables_.unknown_table(); }
    /// That table is none of ours: reads its frame once more, as `read`.
    [[nodiscard]] result<frame_read> settle_unknown(bool exists, lane& into);
    /// It may be one of ours: the error with which a fresh catalog is fetched.
    [[nodiscard]] error reread_for(const table_name& table) { return tables_.reread_for(table); }

    /// Takes one row of the snapshot, of the table `mapper` of the configuration; for the rest as
    /// `read`.
    [[nodiscard]] result<frame_read> read_row(std::size_t mapper, const row_insert& row,
                                              lane& into);
    /// The same for a row that the stream has: it is only awaited for its write-back.
    [[nodiscard]] frame_read read_published_row(std::size_t mapper, const row_insert& row,
                                                lane& into);
    /// Takes the row for which `incomplete` asked, nothing where it is no longer in its table: it
    /// becomes a dead letter then. For the rest as `read`.
    [[nodiscard]] result<frame_read> complete(std::optional<table_row> fetched, lane& into);

    /// The snapshot has no more rows; `ended` of the result is set.
    [[nodiscard]] frame_read end_snapshot(lsn consistent_point);

    /// Of the configuration.
    [[nodiscard]] const table_name& table_at(std::size_t index) const {
        return events_.mappers()[index].table();
    }
    /// Events that were read, by table of the configuration.
    [[nodiscard]] const std::vector<received_events>& received() const {
        return events_.received();
    }
    /// Those of them that the stream or the window had already.
    [[nodiscard]] std::uint64_t already_stored() const { return events_.already_stored(); }
    [[nodiscard]] bool in_transaction() const { return transaction_.has_value(); }
    /// Only in a transaction.
    [[nodiscard]] lsn open_commit() const { return transaction_->begin.commit; }
    [[nodiscard]] std::optional<transaction_id> open_xid() const { return transaction_->begin.xid; }

private:
    void begin(history origin, table_catalog catalog, bool with_snapshot);
    result<frame_read> take(const wal::xlog_data& data, lane& into, frame_owner* owner);
    result<void> take_change(const change& decoded, const reading& now);

    intake_options options_;
    event_placer events_;
    table_doubts tables_;
    // One for each source of events.
    insert_source rows_;
    update_source updates_;
    tableless_source messages_;
    snapshot_source snapshot_;
    std::optional<wal::change_reader> frames_;  // of the connection
    std::optional<open_transaction> transaction_;
    std::optional<std::string> held_frame_;  // with the row of the unknown table
    std::uint64_t next_fetched_revision_;
};

}  // namespace walrelay::relay
