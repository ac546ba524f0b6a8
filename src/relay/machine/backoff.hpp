// How long to wait before the next try: longer each time, never the same for two relays.
#pragma once

#include <chrono>
#include <cstdint>

namespace walrelay::relay {

struct backoff_limits {
    std::chrono::milliseconds initial{100};
    std::chrono::milliseconds max{30000};
};

/// Exponential with jitter: the n-th delay lies between half of and the whole of
/// min(initial * 2^n, max). Pure: the random sequence comes from the seed.
class backoff {
public:
    backoff(backoff_limits limits, std::uint64_t seed) : limits_(limits), random_(seed | 1U) {}

    /// The delay before the next try.
    [[nodiscard]] std::chrono::milliseconds next();

    /// A try succeeded: the next delay is the shortest again.
    void reset() { tries_ = 0; }

    [[nodiscard]] std::uint32_t tries() const { return tries_; }

private:
    backoff_limits limits_;
    std::uint64_t random_;
    std::uint32_t tries_ = 0;
};

}  // namespace walrelay::relay
