// The last 15 minutes of a relay, a sample a second, and its rates over the last minute. Plain
// arithmetic: it is told what was counted.
#pragma once

#include "core/instant.hpp"
#include "core/latency_histogram.hpp"
#include "core/relay_counts.hpp"
#include "core/relay_status.hpp"
#include "core/usage.hpp"
#include "http/report.hpp"

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

namespace walrelay::app {

class recent_samples {
public:
    /// What a second ends with. `slot`: nothing where it is not known.
    void add(instant now, const relay_counts& counts, const relay_status& status,
             const std::optional<slot_usage>& slot);
    /// Of the last minute, up to now, so that who asks right after a row finds it.
    [[nodiscard]] http::recent_rates rates(instant now, const relay_counts& counts) const;
    [[nodiscard]] std::optional<http::sample> last() const;
    [[nodiscard]] std::vector<http::sample> all() const {
        return {samples_.begin(), samples_.end()};
    }

private:
    /// What is counted, at one moment.
    struct mark {
        monotonic_time at;
        std::uint64_t rows = 0;
        std::uint64_t messages = 0;
        latency_histogram::ranges latencies{};
    };
    [[nodiscard]] static mark mark_of(instant now, const relay_counts& counts);

    std::deque<mark> marks_;
    std::deque<http::sample> samples_;
};

}  // namespace walrelay::app
