#include "relay/lane.hpp"

#include "core/assert.hpp"

#include <algorithm>
#include <utility>

namespace walrelay::relay {
namespace {

// What a string of a free place in the window may keep: enough for the usual row, so little that a
// whole window of them stays within a few megabytes.
constexpr std::size_t kept_bytes = 1024;

}  // namespace

lane::lane(lane_options options) : options_(options), ring_(options.window_messages) {
    WALRELAY_ASSERT(options.window_messages > 0);
}

void lane::set_history(history origin) {
    if (origin == history_) {
        return;
    }
    history_ = origin;
    opened_at_ = expected_last_sequence_;
    admitted_.reset();
    stored_.reset();
    skip_what_the_tail_has();
}

bool lane::covers(commit_position where) const {
    return admitted_ && where <= *admitted_;
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

void lane::admit() {
    entry& added = at(end_);
    WALRELAY_ASSERT(!covers(added.content.where.at));
    WALRELAY_ASSERT(added.content.where.origin == history_);
    added.stored = false;
    bytes_ += added.content.size_bytes();
    admitted_ = added.content.where.at;
    ++end_;
}

void lane::open(std::uint64_t epoch, const stream_tail& tail) {
    WALRELAY_ASSERT(epoch > epoch_);
    epoch_ = epoch;
    epoch_open_ = true;
    expected_last_sequence_ = tail.last_sequence;
    opened_at_ = tail.last_sequence;
    tail_ = tail.last_position;
    skip_what_the_tail_has();
    for (std::uint64_t index = first_; index != end_; ++index) {
        at(index).stored = false;
    }
    next_ = first_;
}

void lane::skip_what_the_tail_has() {
    tail_known_ = tail_ && tail_->origin == history_;
    if (!tail_known_) {
        return;
    }
    const auto last = tail_->at;
    while (!empty() && at(first_).content.where.origin == history_ &&
           at(first_).content.where.at <= last) {
        forget_first();
    }
    stored_ = stored_ ? std::max(*stored_, last) : last;
    admitted_ = admitted_ ? std::max(*admitted_, last) : last;
}

std::optional<outgoing> lane::next_to_send(monotonic_time now) {
    if (!epoch_open_ || next_ == end_) {
        return std::nullopt;
    }
    entry& sending = at(next_);
    sending.sent_at = now;
    sending.expected_last_sequence = expected_last_sequence_++;
    return outgoing{{epoch_, next_++}, sending.expected_last_sequence, &sending.content};
}

bool lane::in_flight(publish_token token) const {
    return epoch_open_ && token.epoch == epoch_ && token.index >= first_ && token.index < next_;
}

lane_verdict lane::on_reply(publish_token token, const publish_outcome& outcome,
                            monotonic_time now) {
    if (!in_flight(token) || at(token.index).stored) {
        return lane_verdict::carry_on;
    }
    switch (outcome.kind) {
        case outcome_class::stored:
            last_ack_at_ = now;
            return on_stored(token.index, outcome.sequence);
        case outcome_class::duplicate:
            return on_duplicate(token.index, outcome.sequence);
        case outcome_class::transient:
        case outcome_class::doubt:
            return trouble(lane_verdict::resync, outcome.server_said);
        case outcome_class::refused:
            refused_ = token.index;
            return trouble(lane_verdict::message_refused, outcome.server_said);
        case outcome_class::unsuitable:
            return trouble(lane_verdict::stream_unsuitable, outcome.server_said);
    }
    return trouble(lane_verdict::resync, outcome.server_said);
}

lane_verdict lane::on_stored(std::uint64_t index, std::uint64_t sequence) {
    if (sequence != at(index).expected_last_sequence + 1) {
        return trouble(lane_verdict::resync,
                       "stored at sequence " + std::to_string(sequence) + ", expected " +
                           std::to_string(at(index).expected_last_sequence + 1));
    }
    mark_stored(index);
    return lane_verdict::carry_on;
}

lane_verdict lane::on_duplicate(std::uint64_t index, std::uint64_t sequence) {
    const auto predicted = at(index).expected_last_sequence + 1;
    if (sequence == predicted) {
        // Our own earlier publish of it, which reached the stream after its tail was read.
        mark_stored(index);
        return lane_verdict::carry_on;
    }
    if (sequence > predicted) {
        return trouble(lane_verdict::resync, "a duplicate at sequence " + std::to_string(sequence) +
                                                 ", expected " + std::to_string(predicted));
    }
    if (tail_known_ || sequence > opened_at_) {
        // Every event up to the tail was skipped, and what this connection sent was sent once, so
        // this is another row with the same id.
        refused_ = index;
        return trouble(lane_verdict::message_refused,
                       "the stream already has this Nats-Msg-Id at sequence " +
                           std::to_string(sequence) + ", from another row");
    }
    // The tail does not tell what the stream has; the broker's memory of ids does. The chain is
    // one message shorter than predicted, which those behind this one will find out.
    if (expected_last_sequence_ > 0) {
        --expected_last_sequence_;
    }
    mark_stored(index);
    return lane_verdict::carry_on;
}

void lane::mark_stored(std::uint64_t index) {
    at(index).stored = true;
    while (first_ != next_ && at(first_).stored) {
        tail_ = at(first_).content.where;
        if (tail_->origin == history_) {
            stored_ = tail_->at;
        }
        forget_first();
    }
}

void lane::forget_first() {
    bytes_ -= at(first_).content.size_bytes();
    at(first_).content.clear(kept_bytes);
    ++first_;
    ++stored_count_;
    next_ = std::max(next_, first_);
}

std::optional<monotonic_time> lane::ack_deadline() const {
    if (!epoch_open_ || first_ == next_) {
        return std::nullopt;
    }
    return std::max(at(first_).sent_at, last_ack_at_) + options_.ack_timeout;
}

lane_verdict lane::trouble(lane_verdict verdict, std::string words) {
    last_trouble_ = std::move(words);
    return verdict;
}

}  // namespace walrelay::relay
