#include "relay/lane/fenced_lane.hpp"

#include <algorithm>

namespace walrelay::relay {
namespace {

/// A process that stood still does not know it. Another relay can have written meanwhile, and left
/// out a row that it set aside: a later message of a window would fit in after its last one.
/// Longer than the way to a broker and back, so that a busy connection is never proved again.
constexpr std::chrono::milliseconds proof_lasts{500};

/// The stream does not end with what the message expects (publish_outcome.cpp).
bool is_of_the_sequence(const publish_outcome& outcome) {
    constexpr std::int32_t no_match = 10063;
    constexpr std::int32_t wrong_last = 10071;
    constexpr std::int32_t wrong_last_in_process = 10164;
    return outcome.error_code == no_match || outcome.error_code == wrong_last ||
           outcome.error_code == wrong_last_in_process;
}

}  // namespace

void fenced_lane::on_open(const stream_tail& tail) {
    expected_last_sequence_ = tail.last_sequence;
    opened_at_ = tail.last_sequence;
    held_.reset();
    prove_again();
    next_ = first();
}

void fenced_lane::on_belief() {
    next_ = std::max(next_, first());
}

void fenced_lane::prove_again() {
    proven_ = false;
    probe_ = 0;
}

void fenced_lane::outlast_stragglers() {
    prove_again();
    alone_until_ = expected_last_sequence_ + options().window_messages;
}

void fenced_lane::prove_by(std::uint64_t index) {
    // An earlier one proves nothing of what happened after it.
    proven_ =
        proven_ || (probe_ != 0 && index >= probe_ && expected_last_sequence_ >= alone_until_);
}

std::optional<outgoing> fenced_lane::next_to_send(monotonic_time now) {
    next_ = std::max(next_, first());
    if (held_ && held_->index < first()) {
        held_.reset();  // it was met otherwise
    }
    while (next_ != end() && at(next_).settled) {
        ++next_;
    }
    if (!may_send() || held_ || next_ == end() || at(next_).waiting ||
        next_ - first() >= in_flight_limit()) {
        return std::nullopt;
    }
    if (proven_ && now - last_ack_at() > proof_lasts) {
        prove_again();
    }
    if (!proven_) {
        // Alone: what is in flight before it may yet fail, and let it pass.
        if (next_ != first()) {
            return std::nullopt;
        }
        probe_ = next_;
    }
    return send(next_++, expected_last_sequence_++, now);
}

lane_verdict fenced_lane::on_stored(std::uint64_t index, std::uint64_t sequence) {
    const auto predicted = at(index).behind_sequence + 1;
    if (held_ && index > held_->index) {
        return trouble(lane_verdict::resync, "stored at sequence " + std::to_string(sequence) +
                                                 ", after a message that was refused");
    }
    if (sequence != predicted) {
        return trouble(lane_verdict::resync, "stored at sequence " + std::to_string(sequence) +
                                                 ", expected " + std::to_string(predicted));
    }
    prove_by(index);
    mark_stored(index, {sequence, at(index).content.where});
    return lane_verdict::carry_on;
}

lane_verdict fenced_lane::on_duplicate(std::uint64_t index, std::uint64_t sequence) {
    const auto predicted = at(index).behind_sequence + 1;
    if (sequence == predicted) {
        // Our own earlier publish of it, which reached the stream after its tail was read; or
        // another relay's, with more after it. So it proves nothing of what the stream ends with.
        mark_stored(index, {sequence, std::nullopt});
        return lane_verdict::carry_on;
    }
    if (sequence > predicted) {
        return trouble(lane_verdict::resync, "a duplicate at sequence " + std::to_string(sequence) +
                                                 ", expected " + std::to_string(predicted));
    }
    if (!knows_by_id(sequence) || asks_whose(at(index).content)) {
        // Every event up to the tail was skipped, and what this connection sent was sent once. Most
        // likely another row with the same id; but a message of an earlier connection can arrive
        // late, and a server can tell an old tail. Or it is one of a branch that was left.
        return hold(index, {outcome_class::duplicate, sequence, 0,
                            "the stream already has this Nats-Msg-Id at sequence " +
                                std::to_string(sequence)});
    }
    // The tail does not tell what the stream has; the broker's memory of ids does. The chain is
    // one message shorter than predicted, which those after this one will find out.
    if (expected_last_sequence_ > 0) {
        --expected_last_sequence_;
    }
    settle_stored(index);
    return lane_verdict::carry_on;
}

lane_verdict fenced_lane::hold(std::uint64_t index, publish_outcome said) {
    at(index).sent = false;
    held_ = {index, std::move(said)};
    return lane_verdict::carry_on;
}

lane_verdict fenced_lane::on_refused(std::uint64_t index, const publish_outcome& said) {
    return hold(index, said);
}

bool fenced_lane::is_passed_over(std::uint64_t index, const publish_outcome& outcome) {
    return held_ && index > held_->index &&
           (is_of_the_sequence(outcome) || outcome.kind == outcome_class::refused ||
            outcome.kind == outcome_class::duplicate);
}

lane_verdict fenced_lane::on_taken() {
    if (!held_ || unacked_count() > 0) {
        return lane_verdict::carry_on;
    }
    // Everything before it is stored, and nothing is on its way on this connection.
    next_ = held_->index;
    expected_last_sequence_ = known_sequence();
    prove_again();
    return refuse(held_->index, held_->said);
}

void fenced_lane::on_offered_again(std::uint64_t index) {
    held_.reset();
    next_ = index;
}

std::optional<monotonic_time> fenced_lane::ack_deadline() const {
    if (!is_open() || first() >= next_) {
        return std::nullopt;
    }
    return std::max(at(first()).sent_at, last_ack_at()) + options().ack_timeout;
}

}  // namespace walrelay::relay
