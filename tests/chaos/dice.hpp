// Chance that can be repeated: all of it comes from one seed, on every machine.
#pragma once

#include <chrono>
#include <cstdint>
#include <random>

namespace walrelay::chaos {

class dice {
public:
    explicit dice(std::uint64_t seed) : engine_(seed) {}

    /// Evenly, both ends included. Not std::uniform_int_distribution, which each library does in
    /// its own way.
    [[nodiscard]] std::uint64_t between(std::uint64_t low, std::uint64_t high) {
        return low + engine_() % (high - low + 1);
    }
    [[nodiscard]] bool one_in(std::uint64_t count) { return between(1, count) == 1; }
    [[nodiscard]] std::chrono::milliseconds duration(std::chrono::milliseconds low,
                                                     std::chrono::milliseconds high) {
        return std::chrono::milliseconds(between(static_cast<std::uint64_t>(low.count()),
                                                 static_cast<std::uint64_t>(high.count())));
    }

private:
    std::mt19937_64 engine_;
};

}  // namespace walrelay::chaos
