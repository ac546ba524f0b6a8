// What the values of a table's columns stand in the way of.
#include "preflight/values.hpp"

#include "core/ascii.hpp"
#include "core/joined.hpp"
#include "core/sql_text.hpp"
#include "outbox/resolved_columns.hpp"
#include "outbox/table_plan.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace walrelay::preflight {
namespace {

bool is_among(const std::vector<std::string>& names, const std::string& name) {
    return std::ranges::find(names, name) != names.end();
}

/// The columns of each pair of braces of the subject that a NULL in all of them spoils.
std::vector<std::string> columns_that_must_be_there(const outbox::table_plan& plan,
                                                    const outbox::resolved_columns& resolved,
                                                    const table_facts& facts) {
    std::vector<std::string> names;
    std::size_t next = 0;
    for (const auto& part : plan.subject.parts()) {
        std::vector<std::string> all;
        for (std::size_t each = 0; each < part.names.size(); ++each, ++next) {
            all.push_back(facts.columns[resolved.subject[next]].name);
        }
        const bool can_be_null = !all.empty() && !part.otherwise &&
                                 std::ranges::all_of(all, [&](const std::string& each) {
                                     return is_among(facts.nullable, each);
                                 });
        if (can_be_null) {
            names.push_back(joined(all, " and "));
        }
    }
    return names;
}

/// The columns of the message id, and that by which rows are put in order.
std::vector<std::string> columns_to_compare(const outbox::resolved_columns& resolved,
                                            const table_facts& facts) {
    auto indexes = resolved.message_id;
    if (const auto& created = resolved.playing(column_role::created_at)) {
        indexes.push_back(created->index);
    }
    std::vector<std::string> names;
    for (const auto index : indexes) {
        const auto& name = facts.columns[index].name;
        if (!is_among(names, name)) {
            names.push_back(name);
        }
    }
    return names;
}

std::optional<outbox::resolved_columns> resolve(const outbox::table_plan& plan,
                                                const table_facts& facts,
                                                const postgres_facts& all) {
    auto resolved = outbox::resolve(plan, facts.columns, all.domains);
    return resolved.problems.empty() ? std::optional(std::move(resolved)) : std::nullopt;
}

bool begins_like_a_number(std::string_view text) {
    text.remove_prefix(text.starts_with('-') ? 1 : 0);
    return !text.empty() && is_digit(text.front());
}

/// Whether PostgreSQL can print it for a value of that kind, as far as that is easily told.
bool can_be_printed(const std::string& text, outbox::type_kind kind) {
    switch (kind) {
        case outbox::type_kind::boolean:
            return text == "t" || text == "f";
        case outbox::type_kind::number:
        case outbox::type_kind::timestamp:
            return begins_like_a_number(text) || text == "NaN" || text == "infinity" ||
                   text == "-infinity" || text == "Infinity" || text == "-Infinity";
        default:
            return true;
    }
}

const char* how_it_is_printed(outbox::type_kind kind) {
    return kind == outbox::type_kind::boolean  ? "a boolean is t or f"
           : kind == outbox::type_kind::number ? "a number is written as digits"
                                               : "a time is written like 2026-01-31 12:00:00+00";
}

}  // namespace

void look_at_nulls(const outbox_table& wanted, const table_facts& facts, const postgres_facts& all,
                   findings_list& found) {
    const auto plan = outbox::make_plan(wanted);
    const auto resolved = plan ? resolve(*plan, facts, all) : std::nullopt;
    if (!resolved) {
        return;
    }
    const auto columns = columns_that_must_be_there(*plan, *resolved, facts);
    if (!columns.empty()) {
        found.note("subject_can_be_null",
                   "table " + to_string(facts.table) + ": " + joined(columns) +
                       " can be NULL, and the subject \"" + wanted.subject +
                       "\" needs a value: a row without one becomes a dead letter",
                   "name a text for it, {column|'none'}, or another column, {column|other}; or let "
                   "the database refuse it: ALTER TABLE " +
                       quote_table(facts.table) + " ALTER COLUMN ... SET NOT NULL;");
    }
}

void look_at_comparing(const outbox_table& wanted, const table_facts& facts,
                       const postgres_facts& all, findings_list& found) {
    const auto plan = outbox::make_plan(wanted);
    const auto resolved = plan ? resolve(*plan, facts, all) : std::nullopt;
    if (!resolved || (wanted.republish && !facts.readable)) {
        return;  // said elsewhere
    }
    auto columns = columns_to_compare(*resolved, facts);
    // Which rows were there before the slot began.
    columns.emplace_back("xmin");
    std::erase_if(columns, [&](const auto& each) { return !is_among(facts.unreadable, each); });
    const auto role = quote_identifier(all.role);
    std::vector<std::string> grants;
    if (!facts.reachable) {
        grants.push_back("GRANT USAGE ON SCHEMA " + quote_identifier(facts.table.schema) + " TO " +
                         role + ";");
    }
    if (!columns.empty()) {
        grants.push_back("GRANT SELECT (" + joined(columns, ", ", quote_identifier) + ") ON " +
                         quote_table(facts.table) + " TO " + role + ";");
    }
    if (!grants.empty()) {
        found.note("table_not_readable",
                   "the role " + all.role + " may not read " +
                       (columns.empty() ? "what is in schema " + facts.table.schema
                                        : joined(columns) + " of table " + to_string(facts.table)) +
                       ", so that rows cannot be compared with the stream, neither by walrelay "
                       "verify nor by the startup check, which looks for rows that the slot has "
                       "left out",
                   joined(grants, " "));
    }
}

void look_at_index(const outbox_table& wanted, const table_facts& facts, findings_list& found) {
    const auto key = wanted.columns.id.value_or("id");
    const bool looks_rows_up = wanted.updates_rows() || wanted.delete_after || wanted.republish;
    if (looks_rows_up && is_among(facts.unindexed, key)) {
        found.warning(
            "id_not_indexed",
            "table " + to_string(facts.table) + " has no index that begins with " + key +
                ", by which its rows are written back, deleted or read again: each time "
                "PostgreSQL reads the whole table",
            "CREATE UNIQUE INDEX CONCURRENTLY ON " + quote_table(facts.table) + " (" +
                quote_identifier(key) + ");" +
                (facts.partitioned ? " without CONCURRENTLY, as the table is partitioned; "
                                     "UNIQUE only with the columns of its partitions"
                                   : ""));
    }
}

void look_at_republished_value(const outbox_table& wanted, const table_facts& facts,
                               const postgres_facts& all, findings_list& found) {
    if (!wanted.republish || !wanted.republish->value) {
        return;
    }
    const auto& rule = *wanted.republish;
    const auto column = std::ranges::find(facts.columns, rule.column, &column::name);
    if (column == facts.columns.end()) {
        return;  // said elsewhere
    }
    const auto kind = outbox::kind_of(column->type, all.domains);
    if (!can_be_printed(*rule.value, kind)) {
        found.warning(
            "republish_never_fires",
            "outbox.republish waits for " + rule.column + " = \"" + *rule.value + "\" in table " +
                to_string(facts.table) + ", which no row can have: no UPDATE publishes a row again",
            std::string("write the value as PostgreSQL prints it (") + how_it_is_printed(kind) +
                "); for NULL write { column = \"" + rule.column + "\", is = \"null\" }");
    }
}

}  // namespace walrelay::preflight
