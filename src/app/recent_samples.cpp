#include "app/recent_samples.hpp"

#include <algorithm>
#include <cstddef>

namespace walrelay::app {
namespace {

constexpr std::size_t marks_of_a_minute = 61;
constexpr std::size_t samples_of_15_minutes = 900;

template <class Duration>
double seconds(Duration time) {
    return std::chrono::duration<double>(time).count();
}

float seconds_or_unknown(const std::optional<std::chrono::microseconds>& time) {
    return time ? static_cast<float>(seconds(*time)) : -1;
}

float share_of(std::size_t part, std::size_t whole) {
    return whole > 0 ? static_cast<float>(static_cast<double>(part) / static_cast<double>(whole))
                     : 0;
}

std::uint64_t rows_in(const relay_counts& counts) {
    std::uint64_t rows = 0;
    for (const auto& table : counts.tables) {
        rows += table.rows_received;
    }
    return rows;
}

}  // namespace

recent_samples::mark recent_samples::mark_of(instant now, const relay_counts& counts) {
    return {now.monotonic, rows_in(counts), counts.messages_stored, counts.commit_to_ack.counts()};
}

void recent_samples::add(instant now, const relay_counts& counts, const relay_status& status,
                         const std::optional<slot_usage>& slot) {
    const auto here = mark_of(now, counts);
    http::sample one{now.wall};
    one.lag_seconds = seconds_or_unknown(status.lag);
    one.window_share = share_of(status.window_messages, status.window_limit_messages);
    if (!marks_.empty()) {
        const auto& before = marks_.back();
        const auto passed = seconds(here.at - before.at);
        const auto per_second = [&](std::uint64_t more) {
            return passed > 0 ? static_cast<float>(static_cast<double>(more) / passed) : 0;
        };
        one.rows_per_second = per_second(here.rows - before.rows);
        one.messages_per_second = per_second(here.messages - before.messages);
        one.p50_seconds = seconds_or_unknown(quantile(before.latencies, here.latencies, 0.5));
        one.p99_seconds = seconds_or_unknown(quantile(before.latencies, here.latencies, 0.99));
    }
    if (slot) {
        one.slot_lag_bytes = static_cast<float>(slot->lag_bytes);
        one.retained_bytes = static_cast<float>(slot->retained_bytes);
    }
    marks_.push_back(here);
    if (marks_.size() > marks_of_a_minute) {
        marks_.pop_front();
    }
    samples_.push_back(one);
    if (samples_.size() > samples_of_15_minutes) {
        samples_.pop_front();
    }
}

http::recent_rates recent_samples::rates(instant now, const relay_counts& counts) const {
    http::recent_rates rates;
    if (marks_.empty()) {
        return rates;
    }
    const auto& from = marks_.front();
    const auto to = mark_of(now, counts);
    const auto passed = std::max(seconds(to.at - from.at), 0.001);
    rates.rows_per_second = static_cast<double>(to.rows - from.rows) / passed;
    rates.messages_per_second = static_cast<double>(to.messages - from.messages) / passed;
    rates.p50 = quantile(from.latencies, to.latencies, 0.5);
    rates.p99 = quantile(from.latencies, to.latencies, 0.99);
    return rates;
}

std::optional<http::sample> recent_samples::last() const {
    return samples_.empty() ? std::nullopt : std::optional(samples_.back());
}

}  // namespace walrelay::app
