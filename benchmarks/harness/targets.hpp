// What walrelay wants to reach, beside what a run has measured of it.
#pragma once

#include "harness/results.hpp"
#include "harness/tables.hpp"

#include <string>

namespace walrelay::bench {

/// A line for each target that there are figures for; empty if there are none.
[[nodiscard]] std::string targets_of(const results& from, table_form form);

}  // namespace walrelay::bench
