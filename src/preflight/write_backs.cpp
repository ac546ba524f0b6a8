// What stands in the way of write-backs: a missing id, a right, a statement that PostgreSQL
// refuses.

#include "preflight/write_backs.hpp"

#include "core/finding.hpp"
#include "core/joined.hpp"
#include "core/sql_text.hpp"

#include <algorithm>

namespace walrelay::preflight {
namespace {

bool has_column(const table_facts& facts, const std::string& name) {
    return std::ranges::find(facts.columns, name, &column::name) != facts.columns.end();
}

/// Names are found nowhere where somebody else could have put what they then stand for.
std::string where_names_are_found(const std::vector<std::string>& open_schemas,
                                  const std::string& role) {
    if (open_schemas.empty()) {
        return "names outside the search_path of role " + role + " need their schema";
    }
    return "names in schema " + joined(open_schemas, ", ", quote_identifier) +
           " need their schema, as roles that are not to be trusted may create objects there or "
           "own functions (\\dn+ and \\df in psql show them); or REVOKE CREATE ON SCHEMA " +
           quote_identifier(open_schemas.front()) + " FROM PUBLIC;";
}

void look_at_refused(const refused_statement& refused, const table_facts& facts,
                     const postgres_facts& all, findings_list& found) {
    // Rows of before the slot are read by the relay's own role.
    const auto& role = refused.setting == "outbox.pending" ? all.role : all.writing_role();
    const auto name = to_string(facts.table);
    if (!refused.missing_right.empty()) {
        found.error("statement_not_allowed",
                    "the role " + role + " may not run " + refused.setting + " of table " + name +
                        " (server: " + refused.server_said + ")",
                    "GRANT " + refused.missing_right + " ON " + quote_table(facts.table) + " TO " +
                        quote_identifier(role) + ";");
        return;
    }
    found.error("statement_refused",
                "PostgreSQL refuses " + refused.setting + " of table " + name + ": " +
                    refused.statement + " (server: " + refused.server_said + ")",
                "correct " + refused.setting + " in the configuration; " +
                    where_names_are_found(all.open_schemas, role));
}

void look_at_republish(const outbox_table& wanted, const table_facts& facts,
                       const std::string& role, findings_list& found) {
    const auto name = to_string(facts.table);
    const auto key = wanted.columns.id.value_or("id");
    if (!has_column(facts, wanted.republish->column)) {
        found.error("republish_column_missing",
                    "table " + name + " has no column " + wanted.republish->column +
                        ", which outbox.republish names",
                    "name another column in outbox.republish");
    }
    if (!has_column(facts, key)) {
        found.error("id_column_missing",
                    "table " + name + " has no column " + key +
                        ", by which a row that is published again is found",
                    "name the column that identifies a row in outbox.columns: id = \"...\"");
    }
    if (!facts.readable) {
        found.error(
            "table_not_readable",
            "the role " + role + " may not read table " + name +
                ", which outbox.republish needs for rows with large values",
            "GRANT SELECT ON " + quote_table(facts.table) + " TO " + quote_identifier(role) + ";");
    }
}

/// wal2json leaves the updates of such a table out; with pgoutput PostgreSQL refuses them.
void look_at_identity(const table_facts& facts, bool publishes_again, findings_list& found) {
    if (facts.identified) {
        return;
    }
    const auto consequence = publishes_again
                                 ? std::string("outbox.republish needs one")
                                 : std::string(
                                       "PostgreSQL refuses every UPDATE of a table without one "
                                       "whose publication publishes updates, which "
                                       "outbox.republish of another table needs");
    found.error("replica_identity_missing",
                "table " + to_string(facts.table) +
                    (facts.partitioned ? ", or a partition of it," : "") +
                    " has no primary key and no REPLICA IDENTITY, and " + consequence,
                "ALTER TABLE " + quote_table(facts.table) + " REPLICA IDENTITY FULL;" +
                    (facts.partitioned ? " and the same for each partition" : ""));
}

}  // namespace

void look_at_republish(const std::vector<outbox_table>& wanted, const postgres_facts& facts,
                       output_plugin plugin, findings_list& found) {
    const bool any = std::ranges::any_of(
        wanted, [](const outbox_table& each) { return each.republish.has_value(); });
    if (!any) {
        return;
    }
    for (std::size_t index = 0; index < facts.tables.size(); ++index) {
        const auto& table = facts.tables[index];
        const bool publishes_again = wanted[index].republish.has_value();
        if (!table.exists) {
            continue;
        }
        if (publishes_again) {
            look_at_republish(wanted[index], table, facts.role, found);
        }
        if (publishes_again || plugin == output_plugin::pgoutput) {
            look_at_identity(table, publishes_again, found);
        }
    }
}

void look_at_write_backs(const outbox_table& wanted, const table_facts& facts,
                         const postgres_facts& all, findings_list& found) {
    const bool writes = wanted.updates_rows() || wanted.delete_after;
    const auto key = wanted.columns.id.value_or("id");
    if (writes && !has_column(facts, key)) {
        found.error("id_column_missing",
                    "table " + to_string(facts.table) + " has no column " + key +
                        ", and its rows are to be written back or deleted by their id",
                    "name the column that identifies a row in outbox.columns: id = \"...\"");
    }
    for (const auto& refused : facts.refused) {
        look_at_refused(refused, facts, all, found);
    }
}

}  // namespace walrelay::preflight
