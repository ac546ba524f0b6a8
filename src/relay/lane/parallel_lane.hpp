// The lane beside other writers of the stream: at most one message of an aggregate in flight, many
// aggregates side by side. Pure.
//
// Nobody can predict the next sequence here, and the stream's last message need not be ours. Order
// holds within an aggregate, because its next message is sent only when the one before is stored;
// duplicates are suppressed by Nats-Msg-Id within the stream's duplicate window. What was acked is
// not sent again in the life of the lane, however long it takes.
#pragma once

#include "relay/lane/lane.hpp"

#include <deque>
#include <set>
#include <string>
#include <unordered_map>

namespace walrelay::relay {

class parallel_lane final : public lane {
public:
    explicit parallel_lane(const lane_options& options) : lane(options) {}

    [[nodiscard]] std::optional<outgoing> next_to_send(monotonic_time now) override;
    /// The time-out after the oldest message without an ack was handed over. Acks of others do not
    /// move it: a lost message stops only its own aggregate.
    [[nodiscard]] std::optional<monotonic_time> ack_deadline() const override;
    [[nodiscard]] bool knows_by_id(std::uint64_t /*sequence*/) const override { return true; }

private:
    void on_open(const stream_tail& tail) override;
    void on_belief() override {}
    void on_admitted(std::uint64_t index) override;
    void on_emptied() override;
    lane_verdict on_stored(std::uint64_t index, std::uint64_t sequence) override;
    lane_verdict on_duplicate(std::uint64_t index, std::uint64_t sequence) override;
    lane_verdict on_refused(std::uint64_t index, const publish_outcome& said) override;
    void on_offered_again(std::uint64_t index) override;
    /// What comes after it in its aggregate waits for its dead letter: it may still be sent, after
    /// a stop without one.
    void on_set_aside(std::uint64_t index) override { set_aside_.insert(index); }
    void on_settled(std::uint64_t index) override;
    void drop_decided();
    /// Whether it is the first of its aggregate that waits.
    bool queue(std::uint64_t index);
    void on_own_found(std::uint64_t index) override { let_next_of_aggregate_go(index); }
    void on_met(std::uint64_t index) override { let_next_of_aggregate_go(index); }
    void settle(std::uint64_t index, const stored_message& as);
    void let_next_of_aggregate_go(std::uint64_t index);
    void forget_answered();

    /// The last message of each aggregate that has any in the window.
    std::unordered_map<std::string, std::uint64_t> newest_;
    /// What may be sent: the oldest message of its aggregate.
    std::deque<std::uint64_t> ready_;
    /// What was sent, in this order; those that are stored meanwhile leave from the front.
    std::deque<std::uint64_t> sent_;
    std::size_t in_flight_ = 0;
    /// Refused messages whose dead letters are not stored yet.
    std::set<std::uint64_t> set_aside_;
};

}  // namespace walrelay::relay
