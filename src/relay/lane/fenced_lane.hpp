// The lane of the stream's only writer: ordered, pipelined, fenced. Pure.
//
// Every publish expects the sequence that the one before it will have made
// (Nats-Expected-Last-Sequence), so that a message which is dropped on the way makes its successors
// fail instead of being overtaken, and a second writer is noticed at once. The stream is the
// checkpoint: what its last message covers is skipped, the rest is sent again.
//
// A message of somebody else makes one that is in flight fail and the prediction of the next one
// come true, so that the next passes it. Therefore only one message is sent until the broker has
// proved that the tail was not an old one, and a tail among whose last messages somebody else wrote
// is a checkpoint only up to there; what is behind is sent again, and recognised by Nats-Msg-Id.
#pragma once

#include "relay/lane/lane.hpp"

namespace walrelay::relay {

class fenced_lane final : public lane {
public:
    explicit fenced_lane(const lane_options& options) : lane(options) {}

    void prove_again() override;
    void outlast_stragglers() override;
    [[nodiscard]] std::optional<outgoing> next_to_send(monotonic_time now) override;
    /// The time-out after it was handed over, or after the last ack, because a slow link may need
    /// long for a whole window; a message that is lost makes all after it fail, so that no acks
    /// come in its place.
    [[nodiscard]] std::optional<monotonic_time> ack_deadline() const override;
    [[nodiscard]] bool knows_by_id(std::uint64_t sequence) const override {
        return sequence <= opened_at_ && !is_resuming() && !tail_is_checkpoint();
    }

private:
    void on_open(const stream_tail& tail) override;
    void on_belief() override;
    void on_admitted(std::uint64_t /*index*/) override {}
    void on_emptied() override {
        next_ = end();
        held_.reset();
    }
    lane_verdict on_taken() override;
    lane_verdict on_refused(std::uint64_t index, const publish_outcome& said) override;
    bool is_passed_over(std::uint64_t index, const publish_outcome& outcome) override;
    void on_offered_again(std::uint64_t index) override;
    void on_set_aside(std::uint64_t index) override { on_offered_again(index); }
    void on_own_found(std::uint64_t index) override { on_offered_again(index + 1); }
    lane_verdict on_stored(std::uint64_t index, std::uint64_t sequence) override;
    lane_verdict on_duplicate(std::uint64_t index, std::uint64_t sequence) override;
    void prove_by(std::uint64_t index);
    lane_verdict hold(std::uint64_t index, publish_outcome said);

    /// A message that the broker has refused. What was sent after it expects its sequence, and
    /// fails as well: nothing more is sent until all of that is answered, and decided.
    struct held {
        std::uint64_t index = 0;
        publish_outcome said;
    };

    /// first() <= next_ <= end(): what is before it was handed over on this connection.
    std::uint64_t next_ = 1;
    std::uint64_t expected_last_sequence_ = 0;
    /// The stream's last sequence when this connection, or this history, began.
    std::uint64_t opened_at_ = 0;
    /// The broker has stored a message where it was predicted.
    bool proven_ = false;
    /// The message that is to prove it, once it is sent; 0 before.
    std::uint64_t probe_ = 0;
    /// The messages up to this sequence go alone.
    std::uint64_t alone_until_ = 0;
    std::optional<held> held_;
};

}  // namespace walrelay::relay
