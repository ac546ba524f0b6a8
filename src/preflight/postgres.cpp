// What is wrong with a database, its slot and its publication, and the command that fixes it.

#include "core/control.hpp"
#include "core/finding.hpp"
#include "core/joined.hpp"
#include "core/pooler_words.hpp"
#include "core/sql_text.hpp"
#include "outbox/table_mapper.hpp"
#include "preflight/columns.hpp"
#include "preflight/commit_wait.hpp"
#include "preflight/descendants.hpp"
#include "preflight/guards.hpp"
#include "preflight/managed.hpp"
#include "preflight/message_ids.hpp"
#include "preflight/names.hpp"
#include "preflight/own_tables.hpp"
#include "preflight/preflight.hpp"
#include "preflight/slot.hpp"
#include "preflight/table_meant.hpp"
#include "preflight/transport.hpp"
#include "preflight/values.hpp"
#include "preflight/write_backs.hpp"

#include <algorithm>
#include <utility>

namespace walrelay::preflight {
namespace {

/// A pooler in between, or pg_hba.conf, refuses roles that may replicate.
void look_at_replication(const postgres_facts& facts, findings_list& found) {
    const bool is_of_a_pooler =
        facts.replication_refused && facts.replication_refused->remedy == how_past_the_pooler;
    if (!facts.role_replicates && !facts.role_has_replication && !is_of_a_pooler) {
        found.error(
            "role_without_replication",
            "role " + facts.role + " may not replicate: it has no REPLICATION attribute, " +
                (facts.replication_refused ? "and the server refused its replication connection (" +
                                                 facts.replication_refused->server_said + ")"
                                           : "which a replication connection takes"),
            how_to_let_replicate(facts.service, facts.role, facts.version_number));
    } else if (facts.replication_refused) {
        const auto& why = *facts.replication_refused;
        found.error(
            "replication_refused",
            "no replication connection can be opened, by which slots are read: " + why.what +
                (why.server_said.empty() ? "" : " (server: " + why.server_said + ")"),
            why.remedy.empty() ? "see that postgres.conninfo names PostgreSQL itself, and "
                                 "that max_wal_senders leaves one free"
                               : why.remedy);
    }
}

void look_at_server(const postgres_facts& facts, findings_list& found) {
    constexpr int oldest_version = 130000;
    constexpr int version_that_decodes_on_standby = 160000;
    if (facts.version_number < oldest_version) {
        found.error("postgres_too_old",
                    "PostgreSQL " + std::to_string(facts.version_number) + " is older than 13",
                    "upgrade the server");
    }
    if (facts.wal_level != "logical") {
        found.error("wal_level_not_logical",
                    "wal_level is " + facts.wal_level + ", logical decoding needs logical",
                    how_to_decode(facts.service));
    }
    if (facts.encoding != "UTF8") {
        found.error("encoding_not_utf8",
                    "database " + facts.database + " has encoding " + facts.encoding +
                        ", and messages are UTF8",
                    "CREATE DATABASE " + quote_identifier(facts.database + "_utf8") +
                        " ENCODING 'UTF8' TEMPLATE template0; then move the data with pg_dump and "
                        "pg_restore");
    }
    if (facts.in_recovery && facts.version_number < version_that_decodes_on_standby) {
        found.error("standby_cannot_decode",
                    "the server is a standby, which decodes only from PostgreSQL 16 on",
                    "point postgres.conninfo at the primary, e.g. with "
                    "target_session_attrs=read-write");
    }
    look_at_replication(facts, found);
}

/// A body without payload tells consumers that something happened, and not what: mostly the column
/// has another name than walrelay looks for.
void look_at_payload(const outbox_table& wanted, const table_facts& facts, findings_list& found) {
    const bool is_there = std::ranges::any_of(facts.columns, [](const column& each) {
        return each.name == "event_data" || each.name == "payload";
    });
    if (wanted.body != body_format::event || wanted.columns.payload || is_there) {
        return;
    }
    const auto names = joined(facts.columns, ", ", [](const column& each) { return each.name; });
    found.error("mapping_without_columns",
                "table " + to_string(facts.table) +
                    " has no column event_data or payload, so that every event would come without "
                    "its payload; its columns are " +
                    names,
                "name the column that holds it: columns = { payload = \"...\" }, or set payload = "
                "\"\" there if the events are meant to have none");
}

void look_at_outbox(const outbox_table& wanted, const table_facts& facts, const postgres_facts& all,
                    findings_list& found) {
    const auto name = to_string(facts.table);
    if (!facts.exists) {
        found.error("table_missing",
                    "table " + name + " does not exist in database " + all.database,
                    hint_at_table(facts.table, all.other_tables) +
                        "create it, or name another one with --table or outbox.table; a name with "
                        "upper case or blanks needs double quotes");
        return;
    }
    if (!facts.ordinary) {
        found.error("table_not_ordinary",
                    name + " is not a table, and logical decoding sees only tables",
                    "name the table that the writers insert into");
        return;
    }
    if (facts.unlogged) {
        found.error("table_unlogged",
                    "table " + name + " is unlogged, so its rows never reach the WAL",
                    "ALTER TABLE " + quote_table(facts.table) + " SET LOGGED;");
    }
    const auto mapper = outbox::table_mapper::make(wanted);
    if (!mapper) {
        found.error("mapping_invalid", mapper.error().what, mapper.error().remedy);
        return;
    }
    for (auto& problem : mapper->problems_with(facts.columns)) {
        found.error("mapping_without_columns", std::move(problem),
                    "name the columns of " + name +
                        " in outbox.columns, outbox.subject and "
                        "outbox.message_id (docs/configuration.md)");
    }
    look_at_payload(wanted, facts, found);
}

void look_at_values(const outbox_table& wanted, const table_facts& facts, const postgres_facts& all,
                    findings_list& found) {
    look_at_nulls(wanted, facts, all, found);
    look_at_comparing(wanted, facts, all, found);
    look_at_index(wanted, facts, found);
    look_at_republished_value(wanted, facts, all, found);
}

void look_at_messages(const outbox_table& wanted, const postgres_facts& facts, output_plugin plugin,
                      findings_list& found) {
    constexpr int version_with_messages = 140000;
    if (const auto mapper = outbox::table_mapper::make(wanted); !mapper) {
        found.error("mapping_invalid", mapper.error().what, mapper.error().remedy);
    }
    if (plugin == output_plugin::pgoutput && facts.version_number < version_with_messages) {
        found.error("messages_need_postgres_14",
                    "outbox.message_prefix = \"" + wanted.message_prefix +
                        "\": pgoutput sends logical messages from PostgreSQL 14 on, and this is " +
                        std::to_string(facts.version_number),
                    "set postgres.plugin = \"wal2json\" with a slot of its own, or upgrade the "
                    "server");
    }
}

void look_at_plugin(const expectations& wanted, const postgres_facts& facts, findings_list& found) {
    if (choose_plugin(wanted, facts) != output_plugin::wal2json) {
        return;
    }
    const int major = facts.version_number / 10'000;
    const auto or_pgoutput =
        facts.slot ? "; or, with every relay stopped, set postgres.plugin = \"pgoutput\", then: "
                     "walrelay init --switch-plugin, which keeps what the slot holds and changes "
                     "nothing where pgoutput could not send it"
                   : std::string("; or set postgres.plugin = \"pgoutput\"");
    switch (facts.wal2json) {
        case plugin_trouble::none:
            return;
        case plugin_trouble::not_allowed:
            found.error(
                "wal2json_not_allowed",
                "the server refuses the output plugin wal2json: output_plugin_libraries is " +
                    facts.output_plugin_libraries.value_or("unset"),
                how_to_allow_wal2json(facts.service) + or_pgoutput);
            return;
        case plugin_trouble::not_installed:
            found.error("wal2json_not_installed",
                        "the output plugin wal2json is not installed on the server",
                        how_to_install_wal2json(facts.service, major, false) + or_pgoutput);
            return;
        case plugin_trouble::too_old:
            found.error("wal2json_too_old",
                        "the server's wal2json is older than 2.5, the first version that sends "
                        "the types of columns (include-type-oids), which walrelay needs",
                        how_to_install_wal2json(facts.service, major, true) + or_pgoutput);
            return;
    }
}

bool contains(const std::vector<table_name>& tables, const table_name& wanted) {
    return std::find(tables.begin(), tables.end(), wanted) != tables.end();
}

bool published(const publication_facts& publication, const table_facts& table) {
    // Without publish_via_partition_root a partitioned table is listed by its leaves.
    return publication.for_all_tables || contains(publication.tables, table.table) ||
           (!table.leaves.empty() &&
            std::all_of(table.leaves.begin(), table.leaves.end(), [&](const table_name& leaf) {
                return contains(publication.tables, leaf);
            }));
}

void look_at_row_filters(const expectations& wanted, const postgres_facts& facts,
                         findings_list& found) {
    for (const auto& each : facts.publication->filtered) {
        const bool is_ours = std::ranges::any_of(facts.tables, [&](const table_facts& table) {
            return table.table == each || contains(table.leaves, each);
        });
        if (is_ours || each == control_table()) {
            found.error("publication_filters_rows",
                        "publication " + wanted.publication + " has a row filter for table " +
                            to_string(each) + ", which keeps rows back",
                        unfilter_sql(wanted.publication, each));
        }
    }
}

void look_at_publication(const expectations& wanted, const postgres_facts& facts,
                         findings_list& found) {
    const auto& publication = *facts.publication;
    const auto name = quote_identifier(wanted.publication);
    if (!publication.publishes_inserts) {
        found.error("publication_without_inserts",
                    "publication " + wanted.publication + " does not publish inserts",
                    "ALTER PUBLICATION " + name + " SET (publish = '" +
                        std::string(published_operations(wanted.tables)) + "');");
    } else if (!publication.publishes_updates && published_operations(wanted.tables) != "insert") {
        found.error("publication_without_updates",
                    "publication " + wanted.publication +
                        " does not publish updates, which outbox.republish needs",
                    "ALTER PUBLICATION " + name + " SET (publish = 'insert, update');");
    }
    for (const auto& table : facts.tables) {
        if (table.exists && !published(publication, table)) {
            found.error("publication_lacks_table",
                        "publication " + wanted.publication + " does not contain table " +
                            to_string(table.table),
                        add_to_publication_sql(wanted.publication, table.table));
        }
    }
    look_at_row_filters(wanted, facts, found);
    if (publication.younger_than_slot) {
        found.error("publication_after_slot",
                    "publication " + wanted.publication +
                        " was created after the position of slot " + wanted.slot +
                        ", and pgoutput cannot decode from before it",
                    way_past_publication(wanted, facts, ""));
    }
}

void look_for_missing_publication(const expectations& wanted, const postgres_facts& facts,
                                  findings_list& found) {
    std::vector<table_name> tables;
    tables.reserve(wanted.tables.size());
    for (const auto& table : wanted.tables) {
        if (!table.is_tableless()) {
            tables.push_back(table.table);
        }
    }
    if (facts.controls.exists) {
        tables.push_back(control_table());
    }
    const auto create =
        create_publication_sql(wanted.publication, tables, published_operations(wanted.tables));
    if (!is_of_this_database(facts)) {
        if (const auto& refused = facts.publication_refused) {
            found.error("publication_not_creatable",
                        "publication " + wanted.publication +
                            " does not exist yet, and PostgreSQL does not let role " + facts.role +
                            " create it (server: " + refused->server_said + ")",
                        facts.making_refused.empty()
                            ? "as the owner of the tables: " + create
                            : "run what walrelay init --print prints as the owner of the tables, "
                              "the way that the server lets pass (as a migration, where an event "
                              "trigger refuses it; \\dy in psql lists them)");
            return;
        }
        found.note("publication_missing",
                   "publication " + wanted.publication + " does not exist yet",
                   "walrelay init (or run) creates it");
        return;
    }
    found.error("publication_missing_for_slot",
                "publication " + wanted.publication +
                    " does not exist, and pgoutput cannot decode "
                    "what slot " +
                    wanted.slot + " holds from before it",
                way_past_publication(wanted, facts, create));
}

void look_at_partitions(const expectations& wanted, const postgres_facts& facts,
                        findings_list& found) {
    if (choose_plugin(wanted, facts) != output_plugin::wal2json) {
        return;
    }
    for (const auto& table : facts.tables) {
        if (table.partitioned) {
            found.note("partitions_with_wal2json",
                       "table " + to_string(table.table) +
                           " is partitioned, and wal2json names only the partition: rows that are "
                           "written into a detached partition are still published until walrelay "
                           "connects again",
                       "do not write into a detached partition, or set postgres.plugin = "
                       "\"pgoutput\" with a slot of its own");
        }
    }
}

}  // namespace

output_plugin choose_plugin(const expectations& wanted, const postgres_facts& facts) {
    if (wanted.plugin) {
        return *wanted.plugin;
    }
    if (facts.slot && is_known_plugin(facts.slot->plugin)) {
        return facts.slot->plugin == to_string(output_plugin::wal2json) ? output_plugin::wal2json
                                                                        : output_plugin::pgoutput;
    }
    // wal2json names only the partition, which says nothing once that is detached or dropped.
    const bool partitioned = std::ranges::any_of(facts.tables, &table_facts::partitioned);
    // Before PostgreSQL 15 it can be too old, and a version that is new enough proves it only by a
    // row.
    constexpr int first_where_all_are_new_enough = 150'000;
    const bool fits = facts.wal2json == plugin_trouble::none && !partitioned &&
                      facts.version_number >= first_where_all_are_new_enough;
    return fits ? output_plugin::wal2json : output_plugin::pgoutput;
}

std::optional<error> waits_to_make(const expectations& wanted, const postgres_facts& facts) {
    if (facts.slot || facts.making_waits) {
        return facts.slot ? std::nullopt : facts.making_waits;
    }
    const bool publishes = choose_plugin(wanted, facts) == output_plugin::pgoutput;
    return publishes && !facts.publication ? facts.publication_waits : std::nullopt;
}

std::optional<backfill_reason> choose_backfill(const expectations& wanted,
                                               const postgres_facts& facts,
                                               const std::optional<earlier_run>& earlier,
                                               bool gap) {
    if (facts.slot) {
        const bool lost = gap || facts.slot->wal_status == "lost";
        return lost && wanted.heals ? std::optional(backfill_reason::slot_lost) : std::nullopt;
    }
    // A stream that has lost its beginning does not tell which rows were published, unless it is
    // known from where on it should have them.
    const bool resumes =
        earlier && earlier->in_snapshot && (earlier->stream_is_whole || !wanted.heals);
    if (wanted.snapshot && (!earlier || resumes)) {
        return earlier ? backfill_reason::interrupted : backfill_reason::first_start;
    }
    return (earlier || gap) && wanted.heals ? std::optional(backfill_reason::slot_lost)
                                            : std::nullopt;
}

std::optional<earlier_run> earlier_run_of(const std::optional<stream_facts>& stream) {
    if (!stream) {
        return std::nullopt;
    }
    if (!stream->last_position) {
        // A message of somebody else at the end is no run of ours; no message at all may hide one.
        const bool hidden =
            stream->last_sequence > 0 && !stream->last_message_there && !stream->is_new();
        return hidden ? std::optional(earlier_run{"it has had messages up to sequence " +
                                                  std::to_string(stream->last_sequence) +
                                                  ", and the last of them is gone"})
                      : std::nullopt;
    }
    return earlier_run{"it ends with position " + to_string(*stream->last_position),
                       is_of_a_snapshot(stream->last_position->at),
                       stream->message_count + stream->counts_from == stream->last_sequence + 1};
}

std::vector<finding> postgres_findings(const expectations& wanted, const postgres_facts& facts,
                                       const std::optional<earlier_run>& earlier) {
    findings_list found;
    look_at_server(facts, found);
    look_at_transport(facts, found);
    look_at_commit_wait(wanted.tables, facts, found);
    look_at_writer(wanted, facts, found);
    look_at_message_ids(wanted, facts, found);
    for (std::size_t index = 0; index < facts.tables.size(); ++index) {
        if (wanted.tables[index].is_tableless()) {
            look_at_messages(wanted.tables[index], facts, choose_plugin(wanted, facts), found);
            look_at_message_writers(wanted.tables[index], facts, found);
            continue;
        }
        look_at_outbox(wanted.tables[index], facts.tables[index], facts, found);
        if (facts.tables[index].exists) {
            look_at_write_backs(wanted.tables[index], facts.tables[index], facts, found);
            look_at_guards(wanted.tables[index], facts.tables[index], facts, found);
            look_at_columns(wanted, wanted.tables[index], facts.tables[index], facts, found);
            look_at_values(wanted.tables[index], facts.tables[index], facts, found);
        }
    }
    look_at_plugin(wanted, facts, found);
    look_at_failover_version(wanted, facts, found);
    if (facts.slot) {
        look_at_slot(wanted, facts, earlier, found);
    } else {
        look_for_missing_slot(wanted, facts, earlier, found);
    }
    if (choose_plugin(wanted, facts) == output_plugin::pgoutput) {
        if (facts.publication) {
            look_at_publication(wanted, facts, found);
        } else {
            look_for_missing_publication(wanted, facts, found);
        }
    }
    look_at_republish(wanted.tables, facts, choose_plugin(wanted, facts), found);
    look_at_partitions(wanted, facts, found);
    look_at_names(wanted, facts, choose_plugin(wanted, facts), found);
    look_at_descendants(wanted, facts, found);
    look_at_own_tables(wanted, facts, choose_plugin(wanted, facts), found);
    return found.take();
}

}  // namespace walrelay::preflight
