#include "relay/fenced_lane.hpp"

#include <algorithm>

namespace walrelay::relay {
namespace {

/// A process that stood still does not know it. Another relay can have written meanwhile, and left
/// out a row that it set aside: a later message of a window would fit in behind its last one.
/// Longer than the way to a broker and back, so that a busy connection is never proved again.
constexpr std::chrono::milliseconds proof_lasts{500};

}  // namespace

void fenced_lane::on_open(const stream_tail& tail) {
    expected_last_sequence_ = tail.last_sequence;
    opened_at_ = tail.last_sequence;
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
    while (next_ != end() && at(next_).settled) {
        ++next_;
    }
    if (!may_send() || next_ == end() || at(next_).waiting ||
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
    if (sequence != predicted) {
        return trouble(lane_verdict::resync, "stored at sequence " + std::to_string(sequence) +
                                                 ", expected " + std::to_string(predicted));
    }
    prove_by(index);
    mark_stored(index, sequence);
    return lane_verdict::carry_on;
}

lane_verdict fenced_lane::on_duplicate(std::uint64_t index, std::uint64_t sequence) {
    const auto predicted = at(index).behind_sequence + 1;
    if (sequence == predicted) {
        // Our own earlier publish of it, which reached the stream after its tail was read; or
        // another relay's, with more behind it. So it proves nothing of what the stream ends with.
        mark_stored(index, sequence);
        return lane_verdict::carry_on;
    }
    if (sequence > predicted) {
        return trouble(lane_verdict::resync, "a duplicate at sequence " + std::to_string(sequence) +
                                                 ", expected " + std::to_string(predicted));
    }
    if (sequence > opened_at_ || is_resuming() || tail_is_checkpoint()) {
        // Every event up to the tail was skipped, and what this connection sent was sent once. Most
        // likely another row with the same id; but a message of an earlier connection can arrive
        // late, and a server can tell an old tail.
        return taken(index, sequence);
    }
    // The tail does not tell what the stream has; the broker's memory of ids does. The chain is
    // one message shorter than predicted, which those behind this one will find out.
    if (expected_last_sequence_ > 0) {
        --expected_last_sequence_;
    }
    settle_stored(index);
    return lane_verdict::carry_on;
}

std::optional<monotonic_time> fenced_lane::ack_deadline() const {
    if (!is_open() || first() >= next_) {
        return std::nullopt;
    }
    return std::max(at(first()).sent_at, last_ack_at()) + options().ack_timeout;
}

}  // namespace walrelay::relay
