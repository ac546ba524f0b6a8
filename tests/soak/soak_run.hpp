// One soak with one plugin, from the start of the servers to what the judge says.
#pragma once

#include "soak/pace.hpp"
#include "soak/soak_report.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

namespace walrelay::soak {

struct soak_plan {
    std::filesystem::path relay_program;
    std::string plugin;
    std::chrono::seconds duration{};
    pace how{};
    std::uint64_t rows_per_second = 120;
    std::uint64_t seed = 1;
    /// Which restart comes first; see restart().
    std::size_t first_restart = 0;
    limits bounds{};
    /// The relay stands still once for longer than a row may wait, and nothing excuses it.
    bool canary = false;
    /// The logs of a run that fails go into a folder of its own below this.
    std::filesystem::path logs;
};

/// `say` is told from time to time how it is going. To be called from the main thread, which starts
/// all processes, as child_process asks.
[[nodiscard]] soak_outcome run_soak(const soak_plan& plan,
                                    const std::function<void(const std::string&)>& say);

}  // namespace walrelay::soak
