#include "preflight/guards.hpp"

#include "core/finding.hpp"
#include "core/joined.hpp"
#include "core/sql_text.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace walrelay::preflight {
namespace {

bool has(const std::vector<std::string>& all, const std::string& one) {
    return std::ranges::find(all, one) != all.end();
}

void look_at_row_security(const outbox_table& wanted, const table_facts& facts,
                          const std::string& role, findings_list& found) {
    if (facts.hidden_from.empty()) {
        return;
    }
    const auto name = to_string(facts.table);
    const auto remedy = "CREATE POLICY walrelay ON " + quote_table(facts.table) + " TO " +
                        quote_identifier(role) +
                        " USING (true); and name other roles in its restrictive policies: ALTER "
                        "POLICY ... TO ...";
    const bool from_updates = wanted.updates_rows() && has(facts.hidden_from, "UPDATE");
    const bool from_deletes = wanted.delete_after && has(facts.hidden_from, "DELETE");
    const bool from_both =
        (wanted.updates_rows() || wanted.delete_after) && has(facts.hidden_from, "SELECT");
    if (from_updates || from_deletes || from_both) {
        found.error("row_security_hides_rows",
                    "row-level security of table " + name + " can hide rows from " +
                        joined(facts.hidden_from) + " of role " + role +
                        ": rows would be published, and neither updated nor deleted as the "
                        "configuration says, without an error",
                    remedy);
        return;
    }
    if (has(facts.hidden_from, "SELECT")) {
        found.warning("row_security_hides_rows",
                      "row-level security of table " + name + " can hide rows from role " + role +
                          ": walrelay verify, snapshots and healing do not read it then; what is "
                          "relayed from the slot does not depend on it",
                      "run these as the owner of the table, or: ALTER ROLE " +
                          quote_identifier(role) +
                          " BYPASSRLS; which lets the role see the rows of every table that it may "
                          "read");
    }
}

void look_at_triggers(const outbox_table& wanted, const table_facts& facts, findings_list& found) {
    if (!wanted.updates_rows() && !wanted.delete_after) {
        return;
    }
    const auto name = to_string(facts.table);
    constexpr const char* runs =
        ", and what they run at walrelay's updates and deletions of rows runs as walrelay's role";
    if (!facts.trigger_makers.empty()) {
        const auto makers = joined(facts.trigger_makers);
        found.warning("triggers_open_to_others",
                      makers + " may attach triggers to table " + name +
                          (facts.partitioned ? ", or to a partition of it" : "") + runs,
                      "REVOKE TRIGGER ON " + quote_table(facts.table) + " FROM " + makers + ";" +
                          (facts.partitioned ? " and the same for each partition" : ""));
    }
    if (!facts.foreign_triggers.empty()) {
        found.error(
            "triggers_of_others",
            "triggers of table " + name + " (" + joined(facts.foreign_triggers) +
                ") run functions of roles that are neither superusers nor the owner of the "
                "database or of an outbox table" +
                runs,
            "ALTER FUNCTION ... OWNER TO the owner of the table, after a look at what it does "
            "(\\df+ "
            "in psql)");
    }
    if (!facts.foreign_code.empty()) {
        found.error(
            "code_of_others",
            "where walrelay updates or deletes rows of table " + name +
                ", code runs as walrelay's role, which may replicate the whole database, "
                "although roles that are neither superusers nor the owner of the database "
                "or of an outbox table can change it: " +
                joined(facts.foreign_code),
            "give what is named to the owner of the table (ALTER FUNCTION or ALTER TABLE "
            "... OWNER TO), after a look at what it does, or drop it; or take on_published, "
            "on_dead_letter and delete_after of the table out of the configuration");
    }
}

}  // namespace

void look_at_guards(const outbox_table& wanted, const table_facts& facts, const postgres_facts& all,
                    findings_list& found) {
    look_at_row_security(wanted, facts, all.role, found);
    look_at_triggers(wanted, facts, found);
}

void look_at_message_writers(const outbox_table& wanted, const postgres_facts& all,
                             findings_list& found) {
    if (!has(all.message_writers, "PUBLIC")) {
        return;
    }
    const bool has_flush = all.version_number >= 170000;
    const std::string flush = has_flush ? ", boolean" : "";
    found.warning("messages_open_to_all",
                  "every role of the database may call pg_logical_emit_message, and so write rows "
                  "of the outbox with outbox.message_prefix = \"" +
                      wanted.message_prefix + "\"",
                  "REVOKE EXECUTE ON FUNCTION pg_logical_emit_message(boolean, text, text" + flush +
                      "), pg_logical_emit_message(boolean, text, bytea" + flush +
                      ") FROM PUBLIC; and GRANT it to the roles that write into the outbox");
}

}  // namespace walrelay::preflight
