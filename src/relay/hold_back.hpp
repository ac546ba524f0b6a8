// From acked to confirmed: keeps the slot back for a while after the ack (delivery.confirm_delay).
//
// A broker that acks before it has written to the disk may forget what it acked when its power
// fails. What the slot still has can then be sent again. The delay counts only while the broker is
// there: what it had for a moment before it failed must not be confirmed because it stayed away for
// long. Pure; comes after relay/ledger.
#pragma once

#include "core/instant.hpp"
#include "core/lsn.hpp"
#include "core/position.hpp"

#include <chrono>
#include <deque>
#include <optional>

namespace walrelay::relay {

class hold_back {
public:
    /// `delay` 0 confirms at once.
    explicit hold_back(std::chrono::milliseconds delay) : delay_(delay) {}

    /// What was confirmed before this relay began: the slot stands there, and `last_event` (if one
    /// is known to lie before) is not sent again.
    void begin_at(lsn slot_confirmed, std::optional<commit_position> last_event) {
        confirm(slot_confirmed, last_event);
    }
    /// Everything up to here is acked. `last_event` is the last outbox event before `up_to`.
    void acked(lsn up_to, std::optional<commit_position> last_event, monotonic_time now);
    /// Confirms what has waited long enough.
    void time_passed(monotonic_time now);
    [[nodiscard]] std::optional<monotonic_time> deadline() const;

    /// The broker is gone: nothing is confirmed until it is back.
    void freeze(monotonic_time now);
    void thaw(monotonic_time now);

    /// The broker has lost what it acked behind `kept`, or all of it: that waits no longer, as the
    /// slot sends it again. What it kept goes on waiting, and what is confirmed stays so.
    void forget_held(std::optional<commit_position> kept);

    /// Nothing is known of another history; what is frozen stays so.
    void start_over() {
        held_.clear();
        confirmed_ = {};
        confirmed_event_.reset();
    }

    /// What may be reported as flushed. Never moves backwards.
    [[nodiscard]] lsn confirmed() const { return confirmed_; }
    /// The last event that the slot may have forgotten; nothing if none is known.
    [[nodiscard]] std::optional<commit_position> confirmed_event() const {
        return confirmed_event_;
    }

private:
    /// Acks of a short span of time together, so that a long delay needs little memory.
    struct portion {
        lsn up_to;
        std::optional<commit_position> last_event;
        monotonic_time closes;
    };

    void confirm(lsn up_to, std::optional<commit_position> last_event);

    std::chrono::milliseconds delay_;
    std::deque<portion> held_;
    std::optional<monotonic_time> frozen_at_;
    lsn confirmed_;
    std::optional<commit_position> confirmed_event_;
};

}  // namespace walrelay::relay
