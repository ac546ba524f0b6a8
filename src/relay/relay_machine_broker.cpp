// The relay machine's events of the broker: connections, the stream's tail, replies.

#include "core/assert.hpp"
#include "relay/relay_machine.hpp"
#include "relay/relay_words.hpp"

#include <algorithm>
#include <utility>

namespace walrelay::relay {

void relay_machine::broker_connected(std::uint64_t epoch, const broker_facts& facts, instant now) {
    if (epoch != broker_.epoch() || !broker_.is_connecting() || is_closing()) {
        return;
    }
    if (!facts.stream) {
        lose_broker(
            {errc::broker_lost, "stream " + options_.stream + " vanished while it was looked at"},
            now);
        return;
    }
    broker_.connected(now.monotonic);
    intake_.set_limits({facts.max_payload_bytes, facts.stream->max_message_bytes});
    lane_.open(epoch, {facts.stream->last_sequence, facts.stream->last_position});
    const bool foreign_tail = facts.stream->last_sequence > 0 && !facts.stream->last_position;
    log(foreign_tail ? log_severity::warning : log_severity::info, tail_report(*facts.stream));
    look_for_rewind(*facts.stream);
    account_for_stored(now);
    if (phase_ == phase::running && postgres_.is_idle()) {
        actions_.emplace_back(connect_postgres{postgres_.connect()});
    }
}

std::string relay_machine::tail_report(const stream_facts& facts) const {
    std::string text = "connected to the broker: stream " + options_.stream;
    if (facts.last_sequence == 0) {
        text += " is empty";
    } else if (facts.last_position) {
        text += " ends with sequence " + std::to_string(facts.last_sequence) + ", position " +
                to_string(*facts.last_position);
    } else {
        text += " ends with sequence " + std::to_string(facts.last_sequence) +
                ", which holds no position of walrelay's: rows that were published before are "
                "recognised by Nats-Msg-Id alone, within the stream's duplicate window";
    }
    if (!lane_.empty()) {
        text += "; sending " + counted(lane_.size(), "message") + " again";
    }
    return text;
}

void relay_machine::look_for_rewind(const stream_facts& facts) {
    if (facts.last_sequence < highest_sequence_) {
        log(log_severity::error,
            "stream " + options_.stream +
                " has lost messages that it had acked: it ended with "
                "sequence " +
                std::to_string(highest_sequence_) + " and now ends with " +
                std::to_string(facts.last_sequence) +
                "; what it lost is still in the outbox table. It was deleted and made again, or "
                "the broker lost its unsynced writes: compare table and stream by message id");
    }
    highest_sequence_ = facts.last_sequence;
}

void relay_machine::broker_failed(std::uint64_t epoch, const error& why, instant now) {
    if (epoch != broker_.epoch() || !(broker_.is_connecting() || broker_.is_up())) {
        return;
    }
    lose_broker(why, now);
}

void relay_machine::lose_broker(const error& why, instant now) {
    lane_.close();
    actions_.emplace_back(close_broker{});
    if (operator_needed(why)) {
        broker_.shut();
        halt(why, now);
        return;
    }
    const auto delay = broker_.lost(now.monotonic);
    log(log_severity::warning,
        to_string(why) + "; trying again in " + seconds_text(delay) + ", nothing is lost: " +
            counted(lane_.size(), "unacked message") + " in memory, the rest in the slot");
}

void relay_machine::reply_arrived(publish_token token, const publish_outcome& outcome,
                                  instant now) {
    const auto verdict = lane_.on_reply(token, outcome, now.monotonic);
    if (verdict != lane_verdict::carry_on) {
        reply_failed(verdict, outcome, now);
        return;
    }
    account_for_stored(now);
    if (outcome.kind == outcome_class::stored) {
        highest_sequence_ = std::max(highest_sequence_, outcome.sequence);
        broker_.progressed();
    }
}

void relay_machine::reply_failed(lane_verdict verdict, const publish_outcome& outcome,
                                 instant now) {
    if (verdict == lane_verdict::message_refused) {
        const message& refused = lane_.refused_message();
        lose_broker(
            {errc::message_refused,
             "stream " + options_.stream + " refuses the message of row id " + refused.id +
                 " (position " + to_string(refused.where) + ", subject " + refused.subject + ")",
             "change outbox.message_id so that every row has an id of its own, or the limit that "
             "is named, then start again: the slot resends the row as it was inserted, so "
             "changing it in the table does not help",
             lane_.last_trouble()},
            now);
    } else if (verdict == lane_verdict::stream_unsuitable) {
        lose_broker({errc::broker_unsuitable,
                     "stream " + options_.stream + " does not take messages as it is set up",
                     "run walrelay check, which names what to change", lane_.last_trouble()},
                    now);
    } else if (outcome.kind == outcome_class::transient) {
        lose_broker(
            {errc::broker_unavailable,
             "the broker takes no messages for stream " + options_.stream + " at the moment",
             "if it is full, free storage or raise the limits of the stream or account",
             lane_.last_trouble()},
            now);
    } else {
        lose_broker(
            {errc::broker_lost,
             "it is in doubt what stream " + options_.stream + " holds; its tail is read again", "",
             lane_.last_trouble()},
            now);
    }
}

}  // namespace walrelay::relay
