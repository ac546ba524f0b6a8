// Values of variables and flags go into the draft.
#pragma once

#include "config/draft.hpp"
#include "config/load.hpp"

namespace walrelay::config {

/// Every variable must stand for a key, but for those that Kubernetes sets by itself beside a
/// service of the name walrelay.
void take_environment(const environment& variables, draft& to);

void take_flags(const flag_values& flags, draft& to);

}  // namespace walrelay::config
