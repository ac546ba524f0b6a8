// What is wrong with the schema walrelay: who could act through it, and what cannot be kept there.

#include "preflight/own_tables.hpp"

#include "core/control.hpp"
#include "core/finding.hpp"
#include "core/sql_text.hpp"

#include <algorithm>
#include <array>

namespace walrelay::preflight {
namespace {

std::string grants(const std::string& table, const std::string& rights, const std::string& role) {
    const auto to = quote_identifier(role);
    return "GRANT USAGE ON SCHEMA walrelay TO " + to + "; GRANT " + rights + " ON walrelay." +
           table + " TO " + to + ";";
}

/// Nothing where the table can be used, or can be made once it is needed.
std::string remedy_for(const std::string& table, const std::string& rights,
                       const own_table_facts& state, const postgres_facts& facts) {
    if (state.usable || (!state.exists && facts.may_make_tables)) {
        return {};
    }
    const auto grant = grants(table, rights, facts.role);
    if (state.exists) {
        return grant;
    }
    return facts.making_refused.empty()
               ? "as a role that may create a schema: walrelay init (or sql/" + table +
                     ".sql in psql), then: " + grant
               : "run sql/" + table +
                     ".sql the way that the server lets pass (as a migration, where an event "
                     "trigger refuses it; \\dy in psql lists them), then: " +
                     grant;
}

/// With the server's words where the rights are there and it refused all the same.
std::string can_neither(const std::string& table, const postgres_facts& facts) {
    return "role " + facts.role + " can neither use nor make the table walrelay." + table +
           (facts.making_refused.empty() ? "" : " (server: " + facts.making_refused + ")");
}

constexpr const char* all_rights = "SELECT, INSERT, UPDATE, DELETE";
constexpr const char* control_rights = "SELECT, INSERT, DELETE";
constexpr const char* note_rights = "SELECT, INSERT, UPDATE";

/// A table whose lack costs the same whatever the configuration says.
struct kept_table {
    const char* name;
    const char* rights;
    own_table_facts postgres_facts::*state;
    finding_code code;
    const char* without;
    /// Else only once a command or a partition needs it.
    bool is_made_at_once;
};

constexpr std::array kept_tables_of_use = {
    kept_table{"witness", all_rights, &postgres_facts::witnesses, "witness_table_unusable",
               "a stream that is deleted, cut or replaced and a slot that is moved or made again "
               "while no relay runs are noticed only by the newest rows of the tables, or not at "
               "all",
               true},
    kept_table{"halt", all_rights, &postgres_facts::halts, "halt_table_unusable",
               "nothing keeps a relay that is started again from going on past a gap", true},
    kept_table{"slot_start", note_rights, &postgres_facts::slot_starts, "slot_start_table_unusable",
               "which rows were there before the slot is not known, so that walrelay verify "
               "--since-slot ends with an error and rows that were never relayed are not told "
               "from lost ones",
               true},
    kept_table{"replay", note_rights, &postgres_facts::replays, "replay_table_unusable",
               "walrelay verify and walrelay replay end with an error", false},
    kept_table{"partition", all_rights, &postgres_facts::partitions, "partition_table_unusable",
               "with wal2json, and with a publication without publish_via_partition_root, rows of "
               "partitions that are detached or dropped before they are read are lost",
               false}};

void look_at_kept_rows(const expectations& wanted, const postgres_facts& facts,
                       findings_list& found) {
    const auto letters = remedy_for("dead_letter", all_rights, facts.dead_letters, facts);
    if (wanted.dead_letters && !letters.empty()) {
        found.warning("dead_letter_table_unusable",
                      can_neither("dead_letter", facts) +
                          ": the first row that cannot be delivered stops the relay",
                      letters);
    } else if (facts.dead_letters.exists && facts.writer && !facts.writer->knows_letters) {
        found.warning("dead_letter_table_unusable",
                      "role " + facts.writer->role +
                          " of postgres.writer cannot see in walrelay.dead_letter which rows were "
                          "set aside: what is sent again after a restart is not written back",
                      grants("dead_letter", "SELECT", facts.writer->role));
    }
    for (const auto& each : kept_tables_of_use) {
        const auto& state = facts.*each.state;
        const auto remedy = remedy_for(each.name, each.rights, state, facts);
        if (!remedy.empty() && (state.exists || each.is_made_at_once)) {
            found.warning(each.code, can_neither(each.name, facts) + ": " + each.without, remedy);
        }
    }
}

bool is_published(const postgres_facts& facts) {
    const auto& publication = facts.publication;
    return !publication || publication->for_all_tables ||
           std::ranges::find(publication->tables, control_table()) != publication->tables.end();
}

void look_at_control(const expectations& wanted, const postgres_facts& facts, output_plugin plugin,
                     findings_list& found) {
    const bool needed = needs_control_table(wanted, facts);
    const auto say = [&](finding_code code, const std::string& what, const std::string& remedy) {
        if (needed) {
            found.error(code,
                        what +
                            ", and walrelay's own updates could not be told from others, so that "
                            "rows would be published twice",
                        remedy);
        } else if (wanted.dead_letters) {
            found.note(code, what + ": walrelay dead-letter retry reaches no relay", remedy);
        }
    };
    const auto missing = remedy_for("control", control_rights, facts.controls, facts);
    // A role that only relays needs no right on it: another one may retry.
    if (!missing.empty() && (needed || !facts.controls.exists)) {
        say("control_table_unusable", can_neither("control", facts), missing);
    } else if (facts.controls.exists && facts.control_secret.empty() &&
               facts.schema_flaws.empty()) {
        say("control_key_unusable",
            "role " + facts.role +
                " cannot read walrelay.control_key, without which rows of walrelay.control cannot "
                "be told from forged ones and are left alone",
            "as the owner of walrelay.control: walrelay init (or sql/control.sql in psql), then: "
            "GRANT SELECT ON walrelay.control_key TO " +
                quote_identifier(facts.role) + ";");
    } else if (needed && facts.controls.exists && facts.writer && !facts.writer->marks) {
        const auto& writer = facts.writer->role;
        say("control_table_unusable",
            "role " + writer + " of postgres.writer may not write into walrelay.control",
            grants("control", control_rights, writer) +
                " GRANT SELECT ON walrelay.control_key TO " + quote_identifier(writer) + ";");
    } else if (plugin == output_plugin::pgoutput && facts.controls.exists && !is_published(facts)) {
        say("control_table_not_published",
            "publication " + wanted.publication + " does not contain the table walrelay.control",
            add_to_publication_sql(wanted.publication, control_table()));
    }
}

}  // namespace

bool needs_control_table(const expectations& wanted, const postgres_facts& facts) {
    for (std::size_t index = 0; index < wanted.tables.size(); ++index) {
        const auto known = index < facts.tables.size() ? facts.tables[index].partition_columns
                                                       : std::vector<std::string>{};
        if (needs_mark(wanted.tables[index], known)) {
            return true;
        }
    }
    return false;
}

void look_at_own_tables(const expectations& wanted, const postgres_facts& facts,
                        output_plugin plugin, findings_list& found) {
    bool is_foreign = false;
    for (const auto& flaw : facts.schema_flaws) {
        if (flaw.is_foreign) {
            is_foreign = true;
            found.warning("schema_not_safe",
                          flaw.what +
                              ". It is not used: halts, dead letters and the witness are not kept, "
                              "and the first row that cannot be delivered stops the relay",
                          flaw.remedy);
        } else {
            found.error("schema_not_safe", flaw.what, flaw.remedy);
        }
    }
    if (facts.in_recovery) {
        found.note(
            "witness_not_written",
            "the server is a standby, where walrelay.witness cannot be written: a stream that "
            "is deleted, cut or replaced while no relay runs is not noticed",
            "relay from the primary, or compare at times: walrelay verify");
    }
    if (!facts.in_recovery) {
        if (!is_foreign) {
            look_at_kept_rows(wanted, facts, found);
        }
        look_at_control(wanted, facts, plugin, found);
    }
}

}  // namespace walrelay::preflight
