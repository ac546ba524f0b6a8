#include "preflight/names.hpp"

#include "core/sql_text.hpp"

namespace walrelay::preflight {
namespace {

void look_at_owners(const expectations& wanted, const postgres_facts& facts, findings_list& found) {
    for (const auto& each : facts.taken_tables) {
        const auto name = to_string(each.table);
        found.error("table_taken_over",
                    "table " + name + " belongs to the role " + each.owner + ", and belonged to " +
                        each.owner_before +
                        " when it was first relayed: it may be another table that has taken the "
                        "name. Nothing is published, and the slot keeps what there is",
                    "if it is the outbox: UPDATE walrelay.witness SET owners = owners - " +
                        quote_literal(name) + " WHERE slot = " + quote_literal(wanted.slot) +
                        "; else rename it, give the outbox its name back, and start again");
    }
}

/// As the owner of the schema, or a superuser.
std::string close_sql(const open_schema& open, const postgres_facts& facts) {
    const auto schema = quote_identifier(open.name);
    if (!open.owned) {
        return "REVOKE CREATE ON SCHEMA " + schema + " FROM " + open.makers + ";";
    }
    for (const auto& each : facts.tables) {
        if (each.table.schema == open.name && !each.owner.empty()) {
            return "ALTER SCHEMA " + schema + " OWNER TO " + quote_identifier(each.owner) + ";";
        }
    }
    return "ALTER SCHEMA " + schema + " OWNER TO " + quote_identifier(facts.role) + ";";
}

bool lists_tables(const publication_facts& publication) {
    return !publication.for_all_tables && !publication.for_schemas;
}

}  // namespace

void look_at_names(const expectations& wanted, const postgres_facts& facts, output_plugin plugin,
                   findings_list& found) {
    look_at_owners(wanted, facts, found);
    const bool is_listed = !facts.publication || lists_tables(*facts.publication);
    if (plugin == output_plugin::pgoutput && is_listed) {
        return;
    }
    for (const auto& each : facts.open_names) {
        const auto who = each.makers + " may create tables in the schema " + each.name;
        if (plugin == output_plugin::wal2json) {
            found.error(
                "names_open_to_others",
                who +
                    ", and wal2json tells the name of a table and not which one it is: rows "
                    "of a table that takes the name of a dropped or renamed outbox or "
                    "partition would be published",
                close_sql(each, facts) +
                    " Or, with every relay stopped, set postgres.plugin = \"pgoutput\", "
                    "then: walrelay init --switch-plugin");
        } else {
            found.warning(
                "names_open_to_others",
                who + ", and publication " + wanted.publication +
                    " has whatever is made there: rows of a table that takes the name of "
                    "a dropped or renamed outbox become dead letters",
                "make a publication of the outboxes alone; or: " + close_sql(each, facts));
        }
    }
}

}  // namespace walrelay::preflight
