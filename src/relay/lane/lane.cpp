#include "relay/lane/lane.hpp"

#include "core/assert.hpp"
#include "relay/lane/fenced_lane.hpp"
#include "relay/lane/parallel_lane.hpp"

#include <algorithm>
#include <utility>

namespace walrelay::relay {
namespace {

// What a string of a free place in the window may keep: enough for the usual row, so little that a
// whole window of them stays within a few megabytes.
constexpr std::size_t kept_bytes = 1024;
// However often the broker complains, this many publishes are still sent at once.
constexpr std::size_t in_flight_limit_min = 16;
constexpr std::int32_t too_many_requests = 10167;

}  // namespace

std::unique_ptr<lane> lane::make(const lane_options& options) {
    if (options.sole_writer) {
        return std::make_unique<fenced_lane>(options);
    }
    return std::make_unique<parallel_lane>(options);
}

lane::lane(const lane_options& options)
    : options_(options),
      ring_(options.window_messages),
      in_flight_limit_(options.window_messages),
      acks_(options.window_messages) {
    WALRELAY_ASSERT(options.window_messages > 0);
}

// The side of the source.

bool lane::holds(const position& where) const {
    for (std::uint64_t index = first_; index != end_; ++index) {
        if (at(index).content.where == where) {
            return !at(index).stored;
        }
    }
    return false;
}

void lane::refuse(const position& where, std::uint64_t sequence) {
    for (std::uint64_t index = first_; index != end_; ++index) {
        if (at(index).content.where == where) {
            static_cast<void>(
                refuse(index, {outcome_class::duplicate, sequence, 0,
                               "the stream already has this Nats-Msg-Id at sequence " +
                                   std::to_string(sequence) + ", from another row"}));
        }
    }
}

bool lane::has_room() const {
    return empty() || (size() < ring_.size() && bytes_ < options_.window_bytes);
}

message& lane::vacancy() {
    WALRELAY_ASSERT(size() < ring_.size());
    message& free = at(end_).content;
    free.clear(kept_bytes);
    return free;
}

void lane::take_in(entry& added) {
    WALRELAY_ASSERT(!covers(added.content.where.at));
    WALRELAY_ASSERT(added.content.where.origin == line_.origin);
    added.sent = false;
    added.offered = false;
    added.stored = false;
    added.settled = false;
    added.in_stream = false;
    added.waiting = false;
    added.next_of_aggregate = 0;
    bytes_ += added.content.size_bytes();
    admitted_ = added.content.where.at;
    ++end_;
}

void lane::admit() {
    take_in(at(end_));
    on_admitted(end_ - 1);
}

void lane::admit_stored() {
    entry& added = at(end_);
    take_in(added);
    added.stored = true;
    added.settled = true;
    added.in_stream = true;
    forget_stored();
}

void lane::admit_settled(const position& where) {
    vacancy().where = where;
    entry& added = at(end_);
    take_in(added);
    added.stored = true;
    added.settled = true;
    forget_stored();
}

void lane::admit_waiting(const position& where) {
    // What could not be filled of this row is still there.
    const message& unfilled = at(end_).content;
    const auto committed_at = unfilled.where == where ? unfilled.committed_at : wall_time{};
    message& waiting = vacancy();
    waiting.where = where;
    waiting.committed_at = committed_at;
    entry& added = at(end_);
    take_in(added);
    added.waiting = true;
}

void lane::settle_waiting(const std::vector<commit_position>& those) {
    for (auto index = first_; index != end_; ++index) {
        entry& each = at(index);
        if (each.waiting && std::ranges::binary_search(those, each.content.where.at)) {
            each.waiting = false;
            each.stored = true;
            each.settled = true;
            on_settled(index);
        }
    }
    forget_stored();
}

void lane::start_over() {
    WALRELAY_ASSERT(!epoch_open_);
    empty_window();
    admitted_ = stored_;
}

void lane::forget_proof() {
    stored_.reset();
    proved_.reset();
    start_over();
    acks_.clear();
    believe(tail_belief::undecided);
}

bool lane::drop_unsent() {
    for (auto index = first_; index != end_; ++index) {
        if (at(index).sent && !at(index).stored) {
            return false;
        }
    }
    empty_window();
    admitted_ = stored_;
    return true;
}

void lane::empty_window() {
    for (; first_ != end_; ++first_) {
        const entry& leaving = at(first_);
        if (!options_.sole_writer && leaving.stored && (!leaving.settled || leaving.in_stream)) {
            acks_.keep(leaving.content);
        }
        at(first_).content.clear(kept_bytes);
        at(first_).row.clear(kept_bytes);
    }
    bytes_ = 0;
    on_emptied();
}

// The side of the broker.

bool lane::has_forgotten(const stream_tail& tail) const {
    if (reused_sequence_ || tail.last_sequence < known_sequence_ || tail.made_again) {
        return true;
    }
    // What is behind the last one that was acked is somebody else's, which `is_mixed` tells.
    if (is_disordered_ || tail_stands_back_ || tail.last_sequence > known_sequence_) {
        return false;
    }
    // Where others write, messages of later commits may come before those of earlier ones.
    return options_.sole_writer && !tail.shared && !tail_is_shared_ && tail.last_position &&
           tail_ && tail.last_position->origin == tail_->origin &&
           tail.last_position->at < tail_->at;
}

void lane::close() {
    epoch_open_ = false;
    // What was in flight may have been stored in part; and what was shown is to be judged again as
    // long as the tail's row is not met.
    look_back_ =
        look_back_ || claim_ || belief_ == tail_belief::undecided || (!empty() && at(first_).sent);
}

std::uint64_t lane::wanted_look_back() const {
    // What was in flight at once, and as many of others among them; more, where that is little.
    constexpr std::uint64_t least = 1024;
    return look_back_ && options_.sole_writer ? std::max<std::uint64_t>(least, 2 * ring_.size())
                                              : 0;
}

stream_memory lane::open(std::uint64_t epoch, const stream_tail& tail, tail_belief how) {
    WALRELAY_ASSERT(epoch > epoch_);
    const auto& checkpoint = tail.checkpoint();
    const bool is_known = checkpoint && options_.sole_writer && !is_disordered_ && !tail.mixed &&
                          !distrusted_ && line_.shares(*checkpoint) &&
                          sent_itself(*checkpoint, tail.checkpoint_id());
    const bool forgot = has_forgotten(tail);
    epoch_ = epoch;
    epoch_open_ = true;
    // After a stranger the next tail means nothing alone, either.
    look_back_ = tail_is_shared_ = tail.shared;
    known_sequence_ = tail.last_sequence;
    reused_sequence_.reset();
    note_newest(tail);
    if (forgot) {
        forget_stream();
    }
    if (tail.last_position) {
        tail_ = tail.last_position;
        tail_stands_back_ = tail.final_position && tail.final_position->at < tail_->at;
    }
    opened_with_ = tail;
    distrusted_ = distrusted_ || tail.mixed;
    opened_with_.mixed = distrusted_;
    // What the slot has still to send is no matter of the broker's.
    const auto open_claim =
        is_known || !options_.sole_writer ? std::exchange(claim_, std::nullopt) : std::nullopt;
    claim_.reset();
    belief_ = is_known ? tail_belief::exact : how;
    if (belief_ == tail_belief::undecided) {
        // The slot sends it again, and by then it is known what the stream has.
        empty_window();
        admitted_ = stored_;
    }
    forget_sent();
    on_open(tail);
    take_checkpoint();
    if (open_claim && !forgot) {
        claim_ = open_claim;
    }
    on_belief();
    return forgot ? stream_memory::forgot : stream_memory::kept;
}

void lane::forget_stream() {
    empty_window();
    acks_.clear();
    admitted_ = stored_ = std::nullopt;
    tail_.reset();
    proved_.reset();
}

void lane::forget_sent() {
    for (std::uint64_t index = first_; index != end_; ++index) {
        at(index).sent = false;
        // Beside others nothing is refused because of what is missing before it, so that an ack
        // holds.
        at(index).stored = at(index).settled || (at(index).stored && !options_.sole_writer);
    }
}

void lane::settle_stored(const position& where) {
    for (std::uint64_t index = first_; index != end_; ++index) {
        if (at(index).content.where == where) {
            settle_stored(index);
            break;
        }
    }
    on_belief();
}

void lane::settle_stored(std::uint64_t index) {
    at(index).stored = true;
    at(index).settled = true;
    at(index).in_stream = true;
    forget_stored();
}

outgoing lane::send(std::uint64_t index, std::optional<std::uint64_t> expected,
                    monotonic_time now) {
    entry& sending = at(index);
    sending.sent = true;
    sending.sent_at = now;
    sending.offered_at = std::exchange(sending.offered, true) ? sending.offered_at : now;
    sending.behind_sequence = expected.value_or(known_sequence_);
    return {{epoch_, index}, expected, &sending.content};
}

bool lane::in_flight(publish_token token) const {
    return epoch_open_ && token.epoch == epoch_ && token.index >= first_ && token.index < end_ &&
           at(token.index).sent && !at(token.index).stored;
}

lane_verdict lane::on_reply(publish_token token, const publish_outcome& outcome,
                            monotonic_time now) {
    if (!in_flight(token)) {
        return lane_verdict::carry_on;
    }
    const auto verdict = take_reply(token.index, outcome, now);
    return verdict == lane_verdict::carry_on ? on_taken() : verdict;
}

lane_verdict lane::take_reply(std::uint64_t index, const publish_outcome& outcome,
                              monotonic_time now) {
    if (is_passed_over(index, outcome)) {
        at(index).sent = false;
        return lane_verdict::carry_on;
    }
    switch (outcome.kind) {
        case outcome_class::stored:
            last_ack_at_ = now;
            widen();
            return on_stored(index, outcome.sequence);
        case outcome_class::duplicate:
            last_ack_at_ = now;
            return on_duplicate(index, outcome.sequence);
        case outcome_class::transient:
        case outcome_class::doubt:
            if (outcome.error_code == too_many_requests) {
                in_flight_limit_ = std::max(std::min(in_flight_limit_min, ring_.size()),
                                            std::min(in_flight_limit_, size()) / 2);
            }
            return trouble(lane_verdict::resync, outcome.server_said);
        case outcome_class::refused:
            at(index).sent = false;
            return on_refused(index, outcome);
        case outcome_class::unsuitable:
            return trouble(lane_verdict::stream_unsuitable, outcome.server_said);
    }
    return trouble(lane_verdict::resync, outcome.server_said);
}

std::size_t lane::unacked_count() const {
    std::size_t count = 0;
    for (auto index = first_; index < end_; ++index) {
        count += at(index).sent && !at(index).stored ? 1U : 0U;
    }
    return count;
}

void lane::widen() {
    // One more for each ack doubles the limit with each window, which is soon enough.
    in_flight_limit_ = std::min(in_flight_limit_ + 1, ring_.size());
}

void lane::mark_stored(std::uint64_t index, const stored_message& as) {
    at(index).stored = true;
    known_sequence_ = std::max(known_sequence_, as.sequence);
    if (!newest_stored_ || as.sequence > newest_stored_->sequence) {
        newest_stored_ = as;
    }
    forget_stored();
}

void lane::forget_stored() {
    while (first_ != end_ && at(first_).stored) {
        const auto where = at(first_).content.where;
        if (!at(first_).settled) {
            tail_ = where;
            tail_stands_back_ = false;
        }
        if (!at(first_).settled || at(first_).in_stream) {
            proved_ = where;
            auto& id = at(first_).content.id;
            bytes_ -= id.size();
            std::swap(proved_id_, id);
            bytes_ += id.size();
        }
        if (where.origin == line_.origin || line_.shares(where)) {
            stored_ = where.at;
        }
        forget_first();
    }
    if (stored_ && !acks_.empty()) {
        acks_.forget_up_to(*stored_);
    }
}

void lane::skip_up_to(commit_position where) {
    while (!empty() && line_.shares(at(first_).content.where) &&
           at(first_).content.where.at <= where) {
        forget_first();
    }
    stored_ = stored_ ? std::max(*stored_, where) : where;
    admitted_ = admitted_ ? std::max(*admitted_, where) : where;
    forget_stored();
}

void lane::forget_first() {
    entry& leaving = at(first_);
    bytes_ -= leaving.content.size_bytes();
    stored_count_ += leaving.settled || leaving.waiting ? 0 : 1;
    leaving.content.clear(kept_bytes);
    leaving.row.clear(kept_bytes);
    ++first_;
}

lane_verdict lane::has_lost_acked(std::uint64_t reused_sequence) {
    reused_sequence_ = reused_sequence;
    return trouble(lane_verdict::resync, "stored at sequence " + std::to_string(reused_sequence) +
                                             ", after sequence " + std::to_string(known_sequence_) +
                                             " was acked");
}

lane_verdict lane::trouble(lane_verdict verdict, std::string words) {
    last_trouble_ = std::move(words);
    return verdict;
}

}  // namespace walrelay::relay
