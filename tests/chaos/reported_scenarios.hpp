// Faults that the relay cannot fix without an operator, or can only name: it must stop with exit
// code 3 and say which command heals it. What it did deliver must still be flawless.
#pragma once

#include "chaos/scenario.hpp"

#include <vector>

namespace walrelay::chaos {

[[nodiscard]] std::vector<scenario> reported_scenarios();

/// nats-server forgets what it acked and the slot has confirmed: seen only by the relay that runs.
void lose_power_unguarded(arena& where);

}  // namespace walrelay::chaos
