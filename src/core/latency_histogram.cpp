#include "core/latency_histogram.hpp"

namespace walrelay {

std::optional<std::chrono::microseconds> quantile(const latency_histogram::ranges& before,
                                                  const latency_histogram::ranges& after,
                                                  double share) {
    const auto& bounds = latency_histogram::bounds_microseconds;
    std::uint64_t all = 0;
    for (std::size_t range = 0; range < after.size(); ++range) {
        all += after[range] - before[range];
    }
    if (all == 0) {
        return std::nullopt;
    }
    const auto wanted = share * static_cast<double>(all);
    double passed = 0;
    for (std::size_t range = 0; range < bounds.size(); ++range) {
        const auto here = static_cast<double>(after[range] - before[range]);
        if (here > 0 && passed + here >= wanted) {
            const auto from = range == 0 ? 0.0 : static_cast<double>(bounds[range - 1]);
            const auto to = static_cast<double>(bounds[range]);
            const auto at = from + (to - from) * (wanted - passed) / here;
            return std::chrono::microseconds(static_cast<std::int64_t>(at));
        }
        passed += here;
    }
    return std::chrono::microseconds(bounds.back());
}

}  // namespace walrelay
