#include "preflight/guards.hpp"

#include "core/finding.hpp"
#include "core/joined.hpp"
#include "core/sql_text.hpp"
#include "preflight/own_tables.hpp"

#include <algorithm>
#include <cctype>
#include <string>
#include <vector>

namespace walrelay::preflight {
namespace {

bool has(const std::vector<std::string>& all, const std::string& one) {
    return std::ranges::find(all, one) != all.end();
}

/// For who changes rows.
void look_at_row_security(const outbox_table& wanted, const table_facts& facts,
                          const postgres_facts& all, findings_list& found) {
    const auto& hidden = all.writer ? facts.hidden_from_writer : facts.hidden_from;
    const auto name = to_string(facts.table);
    const bool from_updates = wanted.updates_rows() && has(hidden, "UPDATE");
    const bool from_deletes = wanted.delete_after && has(hidden, "DELETE");
    const bool from_both = (wanted.updates_rows() || wanted.delete_after) && has(hidden, "SELECT");
    if (from_updates || from_deletes || from_both) {
        const auto& role = all.writing_role();
        found.error("row_security_hides_rows",
                    "row-level security of table " + name + " can hide rows from " +
                        joined(hidden) + " of role " + role +
                        ": rows would be published, and neither updated nor deleted as the "
                        "configuration says, without an error",
                    "CREATE POLICY walrelay ON " + quote_table(facts.table) + " TO " +
                        quote_identifier(role) +
                        " USING (true); and name other roles in its restrictive policies: ALTER "
                        "POLICY ... TO ...");
        return;
    }
    if (has(facts.hidden_from, "SELECT")) {
        found.warning(
            "row_security_hides_rows",
            "row-level security of table " + name + " can hide rows from role " + all.role +
                ": walrelay verify, snapshots and healing do not read it then, and the startup "
                "check does not notice that the slot was moved past its rows; what is relayed "
                "from the slot does not depend on it",
            "run these as the owner of the table, or: ALTER ROLE " + quote_identifier(all.role) +
                " BYPASSRLS; which lets the role see the rows of every table that it may "
                "read");
    }
}

/// Code of others may run as this role.
bool is_contained(const postgres_facts& all) {
    return all.writer && all.writer->powers.empty();
}

std::string who_runs_it(const postgres_facts& all) {
    return all.writer ? "role " + all.writer->role + " of postgres.writer, which " +
                            joined(all.writer->powers)
                      : std::string("walrelay's role, which may replicate the whole database");
}

std::string or_as_writer(const postgres_facts& all) {
    return all.writer ? "; or take from role " + all.writer->role + " what is named"
                      : std::string(
                            "; or have such statements run as a role that may do nothing else: "
                            "postgres.writer, which sql/role.sql makes with -v writer=NAME");
}

/// A word of SQL, in whatever case.
bool says_default(std::string sql) {
    std::ranges::transform(
        sql, sql.begin(), [](unsigned char each) { return static_cast<char>(std::tolower(each)); });
    return sql.find("default") != std::string::npos;
}

void look_at_code(const outbox_table& wanted, const table_facts& facts, const postgres_facts& all,
                  findings_list& found) {
    auto foreign = facts.foreign_code;
    if (says_default(wanted.on_published) || says_default(wanted.on_dead_letter)) {
        foreign.insert(foreign.end(), facts.foreign_defaults.begin(), facts.foreign_defaults.end());
    }
    const auto name = to_string(facts.table);
    const auto runs = ", and what they run at walrelay's updates and deletions of rows runs as " +
                      who_runs_it(all);
    if (!facts.trigger_makers.empty()) {
        const auto makers = joined(facts.trigger_makers);
        found.warning("triggers_open_to_others",
                      makers + " may attach triggers to table " + name +
                          (facts.partitioned ? ", or to a partition of it" : "") + runs,
                      "REVOKE TRIGGER ON " + quote_table(facts.table) + " FROM " + makers + ";" +
                          (facts.partitioned ? " and the same for each partition" : "") +
                          or_as_writer(all));
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
            "in psql)" +
                or_as_writer(all));
    }
    if (!foreign.empty()) {
        found.error(
            "code_of_others",
            "where walrelay updates or deletes rows of table " + name + ", code runs as " +
                who_runs_it(all) +
                ", although roles that are neither superusers nor the owner of the database "
                "or of an outbox table can change it: " +
                joined(foreign),
            "give what is named to the owner of the table (ALTER FUNCTION or ALTER TABLE "
            "... OWNER TO), after a look at what it does, or drop it" +
                or_as_writer(all) +
                "; or take on_published, on_dead_letter and delete_after of the table out of the "
                "configuration");
    }
}

/// Whoever writes rows back.
void look_at_read_code(const table_facts& facts, findings_list& found) {
    if (facts.foreign_reading.empty()) {
        return;
    }
    found.error("code_of_others",
                "where walrelay reads rows of table " + to_string(facts.table) +
                    ", code runs as walrelay's role, which may replicate the whole database, "
                    "although roles that are neither superusers nor the owner of the database or "
                    "of an outbox table can change it: " +
                    joined(facts.foreign_reading),
                "give what is named to the owner of the table (ALTER FUNCTION ... OWNER TO), after "
                "a look at what it does, or drop it");
}

}  // namespace

void look_at_guards(const outbox_table& wanted, const table_facts& facts, const postgres_facts& all,
                    findings_list& found) {
    look_at_row_security(wanted, facts, all, found);
    look_at_read_code(facts, found);
    const bool runs_code = wanted.updates_rows() || wanted.delete_after || wanted.republish;
    if (runs_code && !is_contained(all)) {
        look_at_code(wanted, facts, all, found);
    }
}

void look_at_writer(const expectations& wanted, const postgres_facts& all, findings_list& found) {
    if (!all.writer) {
        return;
    }
    auto powers = all.writer->powers;
    if (needs_control_table(wanted, all)) {
        // Its updates must be told from others, which takes that.
        std::erase_if(powers, [](const std::string& each) {
            return each == "may SELECT walrelay.control_key";
        });
    }
    if (!powers.empty()) {
        found.warning("writer_too_strong",
                      "role " + all.writer->role + " of postgres.writer " + joined(powers) +
                          ": what others have run where rows of an outbox are changed could do the "
                          "same, and so walrelay refuses such tables",
                      "take that from the role, or let sql/role.sql make another one: psql -v "
                      "writer=NAME -f sql/role.sql");
    }
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
