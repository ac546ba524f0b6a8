#include "relay/lane/parallel_lane.hpp"

namespace walrelay::relay {

void parallel_lane::on_open(const stream_tail& /*tail*/) {
    newest_.clear();
    ready_.clear();
    sent_.clear();
    in_flight_ = 0;
    for (std::uint64_t index = first(); index != end(); ++index) {
        const bool set_aside = set_aside_.contains(index);
        if (at(index).stored || (at(index).waiting && !set_aside)) {
            continue;
        }
        at(index).next_of_aggregate = 0;
        if (queue(index) && !set_aside) {
            ready_.push_back(index);
        }
    }
}

void parallel_lane::on_emptied() {
    newest_.clear();
    ready_.clear();
    sent_.clear();
    set_aside_.clear();
    in_flight_ = 0;
}

void parallel_lane::on_admitted(std::uint64_t index) {
    if (queue(index)) {
        ready_.push_back(index);
    }
}

bool parallel_lane::queue(std::uint64_t index) {
    const auto [place, is_first] = newest_.try_emplace(at(index).content.aggregate, index);
    if (!is_first) {
        at(place->second).next_of_aggregate = index;
        place->second = index;
    }
    return is_first;
}

/// What was asked about and decided since it was queued is not sent.
void parallel_lane::drop_decided() {
    while (!ready_.empty() &&
           (ready_.front() < first() || at(ready_.front()).stored || at(ready_.front()).waiting)) {
        ready_.pop_front();
    }
}

std::optional<outgoing> parallel_lane::next_to_send(monotonic_time now) {
    drop_decided();
    if (!is_open() || ready_.empty() || in_flight_ >= in_flight_limit()) {
        return std::nullopt;
    }
    const auto index = ready_.front();
    ready_.pop_front();
    sent_.push_back(index);
    ++in_flight_;
    return send(index, std::nullopt, now);
}

lane_verdict parallel_lane::on_stored(std::uint64_t index, std::uint64_t sequence) {
    if (sequence <= at(index).behind_sequence) {
        return has_lost_acked(sequence);
    }
    settle(index, {sequence, at(index).content.where});
    return lane_verdict::carry_on;
}

lane_verdict parallel_lane::on_duplicate(std::uint64_t index, std::uint64_t sequence) {
    if (asks_whose(at(index).content)) {
        at(index).sent = false;
        return on_refused(index, {outcome_class::duplicate, sequence, 0,
                                  "the stream already has this Nats-Msg-Id at sequence " +
                                      std::to_string(sequence)});
    }
    // Most likely our own earlier publish of it. Nothing here tells it from another row with the
    // same id, so a message id must be unique where walrelay is not the only writer.
    settle(index, {sequence, std::nullopt});
    return lane_verdict::carry_on;
}

lane_verdict parallel_lane::on_refused(std::uint64_t index, const publish_outcome& said) {
    --in_flight_;
    std::erase(sent_, index);
    return refuse(index, said);
}

void parallel_lane::on_offered_again(std::uint64_t index) {
    ready_.push_front(index);
}

void parallel_lane::on_settled(std::uint64_t index) {
    if (set_aside_.erase(index) > 0) {
        let_next_of_aggregate_go(index);
    }
}

void parallel_lane::settle(std::uint64_t index, const stored_message& as) {
    --in_flight_;
    let_next_of_aggregate_go(index);
    mark_stored(index, as);
    forget_answered();
}

void parallel_lane::let_next_of_aggregate_go(std::uint64_t index) {
    const auto next = at(index).next_of_aggregate;
    if (next != 0) {
        ready_.push_back(next);
    } else {
        newest_.erase(at(index).content.aggregate);
    }
}

void parallel_lane::forget_answered() {
    while (!sent_.empty() && (sent_.front() < first() || at(sent_.front()).stored)) {
        sent_.pop_front();
    }
}

std::optional<monotonic_time> parallel_lane::ack_deadline() const {
    if (!is_open() || sent_.empty()) {
        return std::nullopt;
    }
    return at(sent_.front()).sent_at + options().ack_timeout;
}

}  // namespace walrelay::relay
