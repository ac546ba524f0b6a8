#include "core/wal_forecast.hpp"

#include <algorithm>

namespace walrelay {

using namespace std::chrono_literals;

void wal_forecast::add(monotonic_time at, std::optional<std::int64_t> safe_wal_bytes) {
    constexpr auto looks_back = 5min;
    if (!safe_wal_bytes) {
        readings_.clear();
        return;
    }
    readings_.push_back({at, *safe_wal_bytes});
    while (at - readings_.front().at > looks_back) {
        readings_.pop_front();
    }
}

std::optional<std::chrono::seconds> wal_forecast::left() const {
    constexpr auto watched_at_least = 30s;
    if (readings_.empty()) {
        return std::nullopt;
    }
    const auto& first = readings_.front();
    const auto& last = readings_.back();
    const auto passed = std::chrono::duration<double>(last.at - first.at);
    const auto taken = static_cast<double>(first.safe_wal_bytes - last.safe_wal_bytes);
    if (passed < watched_at_least || taken <= 0) {
        return std::nullopt;
    }
    // At the very edge it is lost with the next checkpoint.
    const auto rest = static_cast<double>(std::max<std::int64_t>(last.safe_wal_bytes, 0));
    constexpr double longest_seconds = 1e9;
    return std::chrono::seconds(static_cast<std::chrono::seconds::rep>(
        std::min(rest / taken * passed.count(), longest_seconds)));
}

}  // namespace walrelay
