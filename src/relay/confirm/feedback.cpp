#include "relay/confirm/feedback.hpp"

#include "wal/replication_frame.hpp"

#include <algorithm>
#include <utility>

namespace walrelay::relay {
namespace {

// With wal_sender_timeout off nobody waits for an update; the slot still wants to move.
constexpr std::chrono::milliseconds interval_max{10000};
// Long enough to tell of many transactions at once, short beside anything that reads the slot.
constexpr std::chrono::milliseconds after_confirming{20};

}  // namespace

std::chrono::milliseconds status_interval(std::chrono::milliseconds sender_timeout) {
    constexpr int updates_per_timeout = 3;
    return sender_timeout.count() > 0 ? std::min(interval_max, sender_timeout / updates_per_timeout)
                                      : interval_max;
}

void feedback::begin(std::chrono::milliseconds sender_timeout, monotonic_time now) {
    interval_ = status_interval(sender_timeout);
    due_ = now + interval_;
    // What this connection has received, and nothing else: the server stops telling where it is
    // once that is reported as written (walsender.c, WalSndWaitForWal).
    received_ = {};
    asks_ = false;
}

void feedback::received(lsn up_to) {
    received_ = std::max(received_, up_to);
}

void feedback::confirmed(lsn up_to, monotonic_time now) {
    if (up_to <= confirmed_) {
        return;
    }
    confirmed_ = up_to;
    due_at_latest(now + after_confirming);
}

void feedback::ask(monotonic_time now) {
    asks_ = true;
    due_at_latest(now + after_confirming);
}

std::string feedback::take(instant now) {
    due_ = now.monotonic + interval_;
    return wal::encode({std::max(received_, confirmed_), confirmed_, confirmed_, now.wall,
                        std::exchange(asks_, false)});
}

void feedback::due_at_latest(monotonic_time when) {
    if (due_) {
        due_ = std::min(*due_, when);
    }
}

}  // namespace walrelay::relay
