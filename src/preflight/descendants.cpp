// What is wrong with the tables that hang on an outbox table.

#include "preflight/descendants.hpp"

#include "core/finding.hpp"
#include "core/joined.hpp"
#include "core/sql_text.hpp"

#include <algorithm>
#include <vector>

namespace walrelay::preflight {
namespace {

/// PostgreSQL writes a row that goes into a child under the child's own name.
void look_at_children(const expectations& wanted, const table_facts& facts, findings_list& found) {
    std::vector<table_name> unknown;
    for (const auto& child : facts.children) {
        const bool configured = std::ranges::any_of(
            wanted.tables, [&](const outbox_table& each) { return each.table == child; });
        if (!configured) {
            unknown.push_back(child);
        }
    }
    if (unknown.empty()) {
        return;
    }
    const auto name = [](const table_name& each) { return to_string(each); };
    found.error("child_tables_not_relayed",
                "rows of " + joined(unknown, ", ", name) + ", which inherit" +
                    (unknown.size() == 1 ? "s" : "") + " from table " + to_string(facts.table) +
                    ", would not be relayed: in the WAL they are rows of the child",
                "add an [[outbox]] for each child, with table = '" + quote_table(unknown.front()) +
                    "'; or, if nothing is inserted there any more, ALTER TABLE " +
                    quote_table(unknown.front()) + " NO INHERIT " + quote_table(facts.table) + ";");
}

void look_at_moves(const outbox_table& wanted, const table_facts& facts, const std::string& column,
                   findings_list& found) {
    const char* const setting =
        wanted.republish && wanted.republish->column == column ? "outbox.republish"
        : mentions_column(wanted.pending, column)              ? "outbox.pending"
        : mentions_column(wanted.on_published, column)         ? "outbox.on_published"
                                                               : nullptr;
    if (setting == nullptr) {
        return;
    }
    found.warning("moved_rows_published_again",
                  "table " + to_string(facts.table) + " is partitioned by " + column + ", which " +
                      setting +
                      " names: an UPDATE that moves a row to another partition is a DELETE and an "
                      "INSERT in the WAL, so the row is published again unless walrelay moved it",
                  "let nothing but walrelay change " + column +
                      ", or partition by a column that keeps its value, such as the time of the "
                      "INSERT");
}

}  // namespace

void look_at_descendants(const expectations& wanted, const postgres_facts& facts,
                         findings_list& found) {
    for (std::size_t index = 0; index < facts.tables.size(); ++index) {
        const auto& table = facts.tables[index];
        look_at_children(wanted, table, found);
        for (const auto& column : table.partition_columns) {
            look_at_moves(wanted.tables[index], table, column, found);
        }
    }
}

}  // namespace walrelay::preflight
