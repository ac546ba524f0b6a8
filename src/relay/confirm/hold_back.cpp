#include "relay/confirm/hold_back.hpp"

#include <algorithm>
#include <utility>

namespace walrelay::relay {
namespace {

// How finely time is divided: the slot lags at most this part of the delay more than asked for.
constexpr int portions_per_delay = 64;

// Between two questions, however short the delay is.
constexpr std::chrono::milliseconds shortest_pause{50};

}  // namespace

void hold_back::begin_at(lsn slot_confirmed, std::optional<lsn> told) {
    if (slot_confirmed < told.value_or(confirmed_)) {
        held_.clear();
    }
    slot_was_lost_ = slot_was_lost_ && !held_.empty();
    confirmed_ = slot_confirmed;
}

void hold_back::acked(lsn up_to, std::optional<commit_position> last_event,
                      const std::optional<stored_message>& newest, monotonic_time now) {
    if (delay_.count() == 0) {
        confirm(up_to, newest);
        return;
    }
    const auto so_far = held_.empty() ? confirmed_ : held_.back().up_to;
    if (up_to <= so_far) {
        return;
    }
    if (!held_.empty() && now < held_.back().closes) {
        held_.back().up_to = up_to;
        held_.back().last_event = last_event;
        held_.back().newest = newest;
        return;
    }
    held_.push_back({up_to, last_event, newest, now + span()});
}

std::chrono::milliseconds hold_back::span() const {
    return std::max(delay_ / portions_per_delay, std::chrono::milliseconds(1));
}

void hold_back::wait_again(monotonic_time now) {
    for (auto& each : held_) {
        each.closes = now + span();
    }
}

void hold_back::asked(std::uint64_t known_sequence, monotonic_time now) {
    asked_at_ = now;
    last_asked_ = now;
    asked_for_ = known_sequence;
}

void hold_back::answered() {
    const auto then = std::exchange(asked_at_, std::nullopt);
    while (then && !held_.empty() && held_.front().closes + delay_ <= *then) {
        confirm(held_.front().up_to, held_.front().newest);
        held_.pop_front();
    }
}

void hold_back::forget_held(std::optional<commit_position> kept) {
    const auto lost = std::find_if(held_.begin(), held_.end(), [&](const portion& each) {
        return !kept || (each.last_event && *each.last_event > *kept);
    });
    held_.erase(lost, held_.end());
}

std::optional<monotonic_time> hold_back::deadline() const {
    if (held_.empty() || frozen_at_ || asked_at_) {
        return std::nullopt;
    }
    return std::max(held_.front().closes + delay_, last_asked_ + shortest_pause);
}

void hold_back::freeze(monotonic_time now) {
    forget_question();
    if (!frozen_at_) {
        frozen_at_ = now;
    }
}

void hold_back::thaw(monotonic_time now, bool holds_slot) {
    const auto since = std::exchange(frozen_at_, std::nullopt);
    for (auto& each : held_) {
        each.closes += now - since.value_or(now);
    }
    if (std::exchange(slot_was_lost_, !holds_slot)) {
        wait_again(now);
    }
}

void hold_back::forget_messages(const stored_message& last) {
    const auto now = last.sequence > 0 ? std::optional(last) : std::nullopt;
    confirmed_message_ = now;
    for (auto& each : held_) {
        each.newest = now;
    }
}

void hold_back::confirm(lsn up_to, const std::optional<stored_message>& newest) {
    confirmed_ = std::max(confirmed_, up_to);
    confirmed_message_ = newest ? newest : confirmed_message_;
}

}  // namespace walrelay::relay
