// What is asked of an outbox table besides publishing its rows. Plain data, from the configuration.
#pragma once

#include "core/outbox_table.hpp"

#include <optional>
#include <vector>

namespace walrelay::relay {

struct table_duties {
    /// A row that is published is changed or deleted in the table (relay/write_backs).
    bool writes_back = false;
    /// An UPDATE that publishes the row again.
    std::optional<republish_rule> republish = std::nullopt;
    /// A write-back or a dead letter changes the row, which can move it to another partition.
    bool updates_rows = false;
};

/// One for each table of the configuration, in its order; tables that are left out have none.
using all_duties = std::vector<table_duties>;

}  // namespace walrelay::relay
