// The usual scenario: writers work, the fault comes again and again at random moments, and the
// judge speaks at the end.
#pragma once

#include "chaos/scenario.hpp"
#include "chaos/trial.hpp"

namespace walrelay::chaos {

/// Never throws for what the servers or the relay do: that is part of the outcome.
[[nodiscard]] outcome run_storm(const scenario& what, const storm_plan& plan);

}  // namespace walrelay::chaos
