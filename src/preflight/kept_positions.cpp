#include "preflight/kept_positions.hpp"

#include "core/sql_text.hpp"
#include "preflight/managed.hpp"

namespace walrelay::preflight {
namespace {

/// Half of autovacuum_freeze_max_age's default.
constexpr std::uint64_t old_catalog_transactions = 100'000'000;
constexpr std::uint64_t megabyte = 1'000'000;

std::string name_of_kept(const kept_position& one) {
    return one.kind == kept_kind::trail ? "the trail (slot " + one.slot + ")"
                                        : "bookmark " + one.name + " (slot " + one.slot + ")";
}

std::string rights_on_kept(const std::string& role) {
    const auto to = quote_identifier(role);
    return "GRANT USAGE ON SCHEMA walrelay TO " + to +
           "; GRANT SELECT, INSERT, UPDATE, DELETE ON walrelay.bookmark, walrelay.trail TO " + to +
           ";";
}

void look_at_tables(const kept_tables& tables, findings_list& found) {
    const auto is_fine = [&](const own_table_facts& table) {
        return table.usable || (!table.exists && tables.may_make);
    };
    if (is_fine(tables.bookmarks) && is_fine(tables.trails)) {
        return;
    }
    const bool are_there = tables.bookmarks.exists && tables.trails.exists;
    found.warning("kept_tables_unusable",
                  "role " + tables.role +
                      " can neither use nor make the tables walrelay.bookmark and walrelay.trail: "
                      "no trail is kept, although replay.keep is set",
                  are_there ? rights_on_kept(tables.role)
                            : "as a role that may create a schema: walrelay init (or "
                              "sql/bookmark.sql and sql/trail.sql in psql), then: " +
                                  rights_on_kept(tables.role));
}

void look_at_trail(const kept_positions& kept, managed_service service, findings_list& found) {
    constexpr std::int64_t needed = 2;
    const auto* const trail = find_trail(kept);
    const bool is_missing = trail == nullptr || trail->state == kept_state::gone;
    if (trail != nullptr && !trail->is_ours) {
        found.warning("trail_slot_taken",
                      "slot " + trail->slot +
                          " is there, and walrelay did not make it: no trail is kept, although "
                          "replay.keep is set",
                      "remove replay.keep, or use another name for postgres.slot");
    } else if (is_missing && kept.slots_free < needed) {
        found.warning(
            "trail_without_slot",
            "no replication slot is free for the trail that replay.keep asks for: it "
            "never takes the last one",
            "raise max_replication_slots: " +
                how_to_set(service, {"max_replication_slots", "<more>", takes_effect::on_restart}));
    }
}

void look_at_lost(const kept_position& one, findings_list& found) {
    if (!one.is_ours || one.state == kept_state::kept || one.kind == kept_kind::trail) {
        return;
    }
    const auto fix = "walrelay bookmark drop " + one.name + " takes it off the list";
    if (one.state == kept_state::gone) {
        found.warning("position_gone",
                      name_of_kept(one) +
                          " is gone: there is no such slot any more, after a failover perhaps, and "
                          "nothing can be replayed from it",
                      fix);
    } else {
        found.warning("position_lost",
                      name_of_kept(one) + " is lost: PostgreSQL has removed its WAL" +
                          (one.lost_for.empty() ? "" : " (" + one.lost_for + ")") +
                          ", and nothing can be replayed from it",
                      fix + "; the next one lasts longer with a larger max_slot_wal_keep_size");
    }
}

void look_at_cost(const kept_position& one, const kept_expectations& wanted, findings_list& found) {
    constexpr std::uint64_t tenths = 10;
    constexpr std::uint64_t tenths_allowed = 9;
    if (one.state != kept_state::kept) {
        return;
    }
    if (one.held_bytes / tenths_allowed >= wanted.max_wal.bytes / tenths) {
        found.warning("positions_hold_much",
                      name_of_kept(one) + " holds " + std::to_string(one.held_bytes / megabyte) +
                          " MB of WAL, and replay.max_wal allows " +
                          std::to_string(wanted.max_wal.bytes / megabyte) + " MB" +
                          (one.is_ours ? ": it gives way soon"
                                       : "; it was made by hand, so that walrelay leaves it alone"),
                      "raise replay.max_wal if the disk has room, or keep less");
    }
    if (one.catalog_age_transactions >= old_catalog_transactions) {
        found.warning("positions_hold_catalog",
                      name_of_kept(one) + " keeps VACUUM from rows of system catalogs of " +
                          std::to_string(one.catalog_age_transactions) + " transactions",
                      "keep less: a shorter --expires, or a shorter replay.keep");
    }
}

void look_at_idling(const kept_position& one, const kept_expectations& wanted,
                    const kept_positions& kept, findings_list& found) {
    const bool is_at_risk = one.kind == kept_kind::bookmark && one.state == kept_state::kept &&
                            kept.idle_timeout.count() > 0 &&
                            (!one.expires_at || *one.expires_at - kept.read_at > kept.idle_timeout);
    if (is_at_risk) {
        found.warning("bookmark_ends_early",
                      "PostgreSQL ends " + name_of_kept(one) +
                          " before it expires: idle_replication_slot_timeout is " +
                          std::to_string(kept.idle_timeout.count()) +
                          " s, and a bookmark is idle by nature",
                      how_to_set(wanted.service, {"idle_replication_slot_timeout", "0"}));
    }
}

}  // namespace

std::vector<finding> kept_position_findings(const kept_expectations& wanted,
                                            const kept_positions& kept, const kept_tables& tables) {
    findings_list found;
    if (wanted.keeps_trail && kept.in_recovery) {
        found.warning("trail_on_standby", "replay.keep keeps no trail on a standby",
                      "name the primary in postgres.conninfo, or remove replay.keep");
    } else if (wanted.keeps_trail) {
        look_at_tables(tables, found);
        look_at_trail(kept, wanted.service, found);
    }
    for (const auto& each : kept.all) {
        look_at_lost(each, found);
        look_at_cost(each, wanted, found);
        look_at_idling(each, wanted, kept, found);
    }
    return found.take();
}

}  // namespace walrelay::preflight
