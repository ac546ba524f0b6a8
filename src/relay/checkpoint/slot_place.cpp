#include "relay/checkpoint/slot_place.hpp"

#include <algorithm>
#include <utility>

namespace walrelay::relay {

std::chrono::milliseconds slot_place::was_in_use(errc why) {
    constexpr std::chrono::milliseconds first_look{50};
    constexpr std::chrono::milliseconds longest_look{1000};
    constexpr std::uint32_t doublings = 5;
    const bool stood_by = is_standby();
    ++tries_;
    // Who moves the slot after this relay's own last connection is a stranger still.
    others_seen_ = others_seen_ || why == errc::slot_in_use;
    others_had_it_ = others_had_it_ || why == errc::slot_in_use;
    began_to_stand_by_ = !stood_by && is_standby();
    return std::min(longest_look, first_look * (1U << std::min(tries_ - 1, doublings)));
}

slot_place::taken slot_place::take() {
    const auto tries = std::exchange(tries_, 0U);
    // Where it was this relay's own last connection that held it, nothing has changed hands: to
    // read the stream's end again would end that connection, too, and so on.
    if (!std::exchange(others_had_it_, false)) {
        return taken::at_once;
    }
    if (tries < standby_after_tries) {
        return taken::after_tries;
    }
    at_most_ = {};
    return taken::after_standing_by;
}

void slot_place::begins_at(lsn confirmed) {
    if (at_most_ == lsn{} || confirmed < since_) {
        // What came before is not known to be stored.
        since_ = confirmed;
        at_most_ = confirmed;
    }
    told(confirmed);
    others_seen_ = false;
}

void slot_place::begin_history(std::optional<lsn> branch) {
    at_most_ = branch ? std::min(at_most_, *branch) : lsn{};
    since_ = branch ? std::min(since_, *branch) : lsn{};
}

bool slot_place::was_moved(lsn confirmed) const {
    return !others_seen_ && at_most_ != lsn{} && confirmed > at_most_;
}

}  // namespace walrelay::relay
