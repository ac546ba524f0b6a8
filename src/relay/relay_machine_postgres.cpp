// The relay machine's events of PostgreSQL: connections and frames.

#include "core/assert.hpp"
#include "relay/relay_machine.hpp"
#include "relay/relay_words.hpp"

#include <utility>

namespace walrelay::relay {

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
        // What was confirmed of the old history must never be reported to the new one.
        feedback_ = feedback{};
        lane_.set_history(history_);
    }
    for (const auto& name :
         intake_.begin_stream(session.origin, std::move(session.catalog), session.plugin)) {
        log(log_severity::warning,
            "rows of table " + to_string(name) +
                " are not relayed: it is neither an outbox of the configuration nor now a "
                "partition "
                "of one; if it was one when they were written, compare its rows with the stream");
    }
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

}  // namespace walrelay::relay
