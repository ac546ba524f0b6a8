// Where belief begins: whether the stream and the slot that are connected still have what was
// stored. Start, take-over, reconnect, resume and failover all go through the same states. Pure; a
// part of the relay machine, which gives every fact and obeys what is decided here.
//
//   unknown    one side is not connected; nothing is published or told to the slot
//     -> comparing   both are: the stream is asked for the message that the witness names, the
//                    witness is corrected where less is stored than it says, or the newest rows of
//                    the tables decide whether the slot was moved
//     -> refused     something is missing that the slot does not send again
//     -> proved      everything that the slot was told of is stored
//
// An earlier connection, process or history proves nothing: what it knew is in the witness or lost.
// How the stream's tail is matched with the slot's rows (a claim until its row is met) is decided
// by relay/machine/tail_trust and the window.
#pragma once

#include "core/error.hpp"
#include "core/facts.hpp"
#include "core/instant.hpp"
#include "core/lineage.hpp"
#include "core/log_entry.hpp"
#include "core/witness.hpp"
#include "relay/checkpoint/decision.hpp"
#include "relay/checkpoint/end_doubt.hpp"
#include "relay/checkpoint/evidence.hpp"
#include "relay/checkpoint/slot_place.hpp"
#include "relay/checkpoint/witness_keeper.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace walrelay::relay {

/// A slot that was taken, and what its database says.
struct slot_evidence {
    lsn stands_at = {};
    lineage line = {};
    /// Where the slot began, as far as that was kept.
    std::optional<lsn> began_at = {};
    /// The stream can have rows that it was never to bring.
    bool has_earlier_rows = true;
    witness_reading witness = {};
    /// The newest rows of the tables, of some at least, were read, and are looked for.
    bool newest_rows_known = false;
    /// The same of every table: then they tell whether the slot was moved past rows.
    bool newest_rows_whole = false;
    /// All of them were found, or are still to come from the slot.
    bool newest_rows_there = false;
    /// Why they were not read, where another connection may read them.
    std::optional<error> newest_rows_unread = {};
    /// Those of some table were not read in time.
    bool newest_rows_slow = false;
};

class checkpoint {
public:
    enum class state { unknown, comparing, proved, refused };

    checkpoint(std::string slot, std::string stream)
        : slot_(std::move(slot)), stream_(std::move(stream)) {}

    [[nodiscard]] state now_is() const { return state_; }

    // Facts.

    /// What the relay itself makes of a look at the stream.
    struct window_sight {
        /// It shows less than the window has seen acked.
        bool lacks_some = false;
        /// It is another stream of this name than before.
        bool made_again = false;
        /// What the witness names is being published again, and must be missing.
        bool fills_gap = false;
    };
    /// Whether a look at the stream is to be doubted, and nothing made of it but another look: it
    /// shows less than is known to be stored, by the window or by the witness. Asked before
    /// stream_seen.
    [[nodiscard]] bool doubts(const stream_facts& facts, window_sight window, monotonic_time now);
    void stream_seen(const stream_facts& facts, std::optional<disorder> late_rows);
    /// The stream that was seen has acked this one since: it ends no earlier.
    void message_stored(const stored_message& newest);
    void slot_taken(slot_evidence evidence);
    /// An operator has decided, of the halt that is being passed, to go on without what is missing.
    void go_on_without_missing() { decision_.make(); }
    /// That is done: what is missing from now on is another loss.
    void miss_again() { decision_.end(); }
    /// It holds for the slot that was taken last.
    [[nodiscard]] bool goes_on_without() const { return decision_.holds(); }
    /// Another consumer has held the slot since, for which it was to move it.
    void others_hold_slot() { stood_.at.reset(); }
    /// The connection to PostgreSQL is gone; `last` is the last row that is known of it.
    void slot_lost(std::optional<commit_position> last);
    /// The connection to the broker is gone: what the stream has is looked at again.
    void stream_lost();

    /// What the machine has to do next.
    struct step {
        enum class kind {
            /// Nothing; `now_is` says how it stands.
            none,
            /// Read the message of this sequence, for message_read.
            read_message,
            /// Look at the stream once more: a server that lags shows less than there is.
            look_again,
            /// The same, as another relay may have written to it unseen.
            read_tail,
            /// Connect to PostgreSQL once more: what decides could not be read for now.
            ask_tables_again,
            /// Rows are missing that the slot does not send.
            gap,
            /// An operator must decide, also where gaps are healed.
            halt
        } what = kind::none;
        std::uint64_t sequence = 0;
        std::optional<error> why = {};
        /// Something that an operator should know although all goes on.
        std::optional<log_entry> line = {};
    };
    /// To be called when both sides are connected, and after each answer. `ends` is the last
    /// position that the stream is known to have with all before it.
    [[nodiscard]] step judge(const std::optional<position>& ends, monotonic_time now);
    void message_read(const asked_message& found);
    [[nodiscard]] bool is_asking() const { return asking_.has_value(); }
    [[nodiscard]] bool is_asking_for(std::uint64_t sequence) const {
        return asking_ && asking_ == sequence;
    }
    /// The sequence whose message is wanted with the next look at the stream; 0 for none.
    [[nodiscard]] std::uint64_t wanted_sequence() const;
    /// The newest rows of the tables are all accounted for, or those that are not are left out.
    void newest_rows_are_there();
    /// Whether the place of the slot is in question until that is known.
    [[nodiscard]] bool is_slot_in_question() const { return slot_in_question_; }

    /// Rows may be published.
    [[nodiscard]] bool may_publish() const;
    /// Nor is any row read: an answer decides what it is.
    [[nodiscard]] bool is_waiting() const { return asking_ || keeper_.is_replacing(); }
    /// The slot may be told what is confirmed, as far as the witness names it. Nothing while the
    /// broker is away, not even what was acked before: what took the broker away may have taken the
    /// messages, and the slot is the last that has them.
    [[nodiscard]] bool may_tell() const;

    /// In this process, at any time.
    [[nodiscard]] bool was_proved() const { return was_proved_; }

    /// Where this process knows the slot to stand, and who may hold it.
    [[nodiscard]] slot_place& place() { return place_; }
    [[nodiscard]] const slot_place& place() const { return place_; }
    /// When the witness is written. An answer that ends a correction is followed by `judge`.
    [[nodiscard]] witness_keeper& keeper() { return keeper_; }
    [[nodiscard]] const witness_keeper& keeper() const { return keeper_; }
    /// The creation of the stream that was seen last.
    [[nodiscard]] wall_time stream_created() const;
    /// Whether the stream has all that the slot has been told of, if it ends with `ends` now, and
    /// with this sequence, and was not made again.
    [[nodiscard]] bool has_all_told(const std::optional<position>& ends,
                                    std::uint64_t last_sequence, bool made_again) const;
    /// Why nothing may be published into the stream, also from the tables: it is another one.
    [[nodiscard]] std::optional<error> refuses_stream() const;
    /// What the witness is to say once the slot begins anew at `place`, after its rows were read
    /// from the tables.
    void begin_anew(const std::optional<stored_message>& last, lsn place, history origin);

private:
    [[nodiscard]] seen_end end_of(const stream_evidence& seen) const;
    [[nodiscard]] end_doubt::missing missing_of_witness(const stream_evidence& seen) const;
    [[nodiscard]] step judge_stream_now(const std::optional<position>& ends, monotonic_time now);
    [[nodiscard]] step has_lost(stream_verdict what, const std::optional<position>& ends,
                                monotonic_time now);
    [[nodiscard]] step judge_slot(const std::optional<position>& ends);
    [[nodiscard]] bool are_read_again();
    [[nodiscard]] error rows_not_read() const;
    [[nodiscard]] step place_unproved() const;
    [[nodiscard]] bool stream_reaches(const std::optional<position>& ends, lsn place) const;
    /// Whether the slot has moved since this process had it, or saw it.
    [[nodiscard]] bool was_moved() const;
    [[nodiscard]] bool is_witness_told() const;
    [[nodiscard]] bool is_missed_by_witness(const stream_evidence& seen) const;
    [[nodiscard]] bool is_doubted(stream_verdict what, monotonic_time now);
    /// Whether another relay had the slot since this process had it.
    [[nodiscard]] bool others_had_it(const std::optional<position>& ends) const;
    [[nodiscard]] bool slot_sends_what_follows(const std::optional<position>& ends) const;
    [[nodiscard]] bool sends_all_from_its_beginning(const std::optional<position>& ends,
                                                    lsn stands_at) const;
    [[nodiscard]] witness as_seen() const;
    void prove();
    [[nodiscard]] step refuse(step::kind how, error why);

    std::string slot_;
    std::string stream_;
    state state_ = state::unknown;
    std::optional<stream_evidence> seen_;
    /// Of the last slot that was taken; it is had as long as `holds_slot_`.
    std::optional<slot_evidence> taken_;
    bool holds_slot_ = false;
    decision decision_;
    slot_place place_;
    witness_keeper keeper_;
    end_doubt doubt_;
    std::optional<std::uint64_t> asking_;
    bool slot_in_question_ = false;
    bool was_proved_ = false;
    /// The same, since the slot was taken last: what was known then was this relay's own.
    bool proved_with_slot_ = false;
    /// When the slot was lost last: the last row that was known, the server, and the version of the
    /// witness. Versions are compared on one timeline alone: a promotion can lose some.
    struct departure {
        std::optional<commit_position> row = {};
        history server = {};
        std::uint64_t version = 0;
    } left_;
    /// Where the slot stood or was told to stand when it was lost last.
    struct {
        std::optional<lsn> at = {};
        history of = {};
    } stood_;
    /// The place of the slot for which the stream was looked at once more.
    lsn looked_for_;
    /// How often the newest rows were asked for anew because they were not read in time.
    int slow_readings_ = 0;
};

}  // namespace walrelay::relay
