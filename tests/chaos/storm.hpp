// Runs a scenario: servers, writers, the fault again and again at random moments, and the judge at
// the end.
#pragma once

#include "chaos/report.hpp"
#include "chaos/scenario.hpp"

#include <cstdint>
#include <filesystem>
#include <string>

namespace walrelay::chaos {

struct storm_plan {
    std::filesystem::path relay_program;
    std::string plugin;
    std::uint64_t times = 1;
    /// At least so many are committed while it goes on; the faults are spread over them.
    std::uint64_t rows = 1000;
    unsigned writers = 4;
    std::uint64_t rows_per_second = 2000;
    std::uint64_t seed = 1;
    /// Logs of a run that fails are kept in a folder of its own below this.
    std::filesystem::path logs;
};

/// Never throws for what the servers or the relay do: that is part of the outcome.
[[nodiscard]] outcome run_storm(const scenario& what, const storm_plan& plan);

}  // namespace walrelay::chaos
