// The way of a position from acked to told: proved by the stream itself (stored_proof), with all
// before it (ledger), held back for a while (hold_back), and said to the server (feedback). Pure; a
// part of the relay machine, which gives every fact.
//
//     the lane claims -> stored_up_to -> ledger -> acked -> (the stream is asked) -> confirmable
#pragma once

#include "core/instant.hpp"
#include "core/lsn.hpp"
#include "core/position.hpp"
#include "relay/confirm/feedback.hpp"
#include "relay/confirm/hold_back.hpp"
#include "relay/confirm/ledger.hpp"
#include "relay/confirm/stored_proof.hpp"

#include <chrono>
#include <cstdint>
#include <optional>

namespace walrelay::relay {

class confirmation {
public:
    /// `delay` is that of hold_back.
    explicit confirmation(std::chrono::milliseconds delay) : hold_back_(delay) {}

    // Connections and histories.

    /// What was confirmed of the old history must never be reported to the new one.
    void begin_history();
    /// The slot's stream begins; see hold_back::begin_at and feedback::begin. Nothing is confirmed
    /// that this server, which may be another one, has not sent.
    void begin_stream(lsn slot_confirmed, std::optional<lsn> told,
                      std::chrono::milliseconds sender_timeout, monotonic_time now);
    void slot_lost();
    void broker_lost(monotonic_time now);
    /// The connection is replaced, and no question that went over it is answered.
    void forget_questions();
    /// The stream has lost messages, and the slot sends again what was read: it is counted anew.
    void read_anew() { ledger_ = ledger{}; }

    // Questions to the stream.

    /// When it is to be asked; nothing while there is no need, or while an answer is awaited.
    [[nodiscard]] std::optional<monotonic_time> question_due() const;
    /// It is asked for what is claimed, and ended with this sequence as far as is known.
    void asked(stored_proof::claim what, std::uint64_t known_sequence, monotonic_time now);
    /// When it was, until it answers or is gone.
    [[nodiscard]] const std::optional<monotonic_time>& asked_at() const {
        return hold_back_.asked_at();
    }
    [[nodiscard]] std::uint64_t asked_for() const { return hold_back_.asked_for(); }
    /// It still has all that it had acked then.
    void answered();
    /// Something is acked that is not proved.
    [[nodiscard]] bool awaits_proof() const { return proof_.is_open(); }
    [[nodiscard]] stored_proof& proof() { return proof_; }
    /// Of the messages that are proved to be stored.
    [[nodiscard]] const std::optional<stored_message>& newest_stored() const {
        return proof_.newest();
    }

    // What may be told.

    /// What the ledger has acked waits from now on.
    void hold(monotonic_time now);
    /// What is acked, and held back long enough.
    [[nodiscard]] lsn confirmable(lsn slot_confirmed) const;
    [[nodiscard]] ledger& of_read() { return ledger_; }
    [[nodiscard]] hold_back& held() { return hold_back_; }
    [[nodiscard]] const hold_back& held() const { return hold_back_; }
    [[nodiscard]] feedback& reports() { return feedback_; }
    [[nodiscard]] const feedback& reports() const { return feedback_; }

private:
    stored_proof proof_;
    ledger ledger_;
    hold_back hold_back_;
    feedback feedback_;
};

}  // namespace walrelay::relay
