// What must hold between settings, whichever source each of them came from.
#pragma once

#include "config/draft.hpp"

namespace walrelay::config {

/// Notes what is missing and what does not go together, each where the value in force came from. A
/// value that could not be read is not judged again.
void check_rules(draft& of);

}  // namespace walrelay::config
