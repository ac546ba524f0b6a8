// From a replication frame to a message in the lane. Pure.
//
// Knows the transaction that is being read, gives every outbox event its position, drops what the
// stream already has, and asks the table's mapper for the message. Knows nothing of connections.
#pragma once

#include "core/error.hpp"
#include "core/instant.hpp"
#include "core/outbox_table.hpp"
#include "core/position.hpp"
#include "outbox/table_mapper.hpp"
#include "relay/confirm/write_backs.hpp"
#include "relay/intake/control_row.hpp"
#include "relay/intake/dead_letters.hpp"
#include "relay/intake/message_rows.hpp"
#include "relay/intake/republish.hpp"
#include "relay/intake/table_catalog.hpp"
#include "relay/intake/table_duties.hpp"
#include "relay/lane/lane.hpp"
#include "wal/decoder.hpp"
#include "wal/replication_frame.hpp"

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace walrelay::relay {

/// What the broker takes at most; both count headers and body together.
struct size_limits {
    std::uint64_t max_payload_bytes = 0;  // of the connection, 0 is not known
    std::int64_t max_message_bytes = -1;  // of the stream, -1 is unlimited
};

/// What a frame did.
struct frame_read {
    /// Set where the frame ended a transaction.
    struct transaction_end {
        std::optional<commit_position> last_event;
        /// No dead letter.
        std::optional<commit_position> last_published;
        lsn end;
    };
    std::optional<transaction_end> ended = {};
    std::optional<wal::keepalive> alive = {};
    /// The row cannot be delivered. Nothing behind it may reach the stream until this is stored.
    std::optional<dead_letter> dead = {};
    /// The event is in the lane, or the stream has it, and its row is to be written back.
    std::optional<awaited_row> awaited = {};
    /// The WAL does not hold the row whole. Nothing more is to be read until what is missing is
    /// fetched by the row's id.
    struct fetch_request {
        std::size_t table = 0;
        std::string key;
        std::optional<transaction_id> xid = {};
    };
    std::optional<fetch_request> incomplete = {};
    /// The stream's last messages leave out this row, which lies before the last of them.
    std::optional<std::string> left_out = {};
    /// The row is of a table (intake::unknown_table) that the catalog does not know and that cannot
    /// be an outbox's by its columns. Nothing more is to be read until PostgreSQL has said what it
    /// is (settle_unknown).
    bool is_of_unknown_table = false;
    /// For the log: what was left alone, and why.
    std::optional<std::string> remark = {};
    lsn received;
    /// Set within a transaction: how long after its commit the server sent this.
    std::optional<std::chrono::microseconds> age = {};
};

struct intake_options {
    /// Only for the size of headers.
    std::string stream;
    /// Rows that cannot be delivered become dead letters; otherwise they are errors.
    bool dead_letters = true;
    bool sole_writer = true;
    all_duties duties = {};
    std::string slot = {};
    /// A larger row becomes a dead letter without its content.
    std::uint64_t max_row_bytes = std::numeric_limits<std::uint64_t>::max();
};

class intake {
public:
    /// `mappers` in the order of the configuration's tables.
    intake(std::vector<outbox::table_mapper> mappers, intake_options options);

    /// The server has another history than before: positions that were remembered say nothing.
    void begin_history();
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
    bool set_limits(size_limits limits);

    /// The broker will never take the message of this position: when its row is read again, it
    /// becomes a dead letter.
    void condemn(commit_position where, condemnation reason);
    /// The rows of these positions are dead letters already, and stay so when they are read again,
    /// also where they could be delivered by now: an operator has them in his hands.
    void keep_dead(std::vector<commit_position> letters);
    /// The stream has the row of this position, whatever its last messages say: it is not sent
    /// again, as the answer to that would be the same.
    void keep_stored(commit_position where) { stored_.insert(where); }
    /// The dead letter of a message that was read, and that the broker refuses: of the row that was
    /// kept of it. `before` as of ledger::set_aside.
    [[nodiscard]] dead_letter set_aside(const message& refused, const kept_row& row,
                                        const condemnation& reason,
                                        std::optional<commit_position> before);
    /// The same as condemn for a row of a snapshot, which has another position each time.
    void condemn_row(const std::string& message_id, condemnation reason);

    /// Reads one frame; at most one message enters the lane, which must have room.
    /// Errors: those of wal (stop), table_unknown (connect again, with a fresh catalog), and
    /// without dead letters row_unmappable, message_too_large and message_refused (this message);
    /// tail_not_met where the slot does not send the row of the stream's last message.
    [[nodiscard]] result<frame_read> read(std::string_view frame, lane& into);

    /// After is_of_unknown_table.
    [[nodiscard]] const table_name& unknown_table() const { return unknown_table_; }
    /// That table is none of ours: reads its frame once more, as `read`.
    [[nodiscard]] result<frame_read> settle_unknown(bool exists, lane& into);
    /// It may be one of ours: the error with which a fresh catalog is fetched.
    [[nodiscard]] error reread_for(const table_name& table);

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
        return mappers_[index].table();
    }
    /// Events that were read, by table of the configuration.
    [[nodiscard]] const std::vector<std::uint64_t>& received() const { return received_; }
    /// Those of them that the stream or the window had already.
    [[nodiscard]] std::uint64_t already_stored() const { return already_stored_; }
    [[nodiscard]] bool in_transaction() const { return transaction_.has_value(); }
    /// Only in a transaction.
    [[nodiscard]] lsn open_commit() const { return transaction_->begin.commit; }

private:
    struct open_transaction {
        transaction_begin begin;
        /// Of the change that is being read; nothing before the first.
        std::optional<commit_position> at = {};
        std::optional<commit_position> last_event = {};
        std::optional<commit_position> last_published = {};
        /// Walrelay's own: its updates are write-backs, also those that move rows.
        bool own = false;

        /// The next change of the transaction is of the WAL record that begins at `row`.
        void stand_at(lsn row);
    };

    /// An outbox whose rows are logical messages.
    struct tableless {
        std::size_t mapper;
        message_rows rows;
    };

    void begin(history origin, table_catalog catalog);
    /// What the fresh catalog says of the tables that were asked for; as begin_stream.
    std::vector<table_name> settle_asked();
    result<frame_read> take(const wal::xlog_data& data, lane& into);
    result<void> take_change(const change& decoded, lane& into, frame_read& done);
    /// An event that the stream has.
    result<void> pass_over(commit_position here, std::size_t mapper, const row_insert& row,
                           std::string_view occasion, lane& into, frame_read& done);
    /// Where the stream's last message is still a claim: whether the slot has gone past its row.
    [[nodiscard]] error tail_not_met(const lane& into) const;
    [[nodiscard]] bool is_past_the_tail(const change& decoded, const lane& into) const;
    result<void> take(const row_insert& row, lane& into, frame_read& done);
    result<void> take(const row_update& row, lane& into, frame_read& done);
    result<void> take(const logical_message& said, lane& into, frame_read& done);
    result<void> take_control(const row_insert& row, lane& into, frame_read& done);
    result<void> take_retry(const control_row& said, lane& into, frame_read& done);
    result<void> take_row(tableless& from, const logical_message& said, lane& into,
                          frame_read& done);
    /// One outbox event of the open transaction, which the lane may have already.
    result<void> take_event(std::size_t mapper, const row_insert& row, std::string_view occasion,
                            lane& into, frame_read& done);
    result<void> place_event(commit_position here, std::size_t mapper, const row_insert& row,
                             std::string_view occasion, lane& into, frame_read& done);
    /// The lane's vacancy, with all that the open transaction says of the event there.
    message& vacancy_for(commit_position here, lane& into) const;
    void keep(std::size_t mapper, const row_insert& row, kept_row& into);
    void watch_updates();
    [[nodiscard]] bool is_whole(std::size_t mapper, const row_update& row) const;
    [[nodiscard]] bool is_moved_by_us(std::size_t mapper) const;
    result<void> set_incomplete_aside(std::size_t mapper, const row_insert& row,
                                      std::string_view occasion, lane& into, frame_read& done);
    result<void> fill(std::size_t mapper, const row_insert& row, std::string_view occasion,
                      message& out);
    /// The row with too_large_bytes, where it is.
    [[nodiscard]] row_insert with_size(row_insert row) const;
    /// `id` is empty where it is not known.
    [[nodiscard]] error row_too_large(std::string_view id, const position& where,
                                      std::uint64_t bytes) const;
    result<void> set_message_aside(tableless& from, const logical_message& said, const error& why,
                                   lane& into, frame_read& done);
    /// The dead letter tells of the row, but cannot be retried.
    result<void> set_aside_without_content(std::size_t mapper, const row_insert& row,
                                           const message& content, const error& why,
                                           frame_read& done);
    result<void> set_aside(std::size_t mapper, const row_insert& row, const message& content,
                           const error& why, frame_read& done);
    void await_write_back(std::size_t mapper, const row_insert& row, bool retried, bool reread,
                          frame_read& done);
    /// The change that is being read is an event: its position.
    commit_position place();
    [[nodiscard]] bool is_dead(commit_position where) const;
    [[nodiscard]] const condemnation* condemnation_of(const message& content) const;
    result<table_catalog::answer> whose(const relation& table, frame_read& done);
    /// Whether a table of these columns could be relayed as one of the outboxes.
    [[nodiscard]] bool resembles_an_outbox(const relation& table) const;
    /// Fails where the table may have been a partition of an outbox when the row was written.
    [[nodiscard]] result<void> check_past(const table_catalog::answer& found,
                                          const relation& table) const;
    result<void> check_size(const message& candidate) const;

    std::vector<outbox::table_mapper> mappers_;
    intake_options options_;
    std::map<std::string, tableless, std::less<>> tableless_;  // by prefix
    std::map<commit_position, condemnation> condemned_;
    /// Sorted; a transaction can have very many.
    std::vector<commit_position> dead_;
    std::set<commit_position> stored_;
    std::map<std::string, condemnation> condemned_rows_;
    std::uint64_t next_retry_revision_;
    history origin_;
    table_catalog catalog_;
    /// Names that a fresh catalog was fetched for. Without a bound: each takes a table that
    /// somebody made with the columns of an outbox, and costs a connection; a name that were
    /// forgotten would be asked for again, and a transaction with rows of more tables than are kept
    /// never end.
    std::set<table_name> asked_;
    std::set<table_name> told_;  // those of them that were none of ours
    table_name unknown_table_;
    std::optional<std::string> held_frame_;  // with the row of that table
    std::unique_ptr<wal::decoder> decoder_;
    /// Also for the rows of a snapshot, which count as one.
    std::optional<open_transaction> transaction_;
    /// By mapper: that of its last row.
    std::vector<std::shared_ptr<const relation>> described_;
    bool in_snapshot_ = false;
    output_plugin plugin_ = output_plugin::pgoutput;
    std::optional<unfinished_row> unfinished_;
    size_limits limits_;
    // The table of the last row, because rows of one table come in runs.
    std::uint64_t last_revision_ = 0;
    table_catalog::answer last_answer_;
    std::vector<std::uint64_t> received_;
    std::uint64_t already_stored_ = 0;
};

/// What a publish of this message puts on the wire as headers and body, in bytes; exact for the
/// headers that nats.c writes ("Name: value" CR LF each, behind "NATS/1.0" CR LF).
[[nodiscard]] std::uint64_t wire_bytes(const message& content, std::string_view stream);

}  // namespace walrelay::relay
