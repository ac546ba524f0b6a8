#include "app/postgres_side.hpp"

#include "app/clock.hpp"
#include "app/facts_watch.hpp"
#include "app/missing_list.hpp"
#include "core/control.hpp"
#include "core/gap_words.hpp"
#include "core/joined.hpp"
#include "core/sql_text.hpp"
#include "log/log.hpp"
#include "postgres/catalog/inspector.hpp"
#include "postgres/catalog/slot_rewind.hpp"
#include "postgres/tables/dead_letter_desk.hpp"
#include "postgres/tables/dead_letter_store.hpp"
#include "postgres/tables/partition_memory.hpp"
#include "postgres/tables/slot_start.hpp"
#include "postgres/tables/witness_store.hpp"
#include "preflight/own_tables.hpp"
#include "preflight/preflight.hpp"
#include "preflight/synced_slot.hpp"
#include "relay/confirm/feedback.hpp"
#include "servers/findings_error.hpp"
#include "servers/halt_gate.hpp"
#include "servers/postgres_access.hpp"
#include "servers/provisioning.hpp"
#include "servers/run_to_end.hpp"
#include "servers/translate.hpp"
#include "servers/unfinished_search.hpp"
#include "tasks/backfill/backfill_source.hpp"
#include "tasks/startup_check/startup_check.hpp"
#include "wal/replication_frame.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <stop_token>
#include <string>
#include <utility>

namespace walrelay::app {
namespace {

using boost::asio::awaitable;

/// The filter for wal2json. A partition that does not exist yet cannot be named, so a partitioned
/// outbox is relayed without a filter.
std::vector<table_name> filter_of(const postgres_facts& facts) {
    std::vector<table_name> names;
    for (const auto& table : facts.tables) {
        if (table.partitioned) {
            return {};
        }
        names.push_back(table.table);
    }
    names.push_back(control_table());
    return names;
}

/// A prefix of messages that nobody can guess, so that nobody can send any.
std::string nonce() {
    std::random_device random;
    std::uniform_int_distribution<std::uint64_t> numbers;
    return fmt::format("{:016x}{:016x}", numbers(random), numbers(random));
}

/// A gap is an error that is kept: whoever meets it next must find it. What a standby lacks is
/// none: it may be about to be promoted, or the wrong server.
std::optional<error> forbidding(const std::vector<finding>& findings, const postgres_facts& facts) {
    auto why = servers::to_error(findings, errc::postgres_unsuitable);
    const auto is_gap = [](const finding& each) {
        return each.severity == finding_severity::error &&
               (each.code.text() == "slot_gone" || each.code.text() == "slot_lost");
    };
    if (why && !facts.in_recovery && std::ranges::any_of(findings, is_gap)) {
        why->code = errc::gap_found;
    }
    return why;
}

std::vector<finding> findings_for(const preflight::expectations& expected,
                                  const postgres_facts& facts, const known_before& known) {
    auto findings = preflight::postgres_findings(expected, facts, known.earlier);
    if (known.gap) {
        // What the slot holds is given up for the rows of the tables, and the slot made again.
        std::erase_if(findings, [](const finding& each) {
            return each.code.text() == "publication_after_slot";
        });
    }
    return findings;
}

preflight::expectations expectations_of(const config::settings& settings,
                                        const known_before& known) {
    auto expected = servers::expectations_of(settings);
    expected.heals = expected.heals || known.heals;
    return expected;
}

/// A halt that was taken back is not passed unless it can be told whether rows are missing.
error cannot_compare(const std::string& slot, const error& why) {
    return {errc::gap_found,
            "slot " + slot +
                " was halted and resumed, and whether rows are still missing cannot be told: " +
                why.what,
            (why.remedy.empty() ? "" : why.remedy + ", then walrelay resume; or: ") +
                std::string(how_to_close_a_gap)};
}

error are_missing(const std::string& slot, const missing_list& missing) {
    return {errc::gap_found,
            "slot " + slot + " was halted and resumed, but " + short_text_of(missing),
            how_to_close_a_gap};
}

/// The reading of the stream blocks its thread, so that it is done on another, with what a command
/// would have there. Nobody waits for it once the program is to stop.
awaitable<result<missing_list>> compare_apart(servers::executors on, config::settings settings) {
    const servers::unfinished_search search(on.given_up, settings.nats.stream);
    const auto comparing = [](std::stop_token given_up,
                              config::settings of) -> awaitable<result<missing_list>> {
        result<missing_list> found = servers::search_given_up(of.nats.stream);
        servers::run_unless(std::move(given_up), [&](servers::executors there) -> awaitable<int> {
            found = co_await look_for_missing(there, of, missing_scope::since_slot);
            co_return 0;
        });
        co_return found;
    };
    co_return co_await boost::asio::co_spawn(
        on.blocking, comparing(on.given_up, std::move(settings)), boost::asio::use_awaitable);
}

/// Before a halt is passed that was taken back by who did not look. Where it is not known what was
/// in the tables before the slot, their newest rows decide.
awaitable<result<void>> compare_all(servers::executors on, postgres::connection& sql,
                                    const config::settings& settings, servers::halt_gate& gate,
                                    bool& newest_rows_decide) {
    const auto missing = co_await compare_apart(on, settings);
    if (!missing) {
        const auto& why = missing.error();
        const auto then = advice_for(why.code);
        const bool is_for_now = then == advice::retry || then == advice::reconnect;
        co_return is_for_now ? error{errc::postgres_lost, why.what, why.remedy}
                             : cannot_compare(settings.postgres.slot, why);
    }
    if (missing->count > 0) {
        co_return are_missing(settings.postgres.slot, *missing);
    }
    if (missing->removed_rows > 0) {
        log<"removed_rows_not_counted">(text_of_removed(*missing),
                                        with<"stream">(settings.nats.stream),
                                        with<"rows">(missing->removed_rows));
    }
    newest_rows_decide = missing->start_unknown;
    if (newest_rows_decide) {
        co_return result<void>{};  // nothing was compared yet
    }
    co_return co_await gate.was_compared(sql);
}

/// How the slot may be taken; after a comparison where a halt was taken back by who did not look.
awaitable<result<servers::passage>> ask(servers::executors on, postgres::connection& sql,
                                        const config::settings& settings, servers::halt_gate& gate,
                                        bool& newest_rows_decide) {
    auto how = co_await gate.ask(sql);
    if (!how || *how != servers::passage::compares) {
        co_return how;
    }
    const auto compared =
        co_await compare_all(std::move(on), sql, settings, gate, newest_rows_decide);
    if (!compared) {
        co_return compared.error();
    }
    how = co_await gate.ask(sql);
    if (!how || *how != servers::passage::compares) {
        co_return how;
    }
    if (newest_rows_decide) {
        co_return servers::passage::looks;
    }
    co_return error{errc::postgres_lost, "the slot was halted or resumed meanwhile"};
}

awaitable<result<postgres_facts>> look(servers::executors on, postgres::connection& sql,
                                       const config::settings& settings, known_before& known) {
    auto wanted = servers::inspection_of(settings);
    wanted.to_publish = servers::tables_to_publish(settings);
    auto facts = co_await servers::inspect(on.loop, settings, sql, std::move(wanted));
    if (!facts) {
        co_return facts.error();
    }
    const auto expected = expectations_of(settings, known);
    const auto taken =
        relay::owner_findings(expected, servers::owner_of(settings, *facts), known.description);
    if (auto forbids = servers::to_error(taken, errc::broker_unsuitable)) {
        co_return *forbids;
    }
    const auto earlier = co_await servers::known_run(sql, settings, *facts, known.earlier);
    if (!earlier) {
        co_return earlier.error();
    }
    known.earlier = *earlier;
    const auto planned = findings_for(expected, servers::as_completed(*facts), known);
    if (!can_start(planned)) {
        co_return *forbidding(planned, *facts);
    }
    if (auto waits = preflight::waits_to_make(expected, *facts)) {
        co_return *std::move(waits);
    }
    // Others may read the publication, so it is altered where nothing else is left.
    const bool may_alter =
        preflight::choose_plugin(servers::expectations_of(settings), *facts) ==
            output_plugin::pgoutput &&
        preflight::needs_control_table(servers::expectations_of(settings), *facts);
    const bool completed = co_await servers::complete_control(sql, settings, *facts, may_alter);
    if (completed) {
        wanted = servers::inspection_of(settings);
        facts = co_await servers::inspect(on.loop, settings, sql, std::move(wanted));
        if (!facts) {
            co_return facts.error();
        }
    }
    const auto findings = findings_for(expected, *facts, known);
    if (auto forbids = forbidding(findings, *facts)) {
        co_return *forbids;
    }
    co_return facts;
}

/// What earlier relays have seen stored. Returns which rows are later than that; empty where it
/// cannot be told.
awaitable<result<tasks::later_rows>> recall(postgres::connection& sql,
                                            const config::settings& settings,
                                            const postgres_facts& facts,
                                            relay::postgres_session& session) {
    auto slot = settings.postgres.slot;
    const auto start = co_await postgres::read_slot_start(sql, slot);
    if (start && *start) {
        session.slot_began = (*start)->consistent_point;
        session.slot_has_earlier_rows = (*start)->has_earlier_rows();
    }
    auto known = co_await postgres::read_witness(sql, std::move(slot),
                                                 session.server.line.origin.system_identifier);
    // Who may not read it may not write it: then it is as if there were none, and `check` says so.
    session.witness.writable = known.has_value() && !facts.in_recovery;
    if (!known && known.error().code != errc::postgres_unsuitable) {
        co_return known.error();
    }
    tasks::later_rows later;
    if (known && *known) {
        session.witness.kept = (*known)->what;
        session.witness.tells_later_than = (*known)->later_than;
        later = {std::move((*known)->is_later), (*known)->later_than};
    }
    co_return later;
}

awaitable<result<ready_postgres>> prepare_backfill(
    servers::executors on, const config::settings& settings, preflight::backfill_reason reason,
    postgres_facts facts, postgres::connection sentinel, int earlier_process) {
    auto about = facts;
    auto rows = std::make_shared<tasks::backfill_source>(on, settings, reason, std::move(facts));
    auto session = co_await rows->begin(earlier_process);
    if (!session) {
        rows->close();
        co_return session.error();
    }
    if (const auto known = co_await recall(sentinel, settings, about, *session); !known) {
        rows->close();
        co_return known.error();
    }
    ready_postgres ready{std::move(*session), {}, std::move(rows), std::move(sentinel)};
    co_return std::move(ready);
}

/// What can be told once the slot is taken: until then another relay could move it, and publish
/// what came meanwhile.
awaitable<result<void>> look_around(servers::executors on, postgres::connection& sql,
                                    const config::settings& settings, const postgres_facts& facts,
                                    const known_before& known, relay::postgres_session& session) {
    auto slot = settings.postgres.slot;
    const auto place = co_await postgres::place_of_slot(sql, std::move(slot));
    if (!place) {
        co_return place.error();
    }
    session.slot_confirmed = place->confirmed.value_or(session.slot_confirmed);
    session.server.wal_end = std::max(session.server.wal_end, place->wal_end);
    if (settings.delivery.on_poison == config::poison_policy::dead_letter) {
        if (!facts.in_recovery) {
            auto tables = servers::published_tables_of(settings);
            co_await postgres::upgrade_dead_letters(sql, std::move(tables));
        }
        auto letters = co_await postgres::dead_letters_after(sql, session.slot_confirmed,
                                                             settings.postgres.slot);
        if (!letters) {
            co_return letters.error();
        }
        session.dead_letters = std::move(*letters);
    }
    auto later = co_await recall(sql, settings, facts, session);
    if (!later) {
        co_return later.error();
    }
    // A slot that is made only now has skipped nothing.
    const bool due = known.looks ||
                     known.newest_rows.are_due(session.slot_confirmed, session.server.line.origin);
    if (due && facts.slot && !facts.in_recovery &&
        (known.last_stored || !later->condition.empty())) {
        const auto around = known.last_stored.value_or(wall_time{});
        auto taken =
            co_await tasks::take_roll(on.loop, sql, settings, facts, around, std::move(*later));
        session.newest_rows = std::move(taken.rows);
        session.newest_rows_unread = std::move(taken.unread_for_now);
    }
    const bool has_looked = session.newest_rows && session.newest_rows->is_whole;
    if (known.newest_rows_decide && !facts.in_recovery && !has_looked) {
        if (session.newest_rows_unread) {
            co_return *session.newest_rows_unread;
        }
        co_return cannot_compare(
            settings.postgres.slot,
            {errc::gap_found,
             "the newest rows of the outbox tables could not be compared with the "
             "stream, and what was in them before the slot is not known"});
    }
    co_return result<void>{};
}

postgres::start_options how_to_stream(const config::settings& settings, output_plugin plugin,
                                      const postgres_facts& facts, const known_before& known) {
    return {settings.postgres.slot,
            plugin,
            settings.postgres.publication,
            filter_of(facts),
            servers::message_prefixes_of(settings),
            nonce(),
            published_operations(settings.outbox) != "insert",
            std::ranges::any_of(settings.outbox, &outbox_table::needs_visible_rows),
            known.earlier_process};
}

/// While it is looked around, which can take longer than the server waits for a word. Nothing is
/// confirmed by it.
void feed(const servers::executors& on, postgres::replication_stream& stream,
          std::chrono::milliseconds sender_timeout) {
    if (sender_timeout.count() > 0) {
        stream.feed_until_sent(on.loop, relay::status_interval(sender_timeout), [] {
            return wal::encode({{}, {}, {}, now().wall});
        });
    }
}

awaitable<result<ready_postgres>> prepare_stream(servers::executors on,
                                                 const config::settings& settings,
                                                 const known_before& known, postgres_facts facts,
                                                 postgres::connection sql) {
    if (!facts.slot) {
        // What is refused later would leave a slot behind, which keeps WAL.
        const auto letters = co_await servers::read_dead_letters(sql, settings, facts);
        if (!letters) {
            co_return letters.error();
        }
    }
    const auto plugin = co_await servers::provision(on, sql, settings, facts);
    if (!plugin) {
        co_return plugin.error();
    }
    if (relay::table_catalog(settings.outbox, facts).names_leaves(*plugin)) {
        const auto recalled =
            co_await postgres::remember_partitions(sql, settings.postgres.slot, facts);
        // With pgoutput a row of a partition that nobody remembers is asked for when it comes.
        const bool can_ask = *plugin == output_plugin::pgoutput && !recalled &&
                             recalled.error().code == errc::postgres_unsuitable;
        if (!recalled && !can_ask) {
            co_return recalled.error();
        }
    }
    auto replication = co_await servers::open_replication(on.loop, settings);
    if (!replication) {
        co_return replication.error();
    }
    auto server = co_await postgres::identify(*replication);
    if (!server) {
        co_return server.error();
    }
    // Named, because GCC 12 destroys an aggregate twice that is made inside a co_await expression.
    auto options = how_to_stream(settings, *plugin, facts, known);
    auto stream =
        co_await postgres::replication_stream::start(std::move(*replication), std::move(options));
    if (!stream) {
        co_return stream.error();
    }
    feed(on, *stream, facts.sender_timeout);
    relay::postgres_session session{
        server->line.origin, relay::table_catalog(settings.outbox, facts), *plugin,
        facts.sender_timeout, facts.slot ? facts.slot->confirmed.value_or(lsn{}) : lsn{}};
    session.server = std::move(*server);
    session.database = facts.database;
    session.on_standby = facts.in_recovery;
    const auto placed = co_await look_around(on, sql, settings, facts, known, session);
    if (!placed) {
        co_return placed.error();
    }
    ready_postgres ready{std::move(session), std::move(*stream), {}, std::move(sql)};
    co_return std::move(ready);
}

awaitable<result<ready_postgres>> prepare(servers::executors on, const config::settings& settings,
                                          const known_before& known, postgres_facts facts,
                                          postgres::connection sql) {
    const auto reason = preflight::choose_backfill(expectations_of(settings, known), facts,
                                                   known.earlier, known.gap);
    if (reason) {
        co_return co_await prepare_backfill(on, settings, *reason, std::move(facts), std::move(sql),
                                            known.earlier_process);
    }
    if (auto waits = preflight::kept_for_promotion(settings.postgres.slot, facts)) {
        co_return std::move(*waits);
    }
    co_return co_await prepare_stream(on, settings, known, std::move(facts), std::move(sql));
}

/// A slot that was to be put back must not be taken for one that is not there.
awaitable<result<void>> end_broken_rewind(const servers::executors& on, postgres::connection& sql,
                                          const config::settings& settings) {
    const auto& slot = settings.postgres.slot;
    auto let_fail_over = servers::failover_setter_for(on.loop, settings);
    const auto ended = co_await postgres::end_rewind(sql, slot, std::move(let_fail_over));
    if (!ended) {
        co_return ended.error();
    }
    if (*ended == postgres::rewind_end::finished) {
        log<"rewind_finished">(
            "slot " + slot + " is put back, as walrelay replay --rewind was to do",
            with<"slot">(slot));
    } else if (*ended == postgres::rewind_end::given_up) {
        log<"rewind_given_up">("a rewind of slot " + slot +
                                   " broke off before the slot was changed: it stays where it is; "
                                   "fix: walrelay replay --rewind, again",
                               with<"slot">(slot));
    }
    co_return result<void>{};
}

void note_passage(known_before& known, const servers::halt_gate& gate, servers::passage how) {
    known.heals = gate.is_asked_to_heal();
    known.looks = how == servers::passage::looks;
    known.gap = known.gap || how == servers::passage::heals;
}

/// Asks again now that nobody else can halt the slot.
awaitable<result<void>> pass(servers::halt_gate& gate, servers::passage before,
                             bool newest_rows_decide, postgres::connection& sql) {
    const auto still = co_await gate.ask(sql);
    if (!still) {
        co_return still.error();
    }
    // Nothing is kept of a comparison that could not be made: see `ask`.
    const bool is_left_to_newest_rows = newest_rows_decide && before == servers::passage::looks &&
                                        *still == servers::passage::compares;
    if (*still != before && !is_left_to_newest_rows) {
        co_return error{errc::postgres_lost,
                        "the slot was halted or resumed while it was being taken"};
    }
    co_return result<void>{};
}

void take_writer(watched_facts& seen, const postgres_facts& facts) {
    if (facts.writer) {
        seen.writer = facts.writer->role;
        seen.writer_powers = joined(facts.writer->powers);
    }
}

/// The publication and its entries, and the table of requests, which is the last. All else is still
/// that of the first look, so that what somebody has changed since is a change.
void take_what_was_made(watched_facts& seen, watched_facts made) {
    seen.publication = std::move(made.publication);
    for (std::size_t index = 0; index < seen.tables.size(); ++index) {
        auto& into = seen.tables[index];
        auto& from = made.tables[index];
        if (index + 1 == seen.tables.size()) {
            into = std::move(from);
        } else if (into.oid == from.oid) {
            into.published = from.published;
            into.filtered = from.filtered;
            into.entry = from.entry;
            into.column_list = std::move(from.column_list);
            into.born_published = from.born_published;
        }
    }
}

}  // namespace

awaitable<result<ready_postgres>> prepare_postgres(servers::executors on,
                                                   const config::settings& settings,
                                                   known_before known, servers::halt_gate& gate,
                                                   const facts_watch& watch) {
    auto sql = co_await servers::open_sql(on.loop, settings);
    if (!sql) {
        co_return sql.error();
    }
    const auto may_pass = co_await ask(on, *sql, settings, gate, known.newest_rows_decide);
    if (!may_pass) {
        co_return may_pass.error();
    }
    note_passage(known, gate, *may_pass);
    if (const auto ended = co_await end_broken_rewind(on, *sql, settings); !ended) {
        co_return ended.error();
    }
    // Before all else is looked at: what changes meanwhile is a change.
    auto watched = co_await watch.read(*sql);
    if (!watched) {
        co_return watched.error();
    }
    auto facts = co_await look(on, *sql, settings, known);
    if (!facts) {
        co_return watch.explain(*watched, facts.error());
    }
    take_writer(*watched, *facts);
    auto owner = servers::owner_of(settings, *facts);
    const bool was_new = !facts->slot;
    auto ready = co_await prepare(on, settings, known, std::move(*facts), std::move(*sql));
    if (ready && ready->stream) {
        ready->session.goes_on_without = *may_pass == servers::passage::gives_up;
        // The relay that held the slot until now may have halted it after it was looked at.
        const auto passed =
            co_await pass(gate, *may_pass, known.newest_rows_decide, ready->sentinel);
        if (!passed) {
            co_return passed.error();
        }
    }
    if (ready && was_new && ready->sentinel.server_process() != 0) {
        // What was made for it by now was not there at the first look.
        auto made = co_await watch.read(ready->sentinel);
        if (!made) {
            co_return made.error();
        }
        take_what_was_made(*watched, std::move(*made));
    }
    if (ready) {
        owner.system_identifier = ready->session.origin.system_identifier;
        ready->owner = std::move(owner);
        ready->watched = std::move(*watched);
    }
    co_return std::move(ready);
}

}  // namespace walrelay::app
