// What a database has been asked, as pg_stat_statements counts it.
#pragma once

#include "harness/bed.hpp"

#include <optional>
#include <string>
#include <vector>

namespace walrelay::bench {

/// Settings of a bed whose statements are to be counted.
[[nodiscard]] inline std::vector<std::string> counting_settings() {
    return {"shared_preload_libraries = pg_stat_statements"};
}

/// Begins to count; the bed must have those settings.
void count_statements(const bed& on);

/// Statements so far of everybody but the writers; nothing where they are not counted.
[[nodiscard]] std::optional<double> statements_so_far(const bed& on);

}  // namespace walrelay::bench
