#include "relay/relay_machine.hpp"

#include "core/assert.hpp"

#include <algorithm>
#include <utility>

namespace walrelay::relay {
namespace {

constexpr int exit_done = 0;
constexpr int exit_operator_needed = 3;

std::string seconds_text(std::chrono::milliseconds delay) {
    constexpr int milliseconds_per_second = 1000;
    auto text = std::to_string(delay.count() % milliseconds_per_second);
    text.insert(0, 3 - text.size(), '0');
    return std::to_string(delay.count() / milliseconds_per_second) + "." + text + " s";
}

bool operator_needed(const error& why) {
    const auto wanted = advice_for(why.code);
    return wanted == advice::this_configuration || wanted == advice::this_message;
}

std::string counted(std::size_t count, const char* noun) {
    return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

}  // namespace

relay_machine::relay_machine(relay_options options, std::vector<outbox::table_mapper> mappers,
                             std::uint64_t seed)
    : options_(std::move(options)),
      intake_(std::move(mappers), options_.stream),
      lane_(options_.lane),
      broker_(options_.backoff, seed),
      postgres_(options_.backoff, seed + 1) {}

void relay_machine::start() {
    actions_.emplace_back(connect_broker{broker_.connect()});
}

void relay_machine::broker_connected(std::uint64_t epoch, const broker_facts& facts, instant now) {
    if (epoch != broker_.epoch() || !broker_.is_connecting() || is_closing()) {
        return;
    }
    WALRELAY_ASSERT(facts.stream.has_value());
    broker_.connected(now.monotonic);
    intake_.set_limits({facts.max_payload_bytes, facts.stream->max_message_bytes});
    lane_.open(epoch, {facts.stream->last_sequence, facts.stream->last_position});
    log(log_severity::info, tail_report(*facts.stream));
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

void relay_machine::postgres_connected(std::uint64_t epoch, postgres_session session, instant now) {
    if (epoch != postgres_.epoch() || !postgres_.is_connecting() || is_closing()) {
        return;
    }
    postgres_.connected(now.monotonic);
    if (session.origin != history_) {
        if (history_ != history{}) {
            log(log_severity::warning,
                "the database has another history than before (system identifier or timeline "
                "changed): rows are recognised by Nats-Msg-Id alone until the stream's tail is of "
                "the new one");
        }
        history_ = session.origin;
        ledger_ = ledger{};
        lane_.set_history(history_);
    }
    intake_.begin_stream(session.origin, std::move(session.catalog), session.plugin);
    feedback_.begin(session.sender_timeout, now.monotonic);
    account_for_stored(now);
    log(log_severity::info,
        std::string("streaming from slot ") + options_.slot + " with " + to_string(session.plugin));
}

void relay_machine::postgres_failed(std::uint64_t epoch, const error& why, instant now) {
    if (epoch != postgres_.epoch() || !(postgres_.is_connecting() || postgres_.is_up())) {
        return;
    }
    lose_postgres(why, now);
}

void relay_machine::lose_postgres(const error& why, instant now) {
    actions_.emplace_back(close_postgres{});
    feedback_.end();
    ledger_.forget_pending();
    if (phase_ == phase::closing) {
        postgres_.shut();
        end();
        return;
    }
    if (operator_needed(why)) {
        postgres_.shut();
        halt(why, now);
        return;
    }
    const auto delay = postgres_.lost(now.monotonic);
    log(log_severity::warning, to_string(why) + "; trying again in " + seconds_text(delay) +
                                   ", nothing is lost: the slot resends what is not confirmed");
}

void relay_machine::postgres_finished() {
    if (phase_ == phase::closing) {
        end();
    }
}

void relay_machine::frame_arrived(std::string_view frame, instant now) {
    WALRELAY_ASSERT(wants_frames());
    const auto read = intake_.read(frame, lane_);
    if (!read) {
        frame_failed(read.error(), now);
        return;
    }
    feedback_.received(read->received);
    if (read->ended) {
        ledger_.transaction_ended(read->ended->last_event, read->ended->end);
        postgres_.progressed();
        account_for_stored(now);
    }
    if (read->alive) {
        if (!intake_.in_transaction()) {
            ledger_.idle_at(read->alive->end);
            account_for_stored(now);
        }
        if (read->alive->reply_requested) {
            feedback_.requested(now.monotonic);
        }
    }
}

void relay_machine::frame_failed(const error& why, instant now) {
    if (advice_for(why.code) == advice::this_message) {
        // What was read before this row is still delivered and confirmed.
        log(log_severity::error, to_string(why) +
                                     ". Stopping before this row (on_poison = \"halt\"); nothing "
                                     "is lost: the slot keeps it and everything behind it");
        drain(exit_operator_needed, now);
        return;
    }
    lose_postgres(why, now);
}

void relay_machine::reply_arrived(publish_token token, const publish_outcome& outcome,
                                  instant now) {
    const auto verdict = lane_.on_reply(token, outcome);
    if (verdict != lane_verdict::carry_on) {
        reply_failed(verdict, now);
        return;
    }
    account_for_stored(now);
    if (outcome.kind == outcome_class::stored) {
        highest_sequence_ = std::max(highest_sequence_, outcome.sequence);
        broker_.progressed();
    }
}

void relay_machine::reply_failed(lane_verdict verdict, instant now) {
    if (verdict == lane_verdict::message_refused) {
        const message& refused = lane_.refused_message();
        lose_broker(
            {errc::message_refused,
             "stream " + options_.stream + " refuses the message of row id " + refused.id +
                 " (position " + to_string(refused.where) + ", subject " + refused.subject + ")",
             "make the row's message acceptable (its id unique, its size within the "
             "limits), then start again: the slot resends it",
             lane_.last_trouble()},
            now);
    } else if (verdict == lane_verdict::stream_unsuitable) {
        lose_broker({errc::broker_unsuitable,
                     "stream " + options_.stream + " does not take messages as it is set up",
                     "run walrelay check, which names what to change", lane_.last_trouble()},
                    now);
    } else {
        lose_broker(
            {errc::broker_lost,
             "it is in doubt what stream " + options_.stream + " holds; its tail is read again", "",
             lane_.last_trouble()},
            now);
    }
}

void relay_machine::account_for_stored(instant now) {
    if (const auto stored = lane_.stored_up_to()) {
        ledger_.stored_up_to(*stored);
    }
    feedback_.confirmed(ledger_.confirmed(), now.monotonic);
    if (phase_ == phase::draining && lane_.empty()) {
        close_postgres_in_order(now);
    }
}

void relay_machine::time_passed(instant now) {
    if (const auto lost = lane_.ack_deadline(); lost && *lost <= now.monotonic) {
        lose_broker({errc::broker_lost, "the broker has not acked a message within " +
                                            seconds_text(options_.lane.ack_timeout) +
                                            " (delivery.ack_timeout)"},
                    now);
    }
    if (drain_until_ && *drain_until_ <= now.monotonic && phase_ == phase::draining) {
        log(log_severity::warning,
            counted(lane_.size(), "message") + " not acked within " +
                seconds_text(options_.drain_timeout) +
                "; nothing is lost: the next start sends them again from the slot");
        close_postgres_in_order(now);
    }
    retry_links(now);
    if (const auto due = feedback_.deadline();
        due && *due <= now.monotonic && postgres_.is_up() && phase_ != phase::closing) {
        actions_.emplace_back(send_status{feedback_.take(now)});
    }
}

void relay_machine::retry_links(instant now) {
    const auto due = [&](const link& which) {
        return which.retry_at() && *which.retry_at() <= now.monotonic;
    };
    if (is_closing()) {
        return;
    }
    if (due(broker_)) {
        actions_.emplace_back(connect_broker{broker_.connect()});
    }
    if (due(postgres_) && phase_ == phase::running) {
        actions_.emplace_back(connect_postgres{postgres_.connect()});
    }
}

void relay_machine::stop_requested(instant now) {
    if (phase_ == phase::running) {
        log(log_severity::info,
            "stopping: waiting for the acks of " + counted(lane_.size(), "message"));
        drain(exit_done, now);
    } else if (phase_ == phase::draining) {
        close_postgres_in_order(now);
    }
}

void relay_machine::drain(int exit_code, instant now) {
    phase_ = phase::draining;
    exit_code_ = exit_code;
    drain_until_ = now.monotonic + options_.drain_timeout;
    if (lane_.empty()) {
        close_postgres_in_order(now);
    }
}

void relay_machine::close_postgres_in_order(instant now) {
    phase_ = phase::closing;
    drain_until_.reset();
    if (!postgres_.is_up()) {
        if (postgres_.is_connecting()) {
            actions_.emplace_back(close_postgres{});
        }
        end();
        return;
    }
    actions_.emplace_back(send_status{feedback_.take(now)});
    actions_.emplace_back(finish_postgres{});
}

void relay_machine::halt(const error& why, instant now) {
    if (is_closing()) {
        return;
    }
    log(log_severity::error,
        to_string(why) + ". Stopped; nothing is lost: the slot keeps what is not confirmed");
    exit_code_ = exit_operator_needed;
    close_postgres_in_order(now);
}

void relay_machine::end() {
    if (phase_ == phase::ended) {
        return;
    }
    phase_ = phase::ended;
    if (!broker_.is_idle()) {
        actions_.emplace_back(close_broker{});
    }
    log(log_severity::info, "stopped: " + counted(lane_.stored_count(), "message") +
                                " stored, slot " + options_.slot + " confirmed up to " +
                                to_string(ledger_.confirmed()));
    actions_.emplace_back(finish{exit_code_});
}

bool relay_machine::wants_frames() const {
    return phase_ == phase::running && postgres_.is_up() && lane_.has_room();
}

std::optional<monotonic_time> relay_machine::deadline() const {
    std::optional<monotonic_time> earliest = lane_.ack_deadline();
    const auto consider = [&](std::optional<monotonic_time> candidate) {
        if (candidate && (!earliest || *candidate < *earliest)) {
            earliest = candidate;
        }
    };
    consider(drain_until_);
    consider(broker_.retry_at());
    consider(postgres_.retry_at());
    if (phase_ != phase::closing) {
        consider(feedback_.deadline());
    }
    return phase_ == phase::ended ? std::nullopt : earliest;
}

std::optional<action> relay_machine::next_action(monotonic_time now) {
    if (!actions_.empty()) {
        action next = std::move(actions_.front());
        actions_.pop_front();
        return next;
    }
    if (is_closing()) {
        return std::nullopt;
    }
    if (const auto sending = lane_.next_to_send(now)) {
        return publish{*sending};
    }
    return std::nullopt;
}

void relay_machine::log(log_severity severity, std::string text) {
    actions_.emplace_back(write_log{severity, std::move(text)});
}

}  // namespace walrelay::relay
