// What is wrong with the tables that hang on an outbox table.

#include "relay/preflight_descendants.hpp"

#include "relay/findings_list.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <string_view>
#include <vector>

namespace walrelay::relay {
namespace {

constexpr int first_with_messages = 140'000;

bool is_word(char each) {
    const auto byte = static_cast<unsigned char>(each);
    return std::isalnum(byte) != 0 || each == '_' || each == '$' || byte >= 0x80U;
}

/// The end of what the quote at `from` begins.
std::size_t end_of_quoted(const std::string& sql, std::size_t from) {
    const auto closing = sql.find(sql[from], from + 1);
    return closing == std::string::npos ? sql.size() : closing + 1;
}

bool same_word(std::string_view written, const std::string& name) {
    return std::ranges::equal(written, name, [](char left, char right) {
        return std::tolower(static_cast<unsigned char>(left)) == static_cast<unsigned char>(right);
    });
}

std::string list_of(const std::vector<table_name>& tables) {
    std::string list;
    for (const auto& each : tables) {
        list += (list.empty() ? "" : ", ") + to_string(each);
    }
    return list;
}

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
    found.error("rows of " + list_of(unknown) + ", which inherit" +
                    (unknown.size() == 1 ? "s" : "") + " from table " + to_string(facts.table) +
                    ", would not be relayed: in the WAL they are rows of the child",
                "add an [[outbox]] for each child, with table = \"" + to_string(unknown.front()) +
                    "\"; or, if nothing is inserted there any more, ALTER TABLE " +
                    to_string(unknown.front()) + " NO INHERIT " + to_string(facts.table) + ";");
}

/// Where walrelay's own transactions cannot be told from others, its write-back would publish the
/// row that it moves.
void look_at_own_moves(const outbox_table& wanted, const table_facts& facts,
                       const std::string& column, findings_list& found) {
    const bool published = mentions_column(wanted.on_published, column);
    if (!published && !mentions_column(wanted.on_dead_letter, column)) {
        return;
    }
    found.error(
        "table " + to_string(facts.table) + " is partitioned by " + column + ", which " +
            (published ? "outbox.on_published" : "outbox.on_dead_letter") +
            " names: the write-back moves the row to another partition, and pgoutput of "
            "PostgreSQL 13 does not tell that from a new row, which would be published again",
        "set postgres.plugin = \"wal2json\" with a slot of its own, upgrade to PostgreSQL "
        "14, or leave the column out of the write-back");
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
    found.warning("table " + to_string(facts.table) + " is partitioned by " + column + ", which " +
                      setting +
                      " names: an UPDATE that moves a row to another partition is a DELETE and an "
                      "INSERT in the WAL, so the row is published again unless walrelay moved it",
                  "let nothing but walrelay change " + column +
                      ", or partition by a column that keeps its value, such as the time of the "
                      "INSERT");
}

}  // namespace

bool mentions_column(const std::string& sql, const std::string& name) {
    for (std::size_t at = 0; at < sql.size();) {
        std::size_t end = at + 1;
        if (sql[at] == '\'' || sql[at] == '"') {
            end = end_of_quoted(sql, at);
            if (sql[at] == '"' && sql.compare(at + 1, end - at - 2, name) == 0) {
                return true;
            }
        } else if (is_word(sql[at])) {
            end = static_cast<std::size_t>(
                std::find_if_not(sql.begin() + static_cast<std::ptrdiff_t>(at), sql.end(),
                                 is_word) -
                sql.begin());
            if (same_word(std::string_view(sql).substr(at, end - at), name)) {
                return true;
            }
        }
        at = end;
    }
    return false;
}

void look_at_descendants(const expectations& wanted, const postgres_facts& facts,
                         findings_list& found) {
    const bool unmarked = choose_plugin(wanted, facts) == output_plugin::pgoutput &&
                          facts.version_number < first_with_messages;
    for (std::size_t index = 0; index < facts.tables.size(); ++index) {
        const auto& table = facts.tables[index];
        look_at_children(wanted, table, found);
        for (const auto& column : table.partition_columns) {
            if (unmarked) {
                look_at_own_moves(wanted.tables[index], table, column, found);
            }
            look_at_moves(wanted.tables[index], table, column, found);
        }
    }
}

}  // namespace walrelay::relay
