#include "relay/confirm/confirmation.hpp"

#include <algorithm>

namespace walrelay::relay {

void confirmation::begin_history() {
    proof_.begin_history();
    ledger_ = ledger{};
    hold_back_.start_over();
    feedback_ = feedback{};
}

void confirmation::begin_stream(lsn slot_confirmed, std::optional<lsn> told,
                                std::chrono::milliseconds sender_timeout, monotonic_time now) {
    hold_back_.begin_at(slot_confirmed, told);
    ledger_ = ledger{};
    feedback_ = feedback{};
    feedback_.confirmed(slot_confirmed, now);
    feedback_.begin(sender_timeout, now);
}

void confirmation::slot_lost() {
    hold_back_.slot_lost();
    feedback_.end();
    ledger_.forget_pending();
}

void confirmation::broker_lost(monotonic_time now) {
    proof_.forget_question();
    hold_back_.freeze(now);
}

void confirmation::forget_questions() {
    proof_.forget_question();
    hold_back_.forget_question();
}

std::optional<monotonic_time> confirmation::question_due() const {
    const auto held = hold_back_.deadline();
    const auto acked = proof_.deadline();
    return held && acked ? std::min(*held, *acked) : held ? held : acked;
}

void confirmation::asked(stored_proof::claim what, std::uint64_t known_sequence,
                         monotonic_time now) {
    hold_back_.asked(known_sequence, now);
    proof_.asked(std::move(what), now);
}

void confirmation::answered() {
    hold_back_.answered();
    proof_.answered();
}

void confirmation::hold(monotonic_time now) {
    hold_back_.acked(ledger_.acked(), ledger_.acked_event(), proof_.newest(), now);
}

lsn confirmation::confirmable(lsn slot_confirmed) const {
    return std::min(hold_back_.confirmed(), std::max(ledger_.acked(), slot_confirmed));
}

}  // namespace walrelay::relay
