#include "core/control.hpp"

#include "core/sql_text.hpp"

#include <algorithm>

namespace walrelay {

bool needs_mark(const outbox_table& table, const std::vector<std::string>& partition_columns) {
    const bool moves = std::any_of(partition_columns.begin(), partition_columns.end(),
                                   [&](const std::string& column) {
                                       return mentions_column(table.on_published, column) ||
                                              mentions_column(table.on_dead_letter, column);
                                   });
    return table.updates_rows() && (moves || table.republish.has_value());
}

}  // namespace walrelay
