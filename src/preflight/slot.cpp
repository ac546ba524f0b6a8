// What is wrong with the slot: lost, of another plugin, missing where it should be there, or not
// kept by standbys as is asked for.

#include "preflight/slot.hpp"

#include "core/finding.hpp"
#include "core/gap_words.hpp"
#include "core/sql_text.hpp"
#include "core/waiting_slot.hpp"
#include "preflight/managed.hpp"

namespace walrelay::preflight {
namespace {

constexpr int first_with_failover = 170'000;

std::string lost_text(const std::string& name, const slot_facts& slot) {
    const auto reason = slot.invalidation_reason.empty()
                            ? std::string()
                            : ", invalidation_reason = " + slot.invalidation_reason;
    const auto setting =
        slot.invalidation_reason == "idle_timeout"
            ? "; idle_replication_slot_timeout is too short for a relay that stops"
        : slot.invalidation_reason == "wal_removed"
            ? "; max_slot_wal_keep_size is too small for what was written meanwhile"
            : "";
    return "slot " + name + " has lost WAL that it needs (wal_status = lost" + reason + ")" +
           setting;
}

/// What giving up takes besides where the slot is gone.
std::string and_new_slot(const std::string& first) {
    return "; after giving up: " + first + "walrelay init --new-slot makes the slot";
}

void look_at_held_delivery(const expectations& wanted, const postgres_facts& facts,
                           findings_list& found) {
    for (const auto& each : facts.standby_slots) {
        if (each.exists && each.active) {
            continue;
        }
        found.warning(
            "standby_slot_blocks",
            "synchronized_standby_slots names slot " + each.name + ", " +
                (each.exists ? "to which no standby is connected" : "which does not exist") +
                ": slot " + wanted.slot +
                " sends no row before that standby has confirmed it, so delivery waits",
            "start the standby whose primary_slot_name is " + each.name +
                "; or, if it is gone for good, take the name out: " +
                how_to_set(facts.service, {"synchronized_standby_slots", "'<the others>'"}) +
                " (rows may then reach the stream before any standby)");
    }
}

/// On a slot of the right kind.
void look_at_failover(const expectations& wanted, const postgres_facts& facts,
                      findings_list& found) {
    const auto& slot = *facts.slot;
    if (facts.version_number < first_with_failover) {
        return;
    }
    if (facts.in_recovery && slot.synced) {
        found.warning("slot_on_standby",
                      "slot " + wanted.slot +
                          " is the copy that this standby keeps of the primary's slot: PostgreSQL "
                          "streams nothing from it before the standby is promoted",
                      "point postgres.conninfo at the primary as well: several hosts and "
                      "target_session_attrs=read-write");
        return;
    }
    if (facts.in_recovery) {
        return;
    }
    const bool asked = choose_failover(wanted, facts);
    if (asked != slot.failover) {
        found.warning("failover_differs",
                      "slot " + wanted.slot +
                          (asked ? " is no failover slot: a standby that is promoted does "
                                   "not have it"
                                 : " is a failover slot, which postgres.failover does not "
                                   "ask for"),
                      "while no walrelay streams from it: psql \"dbname=" + facts.database +
                          " replication=database\" -c '" + set_failover_sql(wanted.slot, asked) +
                          "'; or set "
                          "postgres.failover = \"" +
                          (asked ? "false" : "true") + "\"");
    }
    if (slot.failover) {
        look_at_held_delivery(wanted, facts, found);
    }
}

void look_at_two_phase(const expectations& wanted, const slot_facts& slot, findings_list& found) {
    if (slot.two_phase) {
        found.error("slot_two_phase",
                    "slot " + wanted.slot +
                        " has two_phase on, which would publish prepared "
                        "transactions before they commit",
                    "SELECT pg_copy_logical_replication_slot(" + quote_literal(wanted.slot) + ", " +
                        quote_literal(wanted.slot + "_one_phase") +
                        "); and set postgres.slot to the copy, which goes on from where this one "
                        "stands and has two_phase off; " +
                        wanted.slot + " itself is left to whoever made it");
    }
}

/// A snapshot is taken where walrelay makes the slot, and at no other time: with a slot that began
/// without it the setting would do nothing.
void look_at_snapshot(const expectations& wanted, const postgres_facts& facts,
                      const std::optional<earlier_run>& earlier, findings_list& found) {
    if (!wanted.snapshot || !facts.slot_began_with) {
        return;
    }
    const auto what = "postgres.snapshot asks for the rows from before slot " + wanted.slot +
                      ", which was there before it could be taken: ";
    const std::string replay =
        "publish them with a replay: walrelay replay --table <table> --rows <condition> --execute, "
        "under new message ids; then, or where they are not wanted, set postgres.snapshot = "
        "\"none\"";
    if (*facts.slot_began_with == "none") {
        found.error("snapshot_on_slot",
                    what + "they were not published, and the slot never sends them",
                    earlier ? replay
                            : replay +
                                  "; or, where nothing was relayed yet, walrelay drop, which "
                                  "shows first what goes, then walrelay run, which takes the "
                                  "snapshot and makes the slot again");
    } else if (facts.slot_began_with->empty() && !earlier) {
        found.warning(
            "snapshot_on_slot",
            what + "whether they were published is not known, as walrelay did not make it", replay);
    }
}

void note_missing_slot(const expectations& wanted, const postgres_facts& facts,
                       const std::optional<backfill_reason>& backfill, findings_list& found) {
    const auto missing = "slot " + wanted.slot + " does not exist";
    if (!backfill) {
        found.note("slot_missing", missing + " yet", "walrelay init (or run) creates it");
        for (auto& each : rows_before_slot(wanted, facts)) {
            found.warning(each.code, std::move(each.what), std::move(each.remedy));
        }
    } else if (*backfill == backfill_reason::slot_lost) {
        found.warning("slot_gone",
                      missing + " any more, and stream " + wanted.stream + " shows an earlier run",
                      "nothing to do: walrelay run heals, as on_slot_loss = \"heal\" or walrelay "
                      "resume --heal asks for: it publishes what the stream lacks from the tables "
                      "and makes the slot again");
    } else {
        found.note("slot_missing", missing + " yet",
                   "walrelay run creates it, after the rows that are there already "
                   "(postgres.snapshot) are published");
    }
}

}  // namespace

std::vector<finding> rows_before_slot(const expectations& wanted, const postgres_facts& facts) {
    findings_list found;
    for (const auto& table : facts.tables) {
        if (!table.rows || table.rows->count == 0) {
            continue;
        }
        const auto count = (table.rows->is_exact ? "" : "about ") +
                           std::to_string(table.rows->count) +
                           (table.rows->count == 1 ? " row" : " rows");
        found.warning("rows_before_slot",
                      "table " + to_string(table.table) + " has " + count + ", which slot " +
                          wanted.slot + " will never send: it begins after them",
                      "where they are still to be published, set postgres.snapshot = \"all\" (or "
                      "\"pending\", with outbox.pending) before the slot is made; where they were "
                      "published by somebody else, nothing");
    }
    return found.take();
}

bool is_known_plugin(const std::string& name) {
    return name == to_string(output_plugin::wal2json) || name == to_string(output_plugin::pgoutput);
}

bool is_of_this_database(const postgres_facts& facts) {
    return facts.slot && !facts.slot->plugin.empty() && facts.slot->database == facts.database;
}

std::string way_past_publication(const expectations& wanted, const postgres_facts& facts,
                                 const std::string& create_publication) {
    const auto create = create_publication.empty() ? std::string() : create_publication + " ";
    const std::string keeps =
        facts.wal2json == plugin_trouble::none
            ? "walrelay verify names what the stream lacks until then; with every relay stopped, "
              "set "
              "postgres.plugin = \"wal2json\", then: walrelay init --switch-plugin; the slot "
              "resumes "
              "where it stands, with all that it holds; or, where it must be pgoutput"
            : std::string(
                  "walrelay verify names what the stream lacks until then; wal2json would decode "
                  "it (postgres.plugin = \"wal2json\", walrelay init "
                  "--switch-plugin), and the server has none that can be used; without it");
    return keeps + ": " + create + drop_slot_sql(wanted.slot) +
           " which destroys what only the slot holds (logical messages, rows that were deleted "
           "from the tables), then walrelay run with on_slot_loss = \"heal\" under [delivery], "
           "which publishes what the stream lacks from the tables (where walrelay has published "
           "nothing yet: with postgres.snapshot)";
}

bool choose_failover(const expectations& wanted, const postgres_facts& facts) {
    return wanted.failover.value_or(true) && facts.version_number >= first_with_failover &&
           !facts.in_recovery;
}

void look_at_failover_version(const expectations& wanted, const postgres_facts& facts,
                              findings_list& found) {
    if (wanted.failover == true && facts.version_number < first_with_failover) {
        found.error("failover_needs_postgres_17",
                    "postgres.failover = \"true\" needs PostgreSQL 17 or newer, and this is " +
                        std::to_string(facts.version_number) +
                        ": its slots are not kept by standbys",
                    "set postgres.failover = \"auto\"");
    }
}

void look_at_slot(const expectations& wanted, const postgres_facts& facts,
                  const std::optional<earlier_run>& earlier, findings_list& found) {
    const auto& slot = *facts.slot;
    if (facts.slot_waits) {
        found.warning("slot_copy_left",
                      "a copy of slot " + wanted.slot +
                          " is left from a change of its plugin that broke off, and keeps WAL",
                      "with every relay stopped: walrelay init --switch-plugin, which finishes it");
    }
    if (slot.plugin.empty()) {
        found.error("slot_physical", "slot " + wanted.slot + " is a physical one",
                    "name another one: postgres.slot");
        return;
    }
    if (slot.database != facts.database) {
        found.error("slot_of_other_database",
                    "slot " + wanted.slot + " belongs to database " + slot.database + ", not to " +
                        facts.database,
                    "name another one: postgres.slot");
        return;
    }
    if (!is_known_plugin(slot.plugin) ||
        (wanted.plugin && slot.plugin != to_string(*wanted.plugin))) {
        found.error("slot_of_other_plugin",
                    "slot " + wanted.slot + " was created for the plugin " + slot.plugin +
                        (wanted.plugin ? std::string(", and postgres.plugin asks for ") +
                                             to_string(*wanted.plugin)
                                       : ", which walrelay does not decode"),
                    is_known_plugin(slot.plugin)
                        ? "set postgres.plugin = \"" + slot.plugin +
                              "\" (or \"auto\"); or stop every relay and let the slot go on with "
                              "the other one: walrelay init --switch-plugin"
                        : "name another slot: postgres.slot");
    }
    if (slot.wal_status == "lost" && wanted.heals) {
        found.warning("slot_lost", lost_text(wanted.slot, slot),
                      "nothing to do: walrelay run heals, as on_slot_loss = \"heal\" or walrelay "
                      "resume --heal asks for: it publishes what the stream lacks from the tables "
                      "and makes the slot again");
    } else if (slot.wal_status == "lost") {
        found.error("slot_lost", lost_text(wanted.slot, slot),
                    how_to_close_a_gap + and_new_slot(drop_slot_sql(wanted.slot) +
                                                      " (it holds nothing any more) and then "));
    }
    look_at_two_phase(wanted, slot, found);
    look_at_failover(wanted, facts, found);
    look_at_snapshot(wanted, facts, earlier, found);
}

void look_for_missing_slot(const expectations& wanted, const postgres_facts& facts,
                           const std::optional<earlier_run>& earlier, findings_list& found) {
    if (facts.slot_is_rewinding) {
        const auto waits = waits_under_another_name(wanted.slot, slot_wait::rewind);
        found.error("slot_rewind_unfinished", waits.what, waits.remedy);
        return;
    }
    if (facts.slot_waits) {
        const auto waits = waits_under_another_name(wanted.slot, slot_wait::plugin_switch);
        found.error("slot_switch_unfinished", waits.what, waits.remedy);
        return;
    }
    const auto backfill = choose_backfill(wanted, facts, earlier, false);
    if (earlier && !backfill) {
        found.error(
            "slot_gone",
            "slot " + wanted.slot + " does not exist, but " +
                (earlier->in_database ? "there was one: its database" : "stream " + wanted.stream) +
                " shows an earlier run (" + earlier->evidence +
                "): a new slot would silently skip the rows in between",
            how_to_close_a_gap + and_new_slot(""));
        return;
    }
    note_missing_slot(wanted, facts, backfill, found);
    // With a backfill a temporary one beside the lasting one.
    const int needed = backfill ? 2 : 1;
    if (facts.slots_free < needed) {
        found.error(
            "slots_exhausted",
            facts.slots_free <= 0 ? "all replication slots are taken"
                                  : "only one replication slot is free, and publishing rows that "
                                    "are there already needs two for a moment",
            "raise max_replication_slots: " +
                how_to_set(facts.service,
                           {"max_replication_slots", "<more>", takes_effect::on_restart}) +
                "; or drop a slot whose consumer is gone for good, which destroys what it holds "
                "for it (SELECT * FROM pg_replication_slots WHERE NOT active shows those whose "
                "consumer is gone or away)");
    }
}

}  // namespace walrelay::preflight
