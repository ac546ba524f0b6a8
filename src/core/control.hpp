// The words by which walrelay speaks to its relays through the WAL: rows of walrelay.control
// (sql/control.sql), which only those can write who were granted it.
#pragma once

#include "core/outbox_table.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace walrelay {

/// In the table's column `kind`.
namespace control_kind {
/// Rows that the transaction changes are write-backs of walrelay's own (relay/intake/own_rows.hpp).
inline constexpr std::string_view own = "own";
/// The row of a dead letter is to be published again.
inline constexpr std::string_view retry = "retry";
/// A row of earlier is published again as it was (`walrelay replay`).
inline constexpr std::string_view replay = "replay";
}  // namespace control_kind

[[nodiscard]] inline table_name control_table() {
    return {"walrelay", "control"};
}

/// Whether walrelay's updates of the table must be told from others, which would publish the row
/// again: they can be what publishes it, or set a column by which it is partitioned.
[[nodiscard]] bool needs_mark(const outbox_table& table,
                              const std::vector<std::string>& partition_columns);

}  // namespace walrelay
