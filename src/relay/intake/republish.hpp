// Rows that an UPDATE publishes again (outbox.republish). Pure.
#pragma once

#include "core/change.hpp"
#include "core/lineage.hpp"
#include "core/outbox_table.hpp"
#include "core/position.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace walrelay::relay {

/// Whether the update publishes its row again: the column has the value now. Where the WAL says
/// what it was before (REPLICA IDENTITY FULL), only a change counts.
[[nodiscard]] bool publishes_again(const republish_rule& rule, const row_update& row);

/// Follows the message id of such a row, after a semicolon: `republish-<row LSN>-<index>`, on a
/// later timeline than the first `-<timeline>` as well. After the switch point, a timeline uses
/// the LSNs again that the one before it had used.
[[nodiscard]] std::string republish_occasion(const commit_position& where, const lineage& line);

/// A row as it stands in its table.
struct table_row {
    std::vector<column> columns;
    /// As many, in the same order. As core/change.hpp has them.
    std::vector<std::optional<std::string>> values;
    /// Set where the row is larger than may be taken: its bytes, and there are no columns then.
    std::uint64_t too_large_bytes = 0;
};

/// A row that the WAL does not hold whole, while what is missing is fetched from its table.
class unfinished_row {
public:
    /// Copies what the update has.
    unfinished_row(std::size_t table, commit_position where, const row_update& row);

    [[nodiscard]] std::size_t table() const { return table_; }
    [[nodiscard]] const commit_position& where() const { return where_; }

    /// What the WAL has.
    [[nodiscard]] const table_row& known() const { return known_; }
    /// `fetched` where the WAL has nothing, else the WAL: what has changed since does not matter.
    [[nodiscard]] table_row completed(table_row fetched) const;

private:
    std::size_t table_;
    commit_position where_;
    table_row known_;
};

/// Gives a row the form in which rows come from the WAL. Holds views into `of`, which must outlive
/// it.
class row_of_table {
public:
    row_of_table(const table_name& name, const table_row& of, std::uint64_t revision);

    [[nodiscard]] row_insert row() const { return {&table_, fields_}; }

private:
    relation table_;
    std::vector<field> fields_;
};

}  // namespace walrelay::relay
