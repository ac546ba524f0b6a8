// Figures as tables: medians, with the least and the most of the repetitions beside them.
#pragma once

#include "harness/results.hpp"

#include <string>
#include <vector>

namespace walrelay::bench {

enum class table_form { text, markdown };

using table_row = std::vector<std::string>;

/// The first row is the head; its first two columns are names, the others numbers.
[[nodiscard]] std::string formatted(const std::vector<table_row>& rows, table_form form);

/// One part, with the columns that the part is about.
[[nodiscard]] std::string table_of(const results& from, const std::string& part, table_form form);

}  // namespace walrelay::bench
