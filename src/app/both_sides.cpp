#include "app/both_sides.hpp"

#include "outbox/subject.hpp"
#include "postgres/catalog/inspector.hpp"
#include "postgres/catalog/own_tables.hpp"
#include "postgres/tables/halt_store.hpp"
#include "postgres/tables/kept_positions.hpp"
#include "postgres/tables/witness_store.hpp"
#include "preflight/kept_positions.hpp"
#include "relay/checkpoint/evidence.hpp"
#include "relay/intake/size_limits.hpp"
#include "relay/machine/stream_owner.hpp"
#include "relay/machine/tail_trust.hpp"
#include "servers/broker_side.hpp"
#include "servers/postgres_access.hpp"
#include "servers/provisioning.hpp"
#include "servers/stream_loss.hpp"
#include "servers/translate.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace walrelay::app {
namespace {

using boost::asio::awaitable;

finding finding_of(const error& why) {
    const auto what =
        why.server_said.empty() ? why.what : why.what + " (server: " + why.server_said + ")";
    return {
        finding_severity::error, finding_code(why.code), what,
        why.remedy.empty() ? "see that the server runs and can be reached from here" : why.remedy};
}

awaitable<std::optional<stream_facts>> look_at_broker(servers::executors on,
                                                      const config::settings& settings,
                                                      std::vector<finding>& found) {
    const nats::connection_events unheard{[](const nats::reply&) {}, [] {}, [] {},
                                          [](const error&) {}};
    const auto broker = co_await servers::prepare_broker(on.loop, on.blocking, settings, 1, unheard,
                                                         servers::missing_stream::leave);
    if (!broker) {
        found.push_back(finding_of(broker.error()));
        co_return std::nullopt;
    }
    const auto expected = servers::expectations_of(settings);
    auto subjects = preflight::subjects_to_try(expected, (*broker)->facts());
    const auto tried =
        co_await (*broker)->try_publishes(std::move(subjects), outbox::subject_limit_bytes);
    co_await (*broker)->try_reading();
    co_await (*broker)->look_at_account(settings.nats.replicas);
    found = preflight::broker_findings(expected, (*broker)->facts());
    const auto& facts = (*broker)->facts();
    if (const auto none = relay::leaves_no_room(facts, settings.nats.stream)) {
        found.push_back(
            {finding_severity::error, "no_room_for_messages", none->what, none->remedy});
    }
    if (!facts.stream) {
        auto taken = co_await servers::subjects_of_others(on.blocking, settings);
        if (taken) {
            found.push_back(std::move(*taken));
        }
    }
    if (!tried) {
        found.push_back(finding_of(tried.error()));
    }
    co_return (*broker)->facts().stream;
}

std::string next_run_after(postgres::halt_decision decision) {
    switch (decision) {
        case postgres::halt_decision::look:
            return "nothing to do: the next walrelay run compares all rows with the stream, and "
                   "halts again if some are missing";
        case postgres::halt_decision::looked:
            return "nothing to do: the next walrelay run goes on, and halts again if rows are "
                   "missing";
        case postgres::halt_decision::heal:
            return "nothing to do: the next walrelay run publishes from the tables what is missing";
        case postgres::halt_decision::give_up:
            break;
    }
    return "nothing to do: the next walrelay run goes on without the rows that walrelay "
           "dead-letter list --given-up names";
}

awaitable<void> look_for_halt(postgres::connection& sql, const config::settings& settings,
                              std::vector<finding>& found) {
    const auto& slot = settings.postgres.slot;
    const auto halt = co_await postgres::read_halt(sql, slot);
    if (!halt) {
        auto unknown = finding_of(halt.error());
        unknown.severity = finding_severity::warning;
        found.push_back(std::move(unknown));
    } else if (*halt && (*halt)->decision) {
        found.push_back({finding_severity::note, "slot_resumed",
                         "slot " + slot + " was halted at " + (*halt)->halted_at +
                             " and resumed at " + (*halt)->decided_at + " (" +
                             postgres::to_string(*(*halt)->decision) + ")",
                         next_run_after(*(*halt)->decision)});
    } else if (*halt) {
        found.push_back(
            {finding_severity::error, "slot_halted",
             "slot " + slot + " is halted since " + (*halt)->halted_at + ": " + (*halt)->reason,
             (*halt)->fix});
    }
}

awaitable<void> look_at_kept_positions(postgres::connection& sql, const config::settings& settings,
                                       managed_service service, std::vector<finding>& found) {
    const auto kept = co_await postgres::read_kept_positions(sql, settings.postgres.slot);
    const auto states = co_await postgres::states_of_own_tables(sql);
    if (!kept || !states) {
        found.push_back(finding_of(kept ? states.error() : kept.error()));
        co_return;
    }
    const preflight::kept_expectations wanted{settings.replay.keep.has_value(),
                                              settings.replay.max_wal, service};
    const preflight::kept_tables tables{states->bookmarks, states->trails, states->may_make,
                                        sql.role()};
    const auto of_them = preflight::kept_position_findings(wanted, *kept, tables);
    found.insert(found.end(), of_them.begin(), of_them.end());
}

/// Whether the stream's last message can be of this server's history.
awaitable<result<std::vector<finding>>> look_at_tail(servers::executors on,
                                                     postgres::connection& sql,
                                                     const config::settings& settings,
                                                     const stream_facts& stream,
                                                     const std::string& database) {
    auto slot = co_await servers::find_slot(on.loop, settings, sql);
    if (!slot) {
        co_return slot.error();
    }
    std::vector<finding> found;
    auto& [server, place] = *slot;
    if (place.confirmed) {
        server.wal_end = std::max(server.wal_end, place.wal_end);
        const auto tail = relay::tail_of(stream);
        const auto mark = relay::own_mark(stream.description, settings.postgres.slot, database);
        const auto rules = relay::fingerprint_of(settings.outbox);
        const relay::tail_question asked{tail,   settings.nats.stream, mark, rules,
                                         server, *place.confirmed};
        found = relay::tail_findings(asked, settings.nats.sole_writer);
    }
    co_return found;
}

/// Nothing where the stream has what the witness names.
awaitable<std::optional<finding>> loss_of(servers::executors on, const config::settings& settings,
                                          const witness& known, const stream_facts& stream) {
    const auto seen = co_await servers::evidence_for(on, settings, known, stream);
    if (!seen) {
        co_return finding_of(seen.error());
    }
    const auto judged = relay::judge_stream(known, *seen);
    if (!relay::is_loss(judged)) {
        co_return std::nullopt;
    }
    const auto lost = relay::stream_has_lost(known, *seen, judged, settings.postgres.slot);
    co_return finding{finding_severity::error, "stream_lost", lost.what, lost.remedy};
}

/// Whether the stream still has what was stored.
awaitable<void> look_at_witness(servers::executors on, postgres::connection& sql,
                                const config::settings& settings, const postgres_facts& facts,
                                const std::optional<stream_facts>& stream,
                                std::vector<finding>& found) {
    auto slot = settings.postgres.slot;
    const auto known = co_await postgres::read_witness(sql, slot, facts.origin.system_identifier);
    if (!known) {
        // Who may not read it is told so among the own tables.
        if (known.error().code != errc::postgres_unsuitable) {
            found.push_back(finding_of(known.error()));
        }
        co_return;
    }
    if (!*known || (*known)->what.sequence == 0) {
        co_return;
    }
    const auto& what = (*known)->what;
    if (!stream) {
        const auto gone = relay::stream_is_gone(what, settings.nats.stream, slot);
        found.push_back({finding_severity::error, "stream_lost", gone.what, gone.remedy});
        co_return;
    }
    auto lost = co_await loss_of(on, settings, what, *stream);
    if (lost) {
        // A relay can have stored it since the stream was looked at.
        const auto now = co_await servers::facts_of_broker(on.blocking, settings);
        if (!now || !now->stream) {
            co_return;
        }
        lost = co_await loss_of(on, settings, what, *now->stream);
    }
    if (lost) {
        found.push_back(std::move(*lost));
    }
}

awaitable<std::vector<finding>> look_at_postgres(servers::executors on,
                                                 const config::settings& settings,
                                                 std::optional<stream_facts> stream) {
    auto sql = co_await servers::open_sql_unchecked(on.loop, settings);
    if (!sql) {
        co_return std::vector{finding_of(sql.error())};
    }
    auto wanted = servers::inspection_of(settings);
    wanted.to_publish = servers::tables_to_publish(settings);
    wanted.trial = postgres::replication_trial::always;
    const auto facts = co_await servers::inspect(on.loop, settings, *sql, std::move(wanted));
    if (!facts) {
        co_return std::vector{finding_of(facts.error())};
    }
    const auto expected = servers::expectations_of(settings);
    const auto earlier =
        co_await servers::known_run(*sql, settings, *facts, preflight::earlier_run_of(stream));
    if (!earlier) {
        co_return std::vector{finding_of(earlier.error())};
    }
    auto found = preflight::postgres_findings(expected, *facts, *earlier);
    if (const auto waits = preflight::waits_to_make(expected, *facts)) {
        auto one = finding_of(*waits);
        one.code = "first_start_waits";
        found.push_back(std::move(one));
    }
    if (stream) {
        const auto taken = relay::owner_findings(expected, servers::owner_of(settings, *facts),
                                                 stream->description);
        found.insert(found.begin(), taken.begin(), taken.end());
    }
    if (const auto read = co_await servers::read_dead_letters(*sql, settings, *facts); !read) {
        found.push_back(finding_of(read.error()));
    }
    if (stream && facts->slot && can_start(found)) {
        const auto tail = co_await look_at_tail(on, *sql, settings, *stream, facts->database);
        if (tail) {
            found.insert(found.end(), tail->begin(), tail->end());
        } else {
            found.push_back(finding_of(tail.error()));
        }
    }
    if (facts->schema_flaws.empty()) {
        co_await look_at_witness(on, *sql, settings, *facts, stream, found);
        co_await look_for_halt(*sql, settings, found);
        co_await look_at_kept_positions(*sql, settings, facts->service, found);
    }
    co_return found;
}

awaitable<result<std::vector<finding>>> look_at_postgres_in_passing(
    servers::executors on, const config::settings& settings, postgres::connection& sql,
    std::optional<preflight::earlier_run> earlier) {
    auto wanted = servers::inspection_of(settings);
    wanted.trial = postgres::replication_trial::never;
    const auto facts = co_await servers::inspect(on.loop, settings, sql, std::move(wanted));
    if (!facts) {
        co_return facts.error();
    }
    auto found = preflight::postgres_findings(servers::expectations_of(settings), *facts, earlier);
    if (facts->schema_flaws.empty()) {
        co_await look_at_kept_positions(sql, settings, facts->service, found);
    }
    co_return found;
}

/// The broker alone cannot tell a stream that is gone from one that is still to be made.
void forget_first_start(std::vector<finding>& found) {
    const auto has_code = [](std::string_view code) {
        return [code](const finding& each) { return each.code.text() == code; };
    };
    if (std::any_of(found.begin(), found.end(), has_code("stream_lost"))) {
        std::erase_if(found, has_code("stream_missing"));
    }
}

}  // namespace

awaitable<std::vector<finding>> look_at_both_sides(servers::executors on,
                                                   const config::settings& settings) {
    std::vector<finding> found;
    const auto stream = co_await look_at_broker(on, settings, found);
    auto on_postgres = co_await look_at_postgres(on, settings, stream);
    for (auto& each : on_postgres) {
        found.push_back(std::move(each));
    }
    forget_first_start(found);
    co_return found;
}

awaitable<std::optional<std::vector<finding>>> look_in_passing(
    servers::executors on, const config::settings& settings,
    std::optional<seen_in_passing>& known) {
    const auto broker = co_await servers::facts_of_broker(on.blocking, settings);
    if (!broker) {
        co_return std::nullopt;
    }
    auto found = preflight::broker_findings(servers::expectations_of(settings), *broker);
    auto earlier = preflight::earlier_run_of(broker->stream);
    if (!known || known->earlier != earlier) {
        known.reset();
        auto sql = co_await servers::open_sql_unchecked(on.loop, settings);
        if (!sql) {
            co_return std::nullopt;
        }
        auto seen = co_await look_at_postgres_in_passing(on, settings, *sql, earlier);
        if (!seen) {
            // The server is there: it refuses something, or postgres.writer cannot sign in.
            found.push_back(finding_of(seen.error()));
            co_return found;
        }
        known = seen_in_passing{std::move(earlier), std::move(*seen)};
    }
    found.insert(found.end(), known->of_postgres.begin(), known->of_postgres.end());
    co_return found;
}

}  // namespace walrelay::app
