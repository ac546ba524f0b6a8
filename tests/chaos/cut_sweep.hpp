// Cuts each link behind each byte of a small session, in both directions.
#pragma once

#include "chaos/scenario.hpp"
#include "chaos/trial.hpp"

namespace walrelay::chaos {

/// `plan.times` cuts over both links and both directions, evenly spread over the bytes that a
/// session has; every byte where that are fewer.
[[nodiscard]] outcome run_cut_sweep(const scenario& what, const storm_plan& plan);

[[nodiscard]] std::vector<scenario> sweep_scenarios();

}  // namespace walrelay::chaos
