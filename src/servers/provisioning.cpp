#include "servers/provisioning.hpp"

#include "core/control.hpp"
#include "core/sql_text.hpp"
#include "log/log.hpp"
#include "postgres/catalog/inspector.hpp"
#include "postgres/catalog/own_tables.hpp"
#include "postgres/catalog/provisioner.hpp"
#include "postgres/tables/dead_letter_store.hpp"
#include "postgres/tables/slot_start.hpp"
#include "postgres/tables/witness_store.hpp"
#include "preflight/preflight.hpp"
#include "relay/checkpoint/evidence.hpp"
#include "servers/findings_error.hpp"
#include "servers/postgres_access.hpp"
#include "servers/translate.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace walrelay::servers {
namespace {

using boost::asio::awaitable;

/// With its snapshot kept where that is possible: a standby exports none.
awaitable<result<lsn>> make_slot_and_keep_start(executors on, postgres::connection& sql,
                                                const config::settings& settings,
                                                const postgres_facts& facts, output_plugin plugin) {
    auto slot = settings.postgres.slot;
    const bool failover = preflight::choose_failover(expectations_of(settings), facts);
    if (facts.in_recovery) {
        co_return co_await postgres::create_slot(sql, std::move(slot), plugin, failover);
    }
    auto replication = co_await open_replication(on.loop, settings);
    if (!replication) {
        co_return replication.error();
    }
    auto made = co_await postgres::create_slot_with_snapshot(*replication, slot, plugin, failover);
    if (!made) {
        co_return made.error();
    }
    const auto begins = made->consistent_point;
    co_await keep_start(sql, settings, std::move(*made), facts.slot_began_with.value_or("none"));
    co_return begins;
}

awaitable<result<void>> make_slot(executors on, postgres::connection& sql,
                                  const config::settings& settings, const postgres_facts& facts,
                                  output_plugin plugin) {
    log<"slot_waits">("creating slot " + settings.postgres.slot + " with plugin " +
                          to_string(plugin) +
                          ": PostgreSQL waits for the transactions that run now",
                      with<"slot">(settings.postgres.slot));
    const auto made = co_await make_slot_and_keep_start(on, sql, settings, facts, plugin);
    if (!made) {
        co_return made.error();
    }
    log<"slot_created">(
        "created slot " + settings.postgres.slot + " with plugin " + to_string(plugin) +
            " at LSN " + to_string(*made) + ": rows committed from now on are relayed",
        with<"slot">(settings.postgres.slot), with<"plugin">(plugin), with<"lsn">(*made));
    co_return result<void>{};
}

/// Whether the database shows that rows were relayed into a stream, which is not there: an error
/// then. A relay that only stands by must not halt the one that has the slot.
awaitable<result<void>> shows_a_run(postgres::connection& sql, const config::settings& settings,
                                    const postgres_facts& facts) {
    auto slot = settings.postgres.slot;
    const auto known = co_await postgres::read_witness(sql, slot, facts.origin.system_identifier);
    if (!known && known.error().code != errc::postgres_unsuitable) {
        co_return known.error();
    }
    std::optional<error> ran;
    if (known && *known) {
        if ((*known)->what.sequence > 0) {
            ran = relay::stream_is_gone((*known)->what, settings.nats.stream, slot);
        }
    } else if (facts.slot && facts.slot->confirmed) {
        const auto start = co_await postgres::read_slot_start(sql, slot);
        const auto began = start && *start ? (*start)->consistent_point : *facts.slot->confirmed;
        if (*facts.slot->confirmed > began) {
            ran =
                relay::stream_is_missing(settings.nats.stream, slot, began, *facts.slot->confirmed);
        }
    }
    if (!ran) {
        co_return result<void>{};
    }
    if (facts.slot && facts.slot->active) {
        ran->code = errc::broker_unsuitable;
    }
    co_return *ran;
}

/// And may be given it.
bool lacks_control(const std::optional<publication_facts>& publication) {
    return publication && publication->owned && !publication->for_all_tables &&
           std::ranges::find(publication->tables, control_table()) == publication->tables.end();
}

}  // namespace

postgres_facts as_completed(postgres_facts facts) {
    const bool comes = facts.controls.exists || facts.may_make_tables;
    if (comes && facts.publication && facts.publication->owned) {
        facts.publication->tables.push_back(control_table());
    }
    if (facts.can_complete_control()) {
        facts.control_secret = "made before it is needed";
    }
    return facts;
}

awaitable<result<std::vector<position>>> read_dead_letters(postgres::connection& sql,
                                                           const config::settings& settings,
                                                           const postgres_facts& facts) {
    if (settings.delivery.on_poison != config::poison_policy::dead_letter ||
        !facts.dead_letters.exists || !facts.schema_flaws.empty()) {
        co_return std::vector<position>{};
    }
    const auto from = facts.slot && facts.slot->confirmed ? *facts.slot->confirmed : facts.current;
    co_return co_await postgres::dead_letters_after(sql, from, settings.postgres.slot);
}

awaitable<result<void>> look_before_making(boost::asio::any_io_executor executor,
                                           const config::settings& settings,
                                           bool is_new_beginning) {
    auto sql = co_await open_sql(executor, settings);
    if (!sql) {
        co_return sql.error();
    }
    auto wanted = inspection_of(settings);
    wanted.to_publish = tables_to_publish(settings);
    const auto facts = co_await inspect(executor, settings, *sql, std::move(wanted));
    if (!facts) {
        co_return facts.error();
    }
    if (!is_new_beginning) {
        auto ran = co_await shows_a_run(*sql, settings, *facts);
        if (!ran) {
            co_return ran;
        }
    }
    const auto expected = expectations_of(settings);
    auto completed = as_completed(*facts);
    // A relay that starts ends the rewind, before it looks itself.
    completed.slot_is_rewinding = false;
    const auto findings = preflight::postgres_findings(expected, completed, std::nullopt);
    if (!can_start(findings)) {
        co_return *to_error(findings, errc::postgres_unsuitable);
    }
    if (auto waits = preflight::waits_to_make(expected, *facts)) {
        co_return *std::move(waits);
    }
    const auto letters = co_await read_dead_letters(*sql, settings, *facts);
    if (!letters) {
        co_return letters.error();
    }
    const auto replication = co_await open_replication(executor, settings);
    if (!replication) {
        co_return replication.error();
    }
    co_return result<void>{};
}

awaitable<bool> complete_control(postgres::connection& sql, const config::settings& settings,
                                 const postgres_facts& facts, bool may_alter) {
    bool has_table = facts.controls.exists;
    if (facts.in_recovery || !facts.schema_flaws.empty()) {
        co_return false;
    }
    const bool lacks_key = facts.can_complete_control();
    if ((!has_table && facts.may_make_tables) || lacks_key) {
        auto tables = published_tables_of(settings);
        const auto made =
            co_await postgres::create_table(sql, postgres::own_table::control, std::move(tables));
        if (!made) {
            // Also where somebody was faster: it is looked at again.
            co_return true;
        }
        log<"table_created">(
            lacks_key ? "created table walrelay.control_key" : "created table walrelay.control",
            with<"table">(control_table()));
        has_table = true;
    }
    bool completed = lacks_key || has_table != facts.controls.exists;
    if (has_table && may_alter && lacks_control(facts.publication)) {
        const auto added = co_await postgres::add_to_publication(sql, settings.postgres.publication,
                                                                 control_table());
        if (added) {
            log<"publication_extended">(
                "added table walrelay.control to publication " + settings.postgres.publication,
                with<"publication">(settings.postgres.publication), with<"table">(control_table()));
            completed = true;
        }
    }
    co_return completed;
}

awaitable<result<void>> make_publication(postgres::connection& sql,
                                         const config::settings& settings) {
    auto tables = published_tables_of(settings);
    const auto made_control =
        co_await postgres::create_table(sql, postgres::own_table::control, tables);
    if (made_control) {
        tables.push_back(control_table());
    } else {
        log<"table_not_created">(to_string(made_control.error()),
                                 with<"error">(made_control.error().code));
    }
    const std::string publish{published_operations(settings.outbox)};
    auto made =
        co_await postgres::create_publication(sql, settings.postgres.publication, tables, publish);
    if (!made && made_control) {
        // The table can be somebody else's.
        tables.pop_back();
        made = co_await postgres::create_publication(sql, settings.postgres.publication, tables,
                                                     publish);
    }
    if (!made) {
        co_return made.error();
    }
    log<"publication_created">("created publication " + settings.postgres.publication,
                               with<"publication">(settings.postgres.publication));
    co_return result<void>{};
}

awaitable<void> keep_start(postgres::connection& sql, const config::settings& settings,
                           postgres::snapshot_slot made, std::string published) {
    auto slot = settings.postgres.slot;
    auto tables = published_tables_of(settings);
    const auto kept = co_await postgres::keep_slot_start(sql, std::move(made), std::move(slot),
                                                         std::move(published), std::move(tables));
    if (!kept) {
        log<"slot_start_not_kept">(
            "walrelay verify --since-slot will not know what was there before slot " +
                settings.postgres.slot + ": " + to_string(kept.error()),
            with<"slot">(settings.postgres.slot), with<"error">(kept.error().code));
    }
}

awaitable<result<output_plugin>> provision(executors on, postgres::connection& sql,
                                           const config::settings& settings,
                                           const postgres_facts& facts) {
    const auto expected = expectations_of(settings);
    auto plugin = preflight::choose_plugin(expected, facts);
    if (facts.slot) {
        co_return plugin;
    }
    for (const auto& each : preflight::rows_before_slot(expected, facts)) {
        log_finding(each);
    }
    if (plugin == output_plugin::wal2json) {
        const auto made = co_await make_slot(on, sql, settings, facts, plugin);
        // What passes, like another relay's making the slot just now, says nothing of the plugin.
        const bool refused = !made && made.error().code == errc::postgres_unsuitable;
        if (!refused || settings.postgres.plugin) {
            co_return made ? result<output_plugin>(plugin) : made.error();
        }
        log<"plugin_chosen">(
            "wal2json cannot be used here (" + made.error().server_said + "); using pgoutput",
            with<"plugin">(output_plugin::pgoutput));
        plugin = output_plugin::pgoutput;
    }
    // The publication first: pgoutput cannot decode from before it.
    if (!facts.publication) {
        const auto published = co_await make_publication(sql, settings);
        if (!published) {
            co_return published.error();
        }
    }
    const auto made = co_await make_slot(on, sql, settings, facts, plugin);
    if (!made) {
        co_return made.error();
    }
    co_return plugin;
}

namespace {

/// A first start with a snapshot of which nothing had to be published writes the witness, and ends
/// before it has its slot: its next try begins anew. A slot that was made has its slot_start.
awaitable<result<bool>> is_unfinished_start(postgres::connection& sql,
                                            const config::settings& settings,
                                            const witness& known) {
    if (known.sequence > 0 || settings.postgres.snapshot == config::snapshot_mode::none) {
        co_return false;
    }
    auto slot = settings.postgres.slot;
    const auto start = co_await postgres::read_slot_start(sql, std::move(slot));
    if (!start) {
        co_return start.error();
    }
    co_return !start->has_value();
}

}  // namespace

awaitable<result<std::optional<preflight::earlier_run>>> known_run(
    postgres::connection& sql, const config::settings& settings, const postgres_facts& facts,
    std::optional<preflight::earlier_run> of_stream) {
    if (!of_stream && !facts.slot) {
        auto slot = settings.postgres.slot;
        const auto kept =
            co_await postgres::read_witness(sql, std::move(slot), facts.origin.system_identifier);
        if (!kept && kept.error().code != errc::postgres_unsuitable) {
            co_return kept.error();
        }
        if (!kept || !*kept) {
            co_return of_stream;
        }
        const auto unfinished = co_await is_unfinished_start(sql, settings, (*kept)->what);
        if (!unfinished) {
            co_return unfinished.error();
        }
        if (!*unfinished) {
            of_stream = preflight::earlier_run{relay::to_text((*kept)->what), false, false, true};
        }
    }
    co_return std::move(of_stream);
}

awaitable<result<void>> begin_witness(executors on, postgres::connection& sql,
                                      const config::settings& settings,
                                      const stream_facts& stream) {
    const auto stands = co_await find_slot(on.loop, settings, sql);
    if (!stands) {
        co_return stands.error();
    }
    if (!stands->place.confirmed) {
        co_return result<void>{};  // walrelay run makes it
    }
    const auto origin = stands->server.line.origin;
    auto slot = settings.postgres.slot;
    const auto known = co_await postgres::read_witness(sql, slot, origin.system_identifier);
    if (!known) {
        co_return known.error();
    }
    witness what;
    what.stream = settings.nats.stream;
    what.created = stream.created;
    what.sequence = stream.last_sequence;
    what.where = stream.final_position;
    what.told = *stands->place.confirmed;
    what.origin = origin;
    what.version = *known ? (*known)->what.version : 0;
    auto outboxes = published_tables_of(settings);
    const auto stored = co_await postgres::store_witness(sql, std::move(slot), std::move(what),
                                                         std::move(outboxes));
    if (!stored) {
        co_return stored.error();
    }
    if (!*stored) {
        co_return error{errc::postgres_lost,
                        "another session has changed walrelay.witness just now",
                        "the same command again, with no relay running"};
    }
    co_return result<void>{};
}

}  // namespace walrelay::servers
