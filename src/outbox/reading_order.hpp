// The order in which rows that come from a query are published: as near as the table can tell to
// the order in which they were written.
#pragma once

#include "core/change.hpp"
#include "core/error.hpp"
#include "core/outbox_table.hpp"
#include "outbox/type_kind.hpp"

#include <string>
#include <vector>

namespace walrelay::outbox {

struct reading_order {
    /// Columns to sort by; empty where the table has none that tells.
    std::vector<std::string> columns;
    /// A row that was written later comes later, but for rows that were written side by side. Not
    /// so where ids are random and no time is known.
    bool follows_time = false;
};

/// Errors: configuration_invalid for the templates, row_unmappable where a column is missing.
[[nodiscard]] result<reading_order> reading_order_of(const outbox_table& table,
                                                     const std::vector<column>& columns,
                                                     const domain_types& domains);

}  // namespace walrelay::outbox
