// One seed from the first commit to the last confirmed position.
#pragma once

#include "sim/relay_process.hpp"

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>

namespace walrelay::sim {

struct verdict {
    /// The invariant that was broken, and how; nothing if all held.
    std::optional<std::string> violation;
    std::string profile;
    std::size_t rows = 0;
    std::size_t lost_by_the_broker = 0;
    sim_time recovery{0};  // from the end of the faults to the last row's being confirmed
    sim_time simulated{0};
};

/// Deterministic: the same seed and defect give the same verdict and the same trace.
[[nodiscard]] verdict simulate(std::uint64_t seed, canary defect, std::ostream* trace);

}  // namespace walrelay::sim
