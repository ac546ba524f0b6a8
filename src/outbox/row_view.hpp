// One row of an outbox table, ready to be read by role and to be complained about.
#pragma once

#include "core/change.hpp"
#include "core/error.hpp"
#include "core/position.hpp"
#include "outbox/resolved_columns.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace walrelay::outbox {

/// Refers to everything; lives no longer than the call that maps the row.
struct row_view {
    const table_plan& plan;
    const resolved_columns& columns;
    const row_insert& row;
    const position& where;

    /// Nothing for NULL and for a role that no column plays.
    [[nodiscard]] field value(column_role role) const {
        const auto& used = columns.playing(role);
        return used ? row.fields[used->index] : std::nullopt;
    }
};

/// The row with each bytea as its digits, wherever it comes from and whatever domain stands for it.
/// `kept` holds the fields where any of them is another one.
[[nodiscard]] row_insert with_plain_byteas(const row_insert& row, const resolved_columns& columns,
                                           std::vector<field>& kept);

/// An error row_unmappable: which row of which table, then `complaint`.
[[nodiscard]] error unmappable(const row_view& view, std::string_view complaint,
                               std::string remedy);

/// The same about one column; `complaint` follows its name, "is NULL".
[[nodiscard]] error unmappable(const row_view& view, std::uint32_t column_index,
                               std::string_view complaint, std::string remedy);

}  // namespace walrelay::outbox
