// The relay machine's events of write-backs: rows whose status is written into their table once
// they are published.

#include "core/assert.hpp"
#include "relay/relay_machine.hpp"
#include "relay/relay_words.hpp"

#include <utility>

namespace walrelay::relay {

void relay_machine::write_back_what_is_stored() {
    if (!postgres_.is_up() || is_closing() || write_back_at_) {
        return;
    }
    if (auto batch = write_backs_.next_batch(lane_->stored_up_to())) {
        actions_.emplace_back(write_back{postgres_.epoch(), std::move(*batch)});
    }
}

void relay_machine::written_back(std::uint64_t epoch, instant now) {
    if (epoch != postgres_.epoch() || !write_backs_.in_flight()) {
        return;
    }
    write_backs_.written();
    write_back_backoff_.reset();
    account_for_stored(now);
}

void relay_machine::write_back_failed(std::uint64_t epoch, const error& why, instant now) {
    if (epoch != postgres_.epoch() || !write_backs_.in_flight()) {
        return;
    }
    write_backs_.failed();
    // The role was let in for the stream.
    if (operator_needed(why) && why.code != errc::postgres_refused) {
        halt(why, now);
        return;
    }
    const auto delay = write_back_backoff_.next();
    write_back_at_ = now.monotonic + delay;
    log(log_severity::warning, to_string(why) + "; " +
                                   counted(write_backs_.size(), "published row") +
                                   " to be written back, trying again in " + seconds_text(delay) +
                                   ", nothing is lost: the slot is not moved past them");
}

void relay_machine::forget_write_backs() {
    write_backs_.forget();
    write_back_at_.reset();
}

}  // namespace walrelay::relay
