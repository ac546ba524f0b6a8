// Figures as tables of text: medians, with the least and the most of the repetitions beside them.
#pragma once

#include "harness/results.hpp"

#include <string>

namespace walrelay::bench {

/// One part, with the columns that the part is about.
[[nodiscard]] std::string table_of(const results& from, const std::string& part);

}  // namespace walrelay::bench
