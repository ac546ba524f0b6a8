// Scenarios that are neither a storm nor end with a report: odd rows, two first starts at once, and
// the judge himself on trial.
#pragma once

#include "chaos/scenario.hpp"

#include <vector>

namespace walrelay::chaos {

[[nodiscard]] std::vector<scenario> special_scenarios();

}  // namespace walrelay::chaos
