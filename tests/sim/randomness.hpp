// The only source of chance in a simulation: the same seed gives the same numbers with every
// compiler and library, which std::uniform_int_distribution does not promise.
#pragma once

#include "core/assert.hpp"

#include <array>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace walrelay::sim {

/// Simulated time and spans of it; a point in time counts from the start of the simulation.
using sim_time = std::chrono::microseconds;

/// xoshiro256** (Blackman and Vigna, "Scrambled linear pseudorandom number generators", 2018), its
/// state filled by splitmix64.
class randomness {
public:
    explicit randomness(std::uint64_t seed) {
        for (auto& word : state_) {
            seed += 0x9E3779B97F4A7C15U;
            std::uint64_t mixed = seed;
            mixed = (mixed ^ (mixed >> 30U)) * 0xBF58476D1CE4E5B9U;
            mixed = (mixed ^ (mixed >> 27U)) * 0x94D049BB133111EBU;
            word = mixed ^ (mixed >> 31U);
        }
    }

    std::uint64_t next() {
        const auto drawn = std::rotl(state_[1] * 5, 7) * 9;
        const auto shifted = state_[1] << 17U;
        state_[2] ^= state_[0];
        state_[3] ^= state_[1];
        state_[1] ^= state_[2];
        state_[0] ^= state_[3];
        state_[2] ^= shifted;
        state_[3] = std::rotl(state_[3], 45);
        return drawn;
    }

    /// 0 to count - 1. The bias of the remainder is far below what a simulation can notice.
    std::uint64_t below(std::uint64_t count) {
        WALRELAY_ASSERT(count > 0);
        return next() % count;
    }
    /// Both ends included.
    std::uint64_t between(std::uint64_t least, std::uint64_t most) {
        return least + below(most - least + 1);
    }
    sim_time between(sim_time least, sim_time most) {
        return least + sim_time(below(static_cast<std::uint64_t>((most - least).count()) + 1));
    }
    bool chance(std::uint64_t per_mille) { return below(1000) < per_mille; }

    /// Mostly small numbers, now and then one of another size: 1 to most.
    std::uint64_t skewed(std::uint64_t most) { return between(1, between(1, most)); }

    template <class Value, std::size_t Count>
    Value pick(const std::array<Value, Count>& from) {
        return from[below(Count)];
    }

private:
    std::array<std::uint64_t, 4> state_{};
};

}  // namespace walrelay::sim
