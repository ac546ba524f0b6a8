// From acked to confirmed: keeps the slot back for a while after the ack (delivery.confirm_delay).
//
// A broker that acks before it has written to the disk may forget what it acked when its power
// fails. What the slot still has can then be sent again. Nothing is confirmed because time has
// passed: when the delay is over the stream is asked, and its answer confirms. A process that stood
// still, or a broker that died in silence, so confirms nothing. Pure; comes after relay/ledger.
#pragma once

#include "core/instant.hpp"
#include "core/lsn.hpp"
#include "core/position.hpp"
#include "core/witness.hpp"

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>

namespace walrelay::relay {

class hold_back {
public:
    /// `delay` 0 confirms at once.
    explicit hold_back(std::chrono::milliseconds delay) : delay_(delay) {}

    /// The slot stands there, and was told `told` as far as is known. Where a crash has set it
    /// back, what it was told after that waits like everything that comes again: the stream may
    /// have lost it meanwhile. What waited then was acked for other messages, and counts no more.
    void begin_at(lsn slot_confirmed, std::optional<lsn> told);
    /// Everything up to here is acked. `last_event` is the last outbox event before `up_to`,
    /// `newest` the message of the highest sequence that is stored by now.
    void acked(lsn up_to, std::optional<commit_position> last_event,
               const std::optional<stored_message>& newest, monotonic_time now);
    /// When the stream is to be asked whether it has what it acked; nothing while there is no need,
    /// or while an answer is awaited.
    [[nodiscard]] std::optional<monotonic_time> deadline() const;
    /// It is asked, and what it ended with was this sequence.
    void asked(std::uint64_t known_sequence, monotonic_time now);
    /// When it was, until it answers or is gone.
    [[nodiscard]] const std::optional<monotonic_time>& asked_at() const { return asked_at_; }
    [[nodiscard]] std::uint64_t asked_for() const { return asked_for_; }
    /// It still has everything: confirms what had waited long enough when it was asked.
    void answered();
    /// The connection that it went over is replaced.
    void forget_question() { asked_at_.reset(); }

    /// The broker is gone: nothing is confirmed until it is back.
    void freeze(monotonic_time now);
    /// It is back. `holds_slot`: nobody else does.
    void thaw(monotonic_time now, bool holds_slot);
    /// Until it is had again, another relay can have it, and store anew what the broker loses.
    void slot_lost() { slot_was_lost_ = true; }

    /// Others have written to the stream meanwhile, perhaps in the place of what was acked and lost
    /// since: what they have written has not waited yet.
    void wait_again(monotonic_time now);

    /// The broker has lost what it acked after `kept`, or all of it: that waits no longer, as the
    /// slot sends it again. What it kept goes on waiting, and what is confirmed stays so.
    void forget_held(std::optional<commit_position> kept);

    /// Nothing is known of another history; what is frozen stays so.
    void start_over() {
        held_.clear();
        confirmed_ = {};
        confirmed_message_.reset();
    }

    /// The stream has lost messages and ends with this one: the sequences of before say nothing any
    /// more. What is still held it has, so that this names it.
    void forget_messages(const stored_message& last);

    /// What may be reported as flushed. Never moves backwards while a slot's stream lasts.
    [[nodiscard]] lsn confirmed() const { return confirmed_; }
    /// What was the newest message when that was acked; nothing if none was stored.
    [[nodiscard]] const std::optional<stored_message>& confirmed_message() const {
        return confirmed_message_;
    }

private:
    /// Acks of a short span of time together, so that a long delay needs little memory.
    struct portion {
        lsn up_to;
        std::optional<commit_position> last_event;
        std::optional<stored_message> newest;
        monotonic_time closes;
    };

    [[nodiscard]] std::chrono::milliseconds span() const;
    void confirm(lsn up_to, const std::optional<stored_message>& newest);

    std::chrono::milliseconds delay_;
    std::deque<portion> held_;
    std::optional<monotonic_time> frozen_at_;
    /// Since the broker was looked at.
    bool slot_was_lost_ = false;
    std::optional<monotonic_time> asked_at_;
    monotonic_time last_asked_{};
    std::uint64_t asked_for_ = 0;
    lsn confirmed_;
    std::optional<stored_message> confirmed_message_;
};

}  // namespace walrelay::relay
