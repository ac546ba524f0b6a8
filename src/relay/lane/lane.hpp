// What the two lanes to a stream have in common: the window of messages. Pure.
//
// Messages enter in commit order and stay in memory until they are stored; the window bounds them
// in number and in bytes. How they are sent, and what a reply means, is the business of
// relay/fenced_lane (walrelay is the stream's only writer) and relay/parallel_lane (it is not).
//
//     admitted -> sent -> stored (contiguous prefix) -> forgotten
//        ^---------- open (new epoch) ----------'
#pragma once

#include "core/facts.hpp"
#include "core/instant.hpp"
#include "core/lineage.hpp"
#include "core/message.hpp"
#include "core/position.hpp"
#include "core/witness.hpp"
#include "relay/lane/ack_memory.hpp"
#include "relay/lane/claimed_tail.hpp"
#include "relay/lane/message_window.hpp"
#include "relay/lane/publish_outcome.hpp"
#include "relay/lane/stored_rows.hpp"
#include "relay/lane/stream_end.hpp"
#include "relay/lane/stream_tail.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace walrelay::relay {

/// How many of the stream's last messages tell what it holds: as many as were in flight at once,
/// and as many of others among them; more, where that is little.
[[nodiscard]] constexpr std::uint64_t look_back_over(std::uint64_t window) {
    constexpr std::uint64_t least = 1024;
    return std::max(least, 2 * window);
}

struct lane_options {
    std::size_t window_messages = 4096;
    std::size_t window_bytes = std::size_t{32} << 20U;
    std::chrono::milliseconds ack_timeout{5000};
    bool sole_writer = true;
};

/// Identifies one publish: replies of an earlier connection carry an earlier epoch.
struct publish_token {
    std::uint64_t epoch = 0;
    std::uint64_t index = 0;
};

/// A message that is to be handed to the broker now. The view lives until the message is stored.
struct outgoing {
    publish_token token;
    /// What the stream must end with for the broker to take it; nothing if that does not matter.
    std::optional<std::uint64_t> expected_last_sequence;
    const message* content = nullptr;
};

/// What a reply means for the lane.
enum class lane_verdict {
    /// All is well, or the reply is of an earlier epoch.
    carry_on,
    /// The stream's tail must be read again: close, connect, open.
    resync,
    /// The broker refuses the message `refused_message()`. Nothing that must not pass it is sent
    /// before it is decided what becomes of it.
    message_refused,
    /// The stream has the id of `refused_message()` at `taken_at()`: that of its own earlier
    /// publish, or of another row. The same holds.
    id_is_taken,
    /// The stream must be changed by an operator.
    stream_unsuitable,
};

class lane {
public:
    /// The lane that the options ask for.
    [[nodiscard]] static std::unique_ptr<lane> make(const lane_options& options);

    lane(const lane&) = delete;
    lane& operator=(const lane&) = delete;
    lane(lane&&) = delete;
    lane& operator=(lane&&) = delete;
    virtual ~lane() = default;

    // The side of the source.

    /// The history whose positions the next messages have; the window is empty then. Where it goes
    /// on from the one before, what is known of both stays known; of another one nothing does,
    /// because positions of two histories cannot be compared. Only while closed, or at first.
    void set_history(const lineage& line);
    [[nodiscard]] const lineage& line() const { return line_; }
    /// Whether the stream or the window already has an event of this position.
    [[nodiscard]] bool covers(commit_position where) const {
        return (admitted_ && where <= *admitted_) || (claim() && where <= claim()->where.at);
    }
    /// The row of the stream's last message, as long as it is to be met. Rows up to it are covered,
    /// but not known to be stored.
    [[nodiscard]] const std::optional<tail_claim>& claim() const { return claimed_.row(); }
    /// The slot has sent that row.
    void claim_is_met();
    /// While there is a claim: what the stream's last messages show around that row.
    [[nodiscard]] const claimed_tail& claimed() const { return claimed_; }
    /// Another connection to the source begins, and streams from `slot_confirmed`: where that lies
    /// before the last message that is known to be stored, its row is to be met again. Returns
    /// whether there is a claim now.
    bool claim_again(lsn slot_confirmed);
    /// Rows are looked up one by one from now on; the window must be empty.
    void resume(std::shared_ptr<const stored_rows> rows);
    [[nodiscard]] bool is_resuming() const { return resuming_ != nullptr; }
    /// While resuming: whether the stream had it before.
    [[nodiscard]] bool has_stored(const message& content) const;
    /// The same of a message whose id is not known: whether it can have had it.
    [[nodiscard]] bool may_have_stored(const commit_position& where) const;
    /// Whether the stream has acked it to this lane, although not all before it.
    [[nodiscard]] bool has_acked(const message& content) const { return acks_.has(content); }
    /// While resuming: the stream's last message is the greatest again, so that the next relay may
    /// believe it.
    [[nodiscard]] bool has_resumed() const;
    void end_resuming(tail_belief how);
    /// Whether the window has a message of this position that is not known to be stored.
    [[nodiscard]] bool holds(const position& where) const;
    /// The same for one that the stream will never take: it is `refused_message()` now.
    void refuse(const position& where, std::uint64_t sequence);
    /// Whether the window takes another message. A message larger than the window goes alone.
    [[nodiscard]] bool has_room() const { return window_.has_room(); }
    /// An empty message to be filled, and then to be admitted or left (the next call gives it
    /// again).
    [[nodiscard]] message& vacancy() { return window_.vacancy(); }
    /// Where the row of that message may be kept.
    [[nodiscard]] kept_row& vacant_row() { return at(end()).row; }
    void admit();
    /// The same for the row of `vacancy()` that the stream had before.
    void admit_stored();
    /// An event that is settled without the stream takes its place in the order.
    void admit_settled(const position& where);
    /// The same for one that is to be settled so (a dead letter): until then no later message may
    /// reach the stream, whose tail would cover it.
    void admit_waiting(const position& where);
    /// These, in ascending order, are settled now, as far as they are still in the window.
    void settle_waiting(const std::vector<commit_position>& those);
    /// Empties the window: everything that is not known to be stored is read again from the source.
    /// Only while closed.
    void start_over();
    /// The same, and nothing is known any more of what the stream has: the next tail is undecided.
    void forget_proof();
    /// The stream lacks a row before its tail, or has one after it: no checkpoint, whoever wrote
    /// it. Everything is undecided until rows are compared.
    void distrust_tail();
    /// Where nothing is in flight, empties the window: another server need not have these rows, and
    /// the slot sends them again. Returns whether it is empty.
    bool drop_unsent();

    // The side of the broker.

    /// Whether the stream ends before what it had acked, or did before it took more.
    [[nodiscard]] bool has_forgotten(const stream_tail& tail) const;
    /// Whether somebody else has written among the messages that were looked at as if he were
    /// walrelay: their positions do not ascend after sequence `ordered_after`, stand back after
    /// what was the last one, or leave out some of what is in flight here. A later message can have
    /// passed an earlier one then.
    [[nodiscard]] bool is_mixed(const stream_facts& seen, std::uint64_t ordered_after) const;
    /// A connection is ready. `epoch` is greater than every earlier one. The tail is taken for
    /// what `how` says where its row is not one that this lane has sent itself.
    stream_memory open(std::uint64_t epoch, const stream_tail& tail,
                       tail_belief how = tail_belief::exact);
    /// Decides what the tail of the last `open` is taken for.
    void believe(tail_belief how);
    [[nodiscard]] tail_belief belief() const { return belief_; }
    [[nodiscard]] const stream_tail& opened_with() const { return opened_with_; }
    /// The message of this position is in the stream, as a look at it has shown.
    void settle_stored(const position& where);
    /// Whether what the broker remembers of ids is all that tells whose a duplicate is, so that
    /// this row has its message at that sequence unless that message shows that it is another's.
    [[nodiscard]] virtual bool knows_by_id(std::uint64_t sequence) const = 0;
    /// The same, of the row that was asked about, and goes on.
    void settle_asked(const position& where);
    void close();
    /// How many of the stream's last messages must be known for the next `open`; 0 if the last one
    /// is enough.
    [[nodiscard]] std::uint64_t wanted_look_back() const;
    /// Others may have written meanwhile.
    void expect_others() { look_back_ = true; }
    /// The slot was in other hands for a moment, so others may have written since the tail was
    /// read: before much is sent again, the tail must be proved to be the latest.
    virtual void prove_again() {}
    /// What is admitted now can follow in another order, or with other positions, than what was
    /// sent before and can still be on its way, of this process or of one that was killed. Its
    /// messages go alone until none of those can fit after the stream's last one.
    virtual void outlast_stragglers() {}
    [[nodiscard]] bool is_open() const { return epoch_open_; }
    /// The next message to hand to the broker, if there is one.
    [[nodiscard]] virtual std::optional<outgoing> next_to_send(monotonic_time now) = 0;
    [[nodiscard]] lane_verdict on_reply(publish_token token, const publish_outcome& outcome,
                                        monotonic_time now);
    /// After the verdict message_refused or id_is_taken: sends that message again.
    void offer_again();
    /// The same, and it waits like one of `admit_waiting`: it is not sent any more.
    void set_refused_aside();
    /// The row of `refused_message()`, where it was kept.
    [[nodiscard]] const kept_row& refused_row() const { return at(refused_.index).row; }
    /// What the broker said of it.
    [[nodiscard]] const publish_outcome& refusal() const { return refused_.said; }
    /// The last event before it that is in the stream; nothing if none is known.
    [[nodiscard]] std::optional<commit_position> published_before_refused() const;
    /// When the oldest publish counts as lost. Nothing if none is in flight.
    [[nodiscard]] virtual std::optional<monotonic_time> ack_deadline() const = 0;

    // What is known.

    /// A publish that waits for its answer: its message, and when it was handed over; null if it is
    /// none.
    struct sent_message {
        const message* content = nullptr;
        monotonic_time at;
    };
    [[nodiscard]] sent_message sent(publish_token token) const {
        if (!in_flight(token)) {
            return {};
        }
        const auto& one = at(token.index);
        return {&one.content, one.sent_at};
    }
    /// The message at the head of the window, which is not known to be stored; null if there is
    /// none.
    [[nodiscard]] const message* oldest() const { return empty() ? nullptr : &at(first()).content; }
    /// When that one was handed over first, be it on an earlier connection; nothing if it never
    /// was, or is stored.
    [[nodiscard]] std::optional<monotonic_time> waiting_since() const {
        const bool waits = !empty() && at(first()).offered && !at(first()).stored;
        return waits ? std::optional(at(first()).offered_at) : std::nullopt;
    }
    /// Every event up to this one is stored or settled; nothing if that is not known for any, while
    /// the tail is a claim, or while it is not decided what it is taken for.
    [[nodiscard]] std::optional<commit_position> stored_up_to() const {
        return claim() || belief_ == tail_belief::undecided ? std::nullopt : stored_;
    }
    /// The last event that is in the window or known to be stored; nothing if there is none.
    [[nodiscard]] std::optional<commit_position> admitted() const { return admitted_; }
    /// The message that was admitted last; there must be one.
    [[nodiscard]] const message& newest() const { return at(end() - 1).content; }
    /// The highest sequence that the stream is known to have had.
    [[nodiscard]] std::uint64_t known_sequence() const { return end_of_stream_.sequence(); }
    /// The message of the highest sequence that is known to be in the stream, of a row.
    [[nodiscard]] const std::optional<stored_message>& newest_stored() const {
        return end_of_stream_.newest_stored();
    }
    /// Since the last `open`: the sequence of an ack that the stream had given to another message,
    /// whose ack had come before this one was sent; nothing if there was none.
    [[nodiscard]] const std::optional<std::uint64_t>& reused_sequence() const {
        return end_of_stream_.reused_sequence();
    }
    /// The stream's last message of walrelay's, as far as known, whatever its history.
    [[nodiscard]] const std::optional<position>& known_tail() const {
        return end_of_stream_.position_of_last();
    }
    /// The last ack that belonged to a publish of this lane.
    [[nodiscard]] monotonic_time last_ack_at() const { return last_ack_at_; }
    [[nodiscard]] bool empty() const { return window_.empty(); }
    [[nodiscard]] std::size_t size() const { return window_.size(); }
    /// Those that were sent on this connection and not acked.
    [[nodiscard]] std::size_t unacked_count() const;
    [[nodiscard]] std::size_t size_bytes() const { return window_.bytes(); }
    /// How many publishes may be in flight at the moment: less than the window after the broker
    /// said that they are too many.
    [[nodiscard]] std::size_t in_flight_limit() const { return in_flight_limit_; }
    /// How many messages the stream has taken since the start of the process.
    [[nodiscard]] std::uint64_t stored_count() const { return stored_count_; }
    /// The message of the last verdict message_refused or id_is_taken.
    [[nodiscard]] const message& refused_message() const { return at(refused_.index).content; }
    /// The sequence of the last verdict id_is_taken.
    [[nodiscard]] std::uint64_t taken_at() const { return refused_.said.sequence; }
    /// What the broker said with the last verdict other than carry_on.
    [[nodiscard]] const std::string& last_trouble() const { return last_trouble_; }

protected:
    using entry = window_entry;

    explicit lane(const lane_options& options);

    [[nodiscard]] entry& at(std::uint64_t index) { return window_.at(index); }
    [[nodiscard]] const entry& at(std::uint64_t index) const { return window_.at(index); }
    [[nodiscard]] const lane_options& options() const { return options_; }
    [[nodiscard]] std::uint64_t epoch() const { return epoch_; }
    [[nodiscard]] std::uint64_t first() const { return window_.first(); }
    [[nodiscard]] std::uint64_t end() const { return window_.end(); }
    /// Whether messages may be sent: it is open and known what the tail is taken for.
    [[nodiscard]] bool may_send() const { return epoch_open_ && belief_ != tail_belief::undecided; }
    /// Every event up to the tail's position is in the stream, and none beyond it.
    [[nodiscard]] bool tail_is_checkpoint() const {
        return belief_ == tail_belief::exact && !opened_with_.shared &&
               opened_with_.last_position && line_.shares(*opened_with_.last_position);
    }
    /// Whether it is to be asked whose a duplicate is. Rows that came after a promotion can have
    /// the ids of rows that were lost with it; and a row of a snapshot is sent because the stream
    /// has none of its id, whatever the broker remembers.
    [[nodiscard]] bool asks_whose(const message& content) const {
        return !line_.ancestors.empty() || is_of_a_snapshot(content.where.at);
    }
    /// Marks as sent and returns it.
    outgoing send(std::uint64_t index, std::optional<std::uint64_t> expected, monotonic_time now);
    void mark_stored(std::uint64_t index, const stored_message& as);
    /// The stream has it somewhere before its end.
    void settle_stored(std::uint64_t index);
    /// Drops the stored messages at the head of the window.
    void forget_stored();
    /// Everything up to here is in the stream: drops it from the window.
    void skip_up_to(commit_position where);
    lane_verdict has_lost_acked(std::uint64_t reused_sequence);
    /// What the broker said of this message is `refused` or, with the sequence, `id_is_taken`.
    lane_verdict refuse(std::uint64_t index, publish_outcome said);
    lane_verdict trouble(lane_verdict verdict, std::string words);

private:
    /// A reply is taken: the verdict of what was waiting for it.
    virtual lane_verdict on_taken() { return lane_verdict::carry_on; }
    virtual lane_verdict on_refused(std::uint64_t index, const publish_outcome& said) = 0;
    /// A reply that means something else while a message before it is refused.
    virtual bool is_passed_over(std::uint64_t /*index*/, const publish_outcome& /*outcome*/) {
        return false;
    }
    virtual void on_offered_again(std::uint64_t index) = 0;
    virtual void on_set_aside(std::uint64_t index) = 0;
    /// One that was asked about is in the stream.
    virtual void on_own_found(std::uint64_t index) = 0;
    /// The look at the stream has shown that it has one that was asked about before.
    virtual void on_met(std::uint64_t /*index*/) {}
    /// One that waited is settled now.
    virtual void on_settled(std::uint64_t /*index*/) {}
    virtual void on_open(const stream_tail& tail) = 0;
    virtual void on_belief() = 0;
    virtual void on_admitted(std::uint64_t index) = 0;
    virtual void on_emptied() = 0;
    virtual lane_verdict on_stored(std::uint64_t index, std::uint64_t sequence) = 0;
    virtual lane_verdict on_duplicate(std::uint64_t index, std::uint64_t sequence) = 0;

    [[nodiscard]] bool in_flight(publish_token token) const;
    lane_verdict take_reply(std::uint64_t index, const publish_outcome& outcome,
                            monotonic_time now);
    entry& take_in();
    void forget_first();
    void empty_window();
    /// Nothing of what was stored is there any more.
    void forget_stream();
    /// What was on its way comes to nothing.
    void forget_sent();
    void widen();
    void branch_off(lsn branch);
    [[nodiscard]] bool sent_itself(const position& where, std::string_view id) const;
    /// Whether a message of the window that was not acked is not among those of the stream, where
    /// `furthest` is the greatest position, although a later one of the window is.
    [[nodiscard]] bool passes_over_unacked(const position& furthest,
                                           const std::vector<placed_message>& placed) const;
    void take_checkpoint();

    lane_options options_;
    message_window window_;
    std::uint64_t epoch_ = 0;
    bool epoch_open_ = false;
    std::size_t in_flight_limit_;
    monotonic_time last_ack_at_;
    lineage line_;
    // What the stream's tail is taken for.
    stream_end end_of_stream_;
    stream_tail opened_with_;
    tail_belief belief_ = tail_belief::exact;
    claimed_tail claimed_;
    bool look_back_ = true;
    bool distrusted_ = false;
    std::shared_ptr<const stored_rows> resuming_;
    /// The stream's last message need not be of the greatest position.
    bool is_disordered_ = false;
    // What is known to be stored.
    /// The last row that this lane knows to be in the stream with everything before it.
    struct {
        std::optional<position> where;
        std::string id;  // empty where it is not known
    } proved_;
    std::optional<commit_position> admitted_;
    std::optional<commit_position> stored_;
    std::uint64_t stored_count_ = 0;
    ack_memory acks_;
    /// See refused_message.
    struct {
        std::uint64_t index = 0;
        publish_outcome said;
    } refused_;
    std::string last_trouble_;
};

}  // namespace walrelay::relay
