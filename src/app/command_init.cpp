#include "app/commands.hpp"
#include "app/exit_code.hpp"
#include "app/fail.hpp"
#include "core/control.hpp"
#include "core/sql_text.hpp"
#include "log/log.hpp"
#include "postgres/catalog/inspector.hpp"
#include "postgres/catalog/own_tables.hpp"
#include "postgres/catalog/slot_acts.hpp"
#include "postgres/catalog/slot_switch.hpp"
#include "postgres/catalog/snapshot_slot.hpp"
#include "postgres/session/server_error.hpp"
#include "postgres/tables/halt_store.hpp"
#include "postgres/tables/witness_store.hpp"
#include "relay/checkpoint/evidence.hpp"
#include "relay/intake/table_catalog.hpp"
#include "servers/broker_side.hpp"
#include "servers/findings_error.hpp"
#include "servers/postgres_access.hpp"
#include "servers/provisioning.hpp"
#include "servers/run_to_end.hpp"
#include "servers/stream_loss.hpp"
#include "servers/translate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <string_view>

namespace walrelay::app {
namespace {

using boost::asio::awaitable;

bool sets_poison_aside(const config::settings& settings) {
    return settings.delivery.on_poison == config::poison_policy::dead_letter;
}

using postgres::own_table;

awaitable<result<void>> make_table(postgres::connection& sql, const config::settings& settings,
                                   own_table table) {
    const auto there = co_await postgres::has_table(sql, table);
    if (!there) {
        co_return there.error();
    }
    if (*there) {
        co_return result<void>{};
    }
    auto outboxes = servers::published_tables_of(settings);
    const auto made = co_await postgres::create_table(sql, table, std::move(outboxes));
    if (made) {
        log<"table_created">("created table " + to_string(table), with<"table">(to_string(table)));
    }
    co_return made;
}

bool run_makes_the_slot(const config::settings& settings) {
    return settings.postgres.snapshot != config::snapshot_mode::none;
}

/// A slot that comes with rows of the tables is made by walrelay run, which reads them at once.
awaitable<result<output_plugin>> make_slot_or_leave_it(servers::executors on,
                                                       postgres::connection& sql,
                                                       const config::settings& settings,
                                                       const postgres_facts& facts,
                                                       bool run_makes_it) {
    if (facts.slot || !run_makes_it) {
        co_return co_await servers::provision(on, sql, settings, facts);
    }
    const auto plugin = preflight::choose_plugin(servers::expectations_of(settings), facts);
    if (plugin == output_plugin::pgoutput && !facts.publication) {
        const auto published = co_await servers::make_publication(sql, settings);
        if (!published) {
            co_return published.error();
        }
    }
    log<"slot_left_to_run">(
        "slot " + settings.postgres.slot +
            " is not created yet: walrelay run creates it together with the snapshot",
        with<"slot">(settings.postgres.slot));
    co_return plugin;
}

awaitable<result<std::optional<stream_facts>>> look_at_stream(servers::executors on,
                                                              const config::settings& settings,
                                                              servers::missing_stream policy) {
    const nats::connection_events unheard{[](const nats::reply&) {}, [] {}, [] {},
                                          [](const error&) {}};
    const auto broker =
        co_await servers::prepare_broker(on.loop, on.blocking, settings, 1, unheard, policy);
    if (!broker) {
        co_return broker.error();
    }
    const auto& facts = (*broker)->facts();
    if (!facts.stream) {
        co_await (*broker)->look_at_account(settings.nats.replicas);
        if (const auto forbids = servers::forbids_to_make(settings, facts)) {
            co_return *forbids;
        }
        const auto taken = co_await servers::subjects_of_others(on.blocking, settings);
        if (taken) {
            co_return error{errc::broker_unsuitable, taken->what, taken->remedy};
        }
    }
    if (policy == servers::missing_stream::leave && facts.stream) {
        const auto findings = preflight::broker_findings(servers::expectations_of(settings), facts);
        if (!can_start(findings)) {
            co_return *servers::to_error(findings, errc::broker_unsuitable);
        }
    }
    co_return facts.stream;
}

/// Whether the stream lacks what was stored before: nothing is made beside it then, nor where that
/// is not known.
awaitable<std::optional<error>> lost_since(servers::executors on, postgres::connection& sql,
                                           const config::settings& settings,
                                           const stream_facts& stream) {
    auto slot = settings.postgres.slot;
    const auto known = co_await postgres::read_witness(sql, slot, 0);
    if (!known && known.error().code != errc::postgres_unsuitable) {
        co_return known.error();
    }
    if (!known || !*known || (*known)->what.sequence == 0) {
        co_return std::nullopt;
    }
    const auto& what = (*known)->what;
    const auto seen = co_await servers::evidence_for(on, settings, what, stream);
    if (!seen) {
        co_return seen.error();
    }
    const auto judged = relay::judge_stream(what, *seen);
    if (!relay::is_loss(judged)) {
        co_return std::nullopt;
    }
    auto lost = relay::stream_has_lost(what, *seen, judged, slot);
    lost.code = errc::broker_unsuitable;
    co_return lost;
}

/// What forbids to make anything. With `new_slot` the operator has been told what an earlier run
/// means for a slot that is missing.
std::optional<error> objections(const config::settings& settings, const postgres_facts& facts,
                                const std::optional<stream_facts>& stream, bool new_slot,
                                const std::optional<preflight::earlier_run>& known_run) {
    const auto expected = servers::expectations_of(settings);
    if (stream) {
        const auto taken = relay::owner_findings(expected, servers::owner_of(settings, facts),
                                                 stream->description);
        if (auto forbids = servers::to_error(taken, errc::broker_unsuitable)) {
            return forbids;
        }
    }
    const auto earlier = new_slot ? std::nullopt : known_run;
    return servers::to_error(
        preflight::postgres_findings(expected, servers::as_completed(facts), earlier),
        errc::postgres_unsuitable);
}

/// Without the others rows are relayed all the same: a warning.
awaitable<result<void>> make_tables(postgres::connection& sql, const config::settings& settings,
                                    bool remembers_partitions) {
    if (sets_poison_aside(settings)) {
        const auto made = co_await make_table(sql, settings, own_table::dead_letter);
        if (!made) {
            co_return made.error();
        }
    }
    if (remembers_partitions) {
        const auto made = co_await make_table(sql, settings, own_table::partition);
        if (!made) {
            co_return made.error();
        }
    }
    for (const auto table :
         {own_table::halt, own_table::control, own_table::slot_start, own_table::witness,
          own_table::bookmark, own_table::trail, own_table::replay}) {
        const auto made = co_await make_table(sql, settings, table);
        if (!made) {
            log<"table_not_created">(to_string(made.error()), with<"error">(made.error().code));
        }
    }
    co_return result<void>{};
}

/// What was just made, or is called a new beginning, is where belief begins.
awaitable<void> note_beginning(servers::executors on, postgres::connection& sql,
                               const config::settings& settings, const stream_facts& stream,
                               bool new_slot) {
    const auto kept = co_await servers::begin_witness(on, sql, settings, stream);
    if (!kept) {
        log<"witness_not_kept">(
            to_string(kept.error()) +
                "; a stream or a slot that loses something before the first row is relayed may go "
                "unnoticed",
            with<"slot">(settings.postgres.slot), with<"error">(kept.error().code));
    }
    // A new stream lacks what the old one had: whether that is healed or given up is another word.
    if (!new_slot) {
        co_return;
    }
    const auto ended = co_await postgres::forget_halt(sql, settings.postgres.slot, "");
    if (!ended) {
        log<"halt_not_removed">(to_string(ended.error()) + "; fix: walrelay resume",
                                with<"slot">(settings.postgres.slot),
                                with<"error">(ended.error().code));
    }
}

/// Where others may write as well, no mark tells whose the stream is.
awaitable<void> mark_stream(servers::executors on, const config::settings& settings,
                            const postgres_facts& facts,
                            const std::optional<stream_facts>& stream) {
    if (!settings.nats.sole_writer) {
        co_return;
    }
    auto description = stream ? stream->description : std::string();
    auto owner = servers::owner_of(settings, facts);
    const auto marked =
        co_await servers::claim_stream(on.blocking, settings, owner, owner, std::move(description));
    if (!marked) {
        log<"stream_not_marked">(to_string(marked.error()), with<"stream">(settings.nats.stream),
                                 with<"error">(marked.error().code));
    }
}

/// What is made beside the stream, which is there now.
awaitable<result<output_plugin>> make_rest(servers::executors on, postgres::connection& sql,
                                           const config::settings& settings,
                                           const postgres_facts& facts,
                                           const std::optional<stream_facts>& stream,
                                           bool run_makes_slot, init_options options) {
    const auto plugin = co_await make_slot_or_leave_it(on, sql, settings, facts, run_makes_slot);
    if (!plugin) {
        co_return plugin.error();
    }
    const relay::table_catalog catalog(settings.outbox, facts);
    const auto made = co_await make_tables(sql, settings, catalog.names_leaves(*plugin));
    if (!made) {
        co_return made.error();
    }
    // A slot that is there was made by somebody else, or moved: what it does not send is not given
    // up by a command that makes none.
    const bool new_slot = options.new_slot && !facts.slot;
    if (options.new_slot && !new_slot) {
        log<"init_step">("slot " + settings.postgres.slot +
                         " is there and stays as it is; a halt of it is ended by walrelay resume");
    }
    if (stream && (options.new_stream || !facts.slot)) {
        co_await note_beginning(on, sql, settings, *stream, new_slot);
    }
    co_return *plugin;
}

/// Where the configuration leaves it open: that of a change that broke off, else the other one than
/// the slot's.
awaitable<result<output_plugin>> other_plugin(postgres::connection& sql,
                                              const config::settings& settings,
                                              const postgres_facts& facts) {
    if (settings.postgres.plugin) {
        co_return *settings.postgres.plugin;
    }
    auto waiting = postgres::waiting_slot_name(settings.postgres.slot);
    const auto waits = co_await postgres::find_slot(sql, std::move(waiting));
    if (!waits) {
        co_return waits.error();
    }
    const std::string_view pgoutput = to_string(output_plugin::pgoutput);
    if (*waits) {
        co_return (*waits)->plugin == pgoutput ? output_plugin::pgoutput : output_plugin::wal2json;
    }
    const auto plugin = facts.slot ? facts.slot->plugin : std::string();
    co_return plugin == pgoutput ? output_plugin::wal2json : output_plugin::pgoutput;
}

std::string publication_sql(const config::settings& settings) {
    auto tables = servers::published_tables_of(settings);
    tables.push_back(control_table());
    return create_publication_sql(settings.postgres.publication, tables,
                                  published_operations(settings.outbox));
}

/// Not what the preflight says of a slot without its publication: this one works as it is.
error lacks_publication(const config::settings& settings) {
    return {errc::postgres_unsuitable,
            "there is no publication " + settings.postgres.publication +
                ", without which pgoutput relays nothing; slot " + settings.postgres.slot +
                " was left as it is",
            publication_sql(settings) +
                " then let walrelay run go on with wal2json until it has caught up, wait for a "
                "minute, and try again"};
}

/// What forbids to relay with the other plugin.
std::optional<error> objections_to(output_plugin plugin, config::settings settings,
                                   postgres_facts facts,
                                   const std::optional<stream_facts>& stream) {
    if (plugin == output_plugin::pgoutput && !facts.publication) {
        return lacks_publication(settings);
    }
    settings.postgres.plugin = plugin;
    facts.slot_waits = false;
    if (facts.slot) {
        facts.slot->plugin = to_string(plugin);
    }
    return objections(settings, facts, stream, !facts.slot, preflight::earlier_run_of(stream));
}

awaitable<result<void>> switch_slot(servers::executors on, postgres::connection& sql,
                                    const config::settings& settings,
                                    const std::optional<stream_facts>& stream) {
    auto wanted = servers::inspection_of(settings);
    const auto facts = co_await servers::inspect(on.loop, settings, sql, std::move(wanted));
    if (!facts) {
        co_return facts.error();
    }
    const auto other = co_await other_plugin(sql, settings, *facts);
    if (!other) {
        co_return other.error();
    }
    postgres::slot_switch change{settings.postgres.slot, *other, settings.postgres.publication};
    if (const auto forbids = objections_to(change.to, settings, *facts, stream)) {
        co_return *forbids;
    }
    if (auto done = co_await postgres::switch_plugin(sql, std::move(change)); !done) {
        co_return done;
    }
    // A copy has not that which lets standbys keep it.
    if (preflight::choose_failover(servers::expectations_of(settings), *facts)) {
        auto replication = co_await servers::open_replication(on.loop, settings);
        if (!replication) {
            co_return replication.error();
        }
        if (auto kept = co_await postgres::enable_failover(*replication, settings.postgres.slot);
            !kept) {
            co_return kept;
        }
    }
    log<"slot_switched">("slot " + settings.postgres.slot + " resumes where it stood",
                         with<"slot">(settings.postgres.slot), with<"plugin">(*other));
    co_return result<void>{};
}

/// What there is, where nothing forbids to make the rest.
awaitable<result<postgres_facts>> inspect_all(servers::executors on, postgres::connection& sql,
                                              const config::settings& settings,
                                              const std::optional<stream_facts>& stream,
                                              bool new_slot) {
    auto wanted = servers::inspection_of(settings);
    wanted.to_publish = servers::tables_to_publish(settings);
    wanted.trial = postgres::replication_trial::always;
    auto facts = co_await servers::inspect(on.loop, settings, sql, std::move(wanted));
    if (!facts) {
        co_return facts.error();
    }
    if (!facts->schema_flaws.empty()) {
        const auto& flaw = facts->schema_flaws.front();
        co_return error{errc::postgres_unsuitable, flaw.what, flaw.remedy};
    }
    if (!facts->making_refused.empty()) {
        co_return error{errc::postgres_unsuitable,
                        "PostgreSQL refuses to make the tables of the schema walrelay; nothing was "
                        "made",
                        std::string(postgres::how_past_event_triggers), facts->making_refused};
    }
    const auto known_run =
        co_await servers::known_run(sql, settings, *facts, preflight::earlier_run_of(stream));
    if (!known_run) {
        co_return known_run.error();
    }
    if (const auto forbids = objections(settings, *facts, stream, new_slot, *known_run)) {
        co_return *forbids;
    }
    if (auto waits = preflight::waits_to_make(servers::expectations_of(settings), *facts)) {
        co_return *std::move(waits);
    }
    const auto letters = co_await servers::read_dead_letters(sql, settings, *facts);
    if (!letters) {
        co_return letters.error();
    }
    co_return std::move(facts);
}

/// What is done with the slot that is there, and what of the stream forbids to go on.
awaitable<std::optional<error>> prepare_slot(servers::executors on, postgres::connection& sql,
                                             const config::settings& settings,
                                             const std::optional<stream_facts>& stream,
                                             init_options options) {
    if (options.switch_plugin) {
        const auto switched = co_await switch_slot(on, sql, settings, stream);
        if (!switched) {
            co_return switched.error();
        }
    }
    if (options.new_stream || !stream) {
        co_return std::nullopt;
    }
    co_return co_await lost_since(on, sql, settings, *stream);
}

/// Whether the slot is made by `walrelay run`, with its snapshot.
awaitable<result<bool>> leaves_slot_to_run(postgres::connection& sql,
                                           const config::settings& settings, postgres_facts& facts,
                                           const std::optional<stream_facts>& stream,
                                           bool new_slot) {
    const auto earlier =
        co_await servers::known_run(sql, settings, facts, preflight::earlier_run_of(stream));
    if (!earlier) {
        co_return earlier.error();
    }
    if (new_slot) {
        // An earlier slot has sent them, or began with them.
        std::ranges::for_each(facts.tables, [](table_facts& each) { each.rows.reset(); });
        facts.slot_began_with = "unknown";
    }
    co_return !(new_slot && *earlier) &&
        preflight::choose_backfill(servers::expectations_of(settings), facts, *earlier, false)
            .has_value();
}

/// Begins with the stream: what an account may have is known for sure only once it is there.
awaitable<result<void>> make_all(servers::executors on, postgres::connection& sql,
                                 const config::settings& settings, postgres_facts facts,
                                 const std::optional<stream_facts>& seen, init_options options) {
    log<"init_step">("nothing stands in the way: creating what is missing");
    const auto policy =
        options.new_stream ? servers::missing_stream::make_anew : servers::missing_stream::create;
    const auto stream = co_await look_at_stream(on, settings, policy);
    if (!stream) {
        co_return stream.error();
    }
    const bool uses_publication = preflight::choose_plugin(servers::expectations_of(settings),
                                                           facts) == output_plugin::pgoutput;
    const bool is_completed =
        co_await servers::complete_control(sql, settings, facts, uses_publication);
    if (is_completed) {
        // Some things can only be tried with the table.
        auto completed = co_await inspect_all(on, sql, settings, seen, options.new_slot);
        if (!completed) {
            co_return completed.error();
        }
        facts = std::move(*completed);
    }
    const auto run_makes_slot =
        co_await leaves_slot_to_run(sql, settings, facts, seen, options.new_slot);
    if (!run_makes_slot) {
        co_return run_makes_slot.error();
    }
    const auto plugin =
        co_await make_rest(on, sql, settings, facts, *stream, *run_makes_slot, options);
    if (!plugin) {
        co_return plugin.error();
    }
    co_await mark_stream(on, settings, facts, *stream);
    log<"init_done">("ready: slot " + settings.postgres.slot + " (" + to_string(*plugin) +
                         "), stream " + settings.nats.stream + "; start with walrelay run",
                     with<"slot">(settings.postgres.slot), with<"plugin">(*plugin),
                     with<"stream">(settings.nats.stream));
    co_return result<void>{};
}

awaitable<int> create_all(servers::executors on, const config::settings& settings,
                          init_options options) {
    // Everything is looked at before anything is made, so that a refusal leaves nothing there.
    log<"init_step">("looking at stream " + settings.nats.stream + " on the broker");
    const auto stream = co_await look_at_stream(on, settings, servers::missing_stream::leave);
    if (!stream) {
        co_return fail(stream.error());
    }
    log<"init_step">("looking at the database, its tables and slot " + settings.postgres.slot);
    auto sql = co_await servers::open_sql(on.loop, settings);
    if (!sql) {
        co_return fail(sql.error());
    }
    const auto refused = co_await prepare_slot(on, *sql, settings, *stream, options);
    if (refused) {
        co_return fail(*refused);
    }
    auto facts = co_await inspect_all(on, *sql, settings, *stream, options.new_slot);
    if (!facts) {
        co_return fail(facts.error());
    }
    const auto made = co_await make_all(on, *sql, settings, std::move(*facts), *stream, options);
    if (!made) {
        co_return fail(made.error());
    }
    co_return exit_done;
}

void print_sql(const config::settings& settings, output_plugin plugin) {
    fmt::print("-- PostgreSQL, in the database of the outbox\n");
    fmt::print("{}\n", postgres::create_table_sql(own_table::control));
    if (plugin == output_plugin::pgoutput) {
        fmt::print("{}\n", publication_sql(settings));
    }
    if (run_makes_the_slot(settings)) {
        fmt::print("-- walrelay run makes slot {} together with its snapshot\n{}\n",
                   settings.postgres.slot, postgres::create_table_sql(own_table::slot_start));
    } else {
        const bool failover = settings.postgres.failover.value_or(false);
        fmt::print("{}\n", create_slot_sql(settings.postgres.slot, plugin, failover));
        if (!settings.postgres.failover) {
            fmt::print(
                "-- PostgreSQL 17 and newer: with failover => true, as walrelay init does\n");
        }
    }
    if (sets_poison_aside(settings)) {
        fmt::print("\n{}", postgres::create_table_sql(own_table::dead_letter));
    }
    for (const auto table : {own_table::halt, own_table::slot_start, own_table::witness,
                             own_table::bookmark, own_table::trail, own_table::replay}) {
        fmt::print("\n{}", postgres::create_table_sql(table));
    }
    if (plugin == output_plugin::wal2json) {
        fmt::print("\n-- for a partitioned outbox\n{}",
                   postgres::create_table_sql(own_table::partition));
    }
}

/// `begins`: of each line.
void print_stream(const config::settings& settings, std::string_view begins) {
    if (!begins.empty()) {
        fmt::print("\n{}JetStream: nats stream add --config FILE, with a file that holds\n",
                   begins);
    }
    std::istringstream lines(to_json(servers::stream_definition_of(settings)));
    for (std::string line; std::getline(lines, line);) {
        fmt::print("{}{}\n", begins, line);
    }
}

/// `what`: "sql" or "stream" alone, or "all".
awaitable<int> print(servers::executors on, const config::settings& settings, std::string what) {
    if (what == "stream") {
        print_stream(settings, "");
        co_return exit_done;
    }
    auto plugin = settings.postgres.plugin;
    if (!plugin) {
        auto sql = co_await servers::open_sql(on.loop, settings);
        if (!sql) {
            co_return fail(sql.error());
        }
        auto wanted = servers::inspection_of(settings);
        const auto facts = co_await servers::inspect(on.loop, settings, *sql, std::move(wanted));
        if (!facts) {
            co_return fail(facts.error());
        }
        plugin = preflight::choose_plugin(servers::expectations_of(settings), *facts);
    }
    print_sql(settings, *plugin);
    if (what != "sql") {
        print_stream(settings, "-- ");
    }
    co_return exit_done;
}

}  // namespace

int command_init(const config::settings& settings, init_options options) {
    return servers::run_to_end([&](servers::executors on) {
        return options.print_only.empty() ? create_all(on, settings, options)
                                          : print(on, settings, options.print_only);
    });
}

}  // namespace walrelay::app
