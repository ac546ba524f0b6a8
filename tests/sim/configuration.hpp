// What of a relay's configuration changes between two of its lives.
#pragma once

#include "core/outbox_table.hpp"

#include <vector>

namespace walrelay::sim {

struct configuration {
    /// The second outbox table is relayed as well.
    bool letters = false;
    bool sole_writer = true;
};

/// The outbox tables of it, in the order of their mappers.
[[nodiscard]] std::vector<outbox_table> tables_of(const configuration& wanted);

}  // namespace walrelay::sim
