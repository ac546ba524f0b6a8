#include "postgres/catalog/inspector.hpp"

#include "postgres/catalog/creation_probe.hpp"
#include "postgres/catalog/fragment_path.hpp"
#include "postgres/catalog/inspection_queries.hpp"
#include "postgres/catalog/outbox_guards.hpp"
#include "postgres/catalog/own_tables.hpp"
#include "postgres/catalog/plugin_probe.hpp"
#include "postgres/catalog/row_counter.hpp"
#include "postgres/catalog/slot_acts.hpp"
#include "postgres/catalog/slot_rewind.hpp"
#include "postgres/catalog/slot_switch.hpp"
#include "postgres/catalog/table_inspection.hpp"
#include "postgres/catalog/taken_tables.hpp"
#include "postgres/catalog/write_back_probe.hpp"
#include "postgres/session/fact_reader.hpp"
#include "postgres/session/sqlstate.hpp"

#include <boost/asio/this_coro.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

namespace walrelay::postgres {
namespace {

error no_answer() {
    return {errc::postgres_unsuitable, "PostgreSQL gave no answer to a query on itself",
            "use PostgreSQL 13 to 18"};
}

managed_service service_of(std::string_view role) {
    using each_service = std::pair<std::string_view, managed_service>;
    constexpr auto known = std::to_array<each_service>({
        {"rds_superuser", managed_service::rds},
        {"cloudsqlsuperuser", managed_service::cloud_sql},
        {"alloydbsuperuser", managed_service::alloydb},
        {"azure_pg_admin", managed_service::azure},
        {"neon_superuser", managed_service::neon},
        {"supabase_admin", managed_service::supabase},
    });
    const auto* const found = std::ranges::find(known, role, &each_service::first);
    return found == known.end() ? managed_service::none : found->second;
}

boost::asio::awaitable<result<void>> inspect_server(connection& sql, postgres_facts& facts) {
    const auto rows = co_await sql.query(queries::server);
    if (rows.has_error()) {
        co_return rows.error();
    }
    if (rows->empty()) {
        co_return no_answer();
    }
    fact_reader reader{*rows};
    facts.version_number = reader.number<std::int32_t>(0, 0);
    facts.in_recovery = rows->flag(0, 1);
    facts.transport = sql.transport();
    facts.current = reader.maybe_lsn(0, 2).value_or(lsn{});
    facts.database = rows->text(0, 3);
    facts.encoding = rows->text(0, 4);
    facts.wal_level = rows->text(0, 5);
    facts.role = rows->text(0, 6);
    facts.role_has_replication = rows->flag(0, 7);
    facts.role_replicates = facts.role_has_replication;
    facts.slots_free = reader.number<std::int32_t>(0, 8);
    facts.senders_free = reader.number<std::int32_t>(0, 9);
    facts.sender_timeout = std::chrono::milliseconds{reader.number<std::int64_t>(0, 10)};
    facts.output_plugin_libraries = rows->at(0, 11);
    facts.synchronous_standbys = rows->text(0, 12);
    facts.application_name = rows->text(0, 13);
    facts.service = service_of(rows->text(0, 14));
    if (reader.failure().has_value()) {
        co_return *reader.failure();
    }
    co_return result<void>{};
}

/// The attribute is what PostgreSQL asks for; services ask for a membership of their own, and only
/// the server knows. Where the session's role is another one than the one that signed in (SET
/// ROLE), the attribute of either says nothing of the other.
boost::asio::awaitable<result<void>> try_replication(const inspection_request& request,
                                                     postgres_facts& facts) {
    if (request.trial == replication_trial::never) {
        facts.role_replicates = true;
        co_return result<void>{};
    }
    const bool is_known =
        facts.role_has_replication && request.trial == replication_trial::where_unknown;
    if (!request.replication || is_known) {
        co_return result<void>{};
    }
    auto options = *request.replication;
    options.kind = connection_kind::replication;
    const auto executor = co_await boost::asio::this_coro::executor;
    const auto opened = co_await connection::open(executor, std::move(options));
    if (opened) {
        facts.role_replicates = true;
        co_return result<void>{};
    }
    if (opened.error().code != errc::postgres_refused && !facts.role_has_replication) {
        co_return opened.error();
    }
    facts.role_replicates = facts.role_has_replication;
    facts.replication_refused = opened.error();
    co_return result<void>{};
}

boost::asio::awaitable<result<void>> inspect_own_tables(connection& sql,
                                                        const inspection_request& request,
                                                        postgres_facts& facts) {
    auto tables = request.tables;
    auto flaws = co_await own_schema_flaws(sql, std::move(tables));
    if (!flaws) {
        co_return flaws.error();
    }
    facts.schema_flaws = std::move(*flaws);
    if (facts.schema_flaws.empty()) {
        auto outboxes = request.tables;
        auto secret = co_await read_control_secret(sql, std::move(outboxes));
        if (!secret) {
            co_return secret.error();
        }
        facts.control_secret = std::move(*secret);
        auto whose = request.tables;
        auto slot = request.slot;
        auto taken = co_await find_taken_tables(sql, std::move(slot), std::move(whose),
                                                facts.origin.system_identifier);
        if (!taken) {
            co_return taken.error();
        }
        facts.taken_tables = std::move(*taken);
    }
    if (sql.avoids_own_schema()) {
        // As if there were none of them.
        co_return result<void>{};
    }
    auto states = co_await states_of_own_tables(sql);
    if (!states) {
        co_return states.error();
    }
    facts.dead_letters = states->dead_letters;
    facts.halts = states->halts;
    facts.controls = states->controls;
    facts.witnesses = states->witnesses;
    facts.slot_starts = states->slot_starts;
    facts.replays = states->replays;
    facts.partitions = states->partitions;
    facts.may_make_tables = states->may_make;
    co_return result<void>{};
}

/// With the schemas in which the configuration's statements look for names.
boost::asio::awaitable<result<void>> inspect_write_backs(connection& asking,
                                                         const inspection_request& request,
                                                         postgres_facts& facts) {
    auto& sql = request.writer != nullptr ? *request.writer : asking;
    auto tables = request.tables;
    auto path = co_await find_fragment_path(sql, std::move(tables));
    if (!path) {
        co_return path.error();
    }
    facts.open_schemas = path->open_schemas;
    co_return co_await probe_write_backs(sql, request.write_backs, path->text,
                                         request.writer != nullptr, facts.tables);
}

boost::asio::awaitable<result<void>> inspect_pending(connection& sql,
                                                     const inspection_request& request,
                                                     postgres_facts& facts) {
    if (!request.takes_pending || facts.slot) {
        co_return result<void>{};
    }
    auto tables = request.tables;
    auto path = co_await find_fragment_path(sql, std::move(tables));
    if (!path) {
        co_return path.error();
    }
    co_return co_await probe_pending(sql, request.write_backs, path->text, facts.tables);
}

boost::asio::awaitable<result<void>> inspect_slot(connection& sql, std::string slot,
                                                  postgres_facts& facts) {
    std::vector<std::string> which{slot};
    const auto rows = co_await sql.query(queries::slot, std::move(which));
    if (rows.has_error()) {
        co_return rows.error();
    }
    const auto waits = co_await find_slot(sql, waiting_slot_name(slot));
    if (!waits) {
        co_return waits.error();
    }
    facts.slot_waits = *waits && !(*waits)->is_lost();
    const auto rewinds = co_await rewind_waits(sql, slot);
    if (!rewinds) {
        co_return rewinds.error();
    }
    facts.slot_is_rewinding = *rewinds;
    if (rows->empty()) {
        co_return result<void>{};
    }
    fact_reader reader{*rows};
    facts.slot = slot_facts{.plugin = rows->text(0, 0),
                            .database = rows->text(0, 1),
                            .active = rows->flag(0, 2),
                            .two_phase = rows->flag(0, 3),
                            .active_pid = reader.number<std::int32_t>(0, 4),
                            .restart = reader.maybe_lsn(0, 5),
                            .confirmed = reader.maybe_lsn(0, 6),
                            .wal_status = rows->text(0, 7),
                            .invalidation_reason = rows->text(0, 8),
                            .failover = rows->flag(0, 9),
                            .synced = rows->flag(0, 10)};
    if (reader.failure().has_value()) {
        co_return *reader.failure();
    }
    const auto standbys = co_await sql.query(queries::standby_slots);
    if (standbys.has_error()) {
        co_return standbys.error();
    }
    for (std::size_t row = 0; row < standbys->size(); ++row) {
        facts.standby_slots.push_back(
            {standbys->text(row, 0), standbys->flag(row, 1), standbys->flag(row, 2)});
    }
    co_return result<void>{};
}

boost::asio::awaitable<void> inspect_beginning(connection& sql, std::string slot,
                                               postgres_facts& facts) {
    if (!facts.slot || !facts.slot_starts.usable || !facts.schema_flaws.empty()) {
        co_return;
    }
    std::vector<std::string> which{std::move(slot), std::to_string(facts.origin.system_identifier)};
    const auto rows = co_await sql.ask(queries::slot_began_with, std::move(which));
    if (!rows.has_error()) {
        facts.slot_began_with = rows->empty() ? std::optional(std::string()) : rows->at(0, 0);
    }
}

/// Whether it is worth the try to decode with the publication.
bool can_peek(const postgres_facts& facts) {
    return facts.slot.has_value() && !facts.slot->active && facts.slot->plugin == "pgoutput" &&
           facts.slot->database == facts.database && facts.slot->wal_status != "lost" &&
           facts.role_replicates;
}

boost::asio::awaitable<result<void>> inspect_publication(connection& sql,
                                                         const inspection_request& request,
                                                         postgres_facts& facts) {
    std::vector<std::string> which{request.publication, request.slot};
    std::vector<std::string> name{request.publication};
    const auto rows = co_await sql.query(queries::publication, std::move(which));
    if (rows.has_error()) {
        co_return rows.error();
    }
    if (rows->empty()) {
        co_return result<void>{};
    }
    publication_facts found{.publishes_inserts = rows->flag(0, 0),
                            .publishes_updates = rows->flag(0, 3),
                            .via_partition_root = rows->flag(0, 1),
                            .for_all_tables = rows->flag(0, 2),
                            .younger_than_slot = false,
                            .owned = rows->flag(0, 4),
                            .tables = {},
                            .filtered = {}};
    const auto tables = co_await sql.query(queries::publication_tables, std::move(name));
    if (tables.has_error()) {
        co_return tables.error();
    }
    for (std::size_t row = 0; row < tables->size(); ++row) {
        found.tables.push_back({tables->text(row, 0), tables->text(row, 1)});
        if (tables->flag(row, 2)) {
            found.filtered.push_back(found.tables.back());
        }
    }
    if (facts.version_number >= queries::version_of_publication_schemas) {
        std::vector<std::string> of{request.publication};
        const auto schemas = co_await sql.query(queries::publication_schemas, std::move(of));
        if (schemas.has_error()) {
            co_return schemas.error();
        }
        found.for_schemas = !schemas->empty();
    }
    if (rows->flag(0, 5) && can_peek(facts)) {
        found.younger_than_slot =
            co_await publication_is_younger(sql, request.slot, request.publication);
    }
    facts.publication = std::move(found);
    co_return result<void>{};
}

error unreadable_history(std::uint32_t timeline) {
    return {errc::postgres_unsuitable,
            "PostgreSQL's history file of timeline " + std::to_string(timeline) +
                " is not one: the branches of the database cannot be told apart",
            "restore the file in pg_wal from the archive"};
}

/// The first timeline has no history file. A file that was removed is no error: what cannot be
/// compared then is judged by whoever compares. The content comes as it is in the file, whatever
/// type the column says (PostgreSQL source, SendTimeLineHistory).
boost::asio::awaitable<result<std::vector<timeline_end>>> ask_ancestors(connection& replication,
                                                                        std::uint32_t timeline) {
    if (timeline <= 1) {
        co_return std::vector<timeline_end>{};
    }
    const auto rows = co_await replication.ask("TIMELINE_HISTORY " + std::to_string(timeline));
    if (rows.has_error() && rows.error().sqlstate == sqlstate::undefined_file) {
        co_return std::vector<timeline_end>{};
    }
    if (rows.has_error()) {
        co_return explain(rows.error(),
                          {.action = server_action::query, .role = replication.role()});
    }
    if (rows->empty() || rows->rows().front().size() < 2) {
        co_return no_answer();
    }
    auto ends = parse_timeline_history(rows->text(0, 1));
    if (!ends) {
        co_return unreadable_history(timeline);
    }
    co_return std::move(*ends);
}

/// Without the ancestors.
boost::asio::awaitable<result<server_identity>> identify_system(connection& replication) {
    const auto rows = co_await replication.query("IDENTIFY_SYSTEM");
    if (rows.has_error()) {
        co_return rows.error();
    }
    if (rows->empty()) {
        co_return no_answer();
    }
    fact_reader reader{*rows};
    const history origin{reader.number<std::uint64_t>(0, 0), reader.number<std::uint32_t>(0, 1)};
    server_identity found{.line = {.origin = origin},
                          .wal_end = reader.maybe_lsn(0, 2).value_or(lsn{})};
    if (reader.failure().has_value()) {
        co_return *reader.failure();
    }
    co_return found;
}

}  // namespace

boost::asio::awaitable<result<postgres_facts>> inspect(connection& sql,
                                                       inspection_request request) {
    postgres_facts facts;
    auto step = co_await inspect_server(sql, facts);
    if (step.has_value()) {
        step = co_await try_replication(request, facts);
    }
    if (step.has_value()) {
        const auto origin = co_await origin_of(sql);
        step = origin ? result<void>{} : origin.error();
        facts.origin = origin ? *origin : history{};
    }
    if (step.has_value()) {
        step = co_await inspect_slot(sql, request.slot, facts);
    }
    if (step.has_value()) {
        step = co_await inspect_publication(sql, request, facts);
    }
    if (step.has_value()) {
        step = co_await inspect_tables(sql, request.tables, request.publication, facts);
    }
    if (step.has_value()) {
        step = co_await inspect_own_tables(sql, request, facts);
    }
    // Before any statement is planned on the tables, which can run code of others.
    if (step.has_value()) {
        step = co_await inspect_guards(sql, request.writer, facts);
    }
    if (step.has_value()) {
        step = co_await inspect_write_backs(sql, request, facts);
    }
    if (step.has_value()) {
        step = co_await inspect_pending(sql, request, facts);
    }
    if (step.has_value()) {
        step = co_await probe_tables(sql, facts);
    }
    if (step.has_value()) {
        step = co_await probe_publication(sql, request.publication, request.to_publish, facts);
    }
    if (step.has_error()) {
        co_return step.error();
    }
    facts.wal2json = co_await trouble_with_wal2json(sql, request.slot, facts);
    if (!facts.slot) {
        co_await count_rows(sql, facts);
    } else if (request.takes_snapshot) {
        co_await inspect_beginning(sql, request.slot, facts);
    }
    co_return facts;
}

boost::asio::awaitable<result<history>> origin_of(connection& sql) {
    const auto rows = co_await sql.ask(queries::origin);
    if (rows.has_error() && rows.error().sqlstate == "42501") {
        co_return history{};
    }
    if (rows.has_error()) {
        co_return explain(rows.error(), {.action = server_action::query, .role = sql.role()});
    }
    if (rows->empty()) {
        co_return no_answer();
    }
    fact_reader reader{*rows};
    history origin;
    // A signed number in SQL, unsigned everywhere else.
    origin.system_identifier = static_cast<std::uint64_t>(reader.number<std::int64_t>(0, 0));
    origin.timeline = reader.number<std::uint32_t>(0, 1);
    if (reader.failure().has_value()) {
        co_return *reader.failure();
    }
    co_return origin;
}

boost::asio::awaitable<result<server_identity>> identify(connection& replication) {
    auto found = co_await identify_system(replication);
    if (found.has_error()) {
        co_return found.error();
    }
    auto ancestors = co_await ask_ancestors(replication, found->line.origin.timeline);
    if (ancestors.has_error()) {
        co_return ancestors.error();
    }
    found->line.ancestors = std::move(*ancestors);
    co_return found;
}

boost::asio::awaitable<result<replay_place>> ask_replayed(connection& replication) {
    const auto rows = co_await replication.query("SELECT pg_last_wal_replay_lsn()");
    if (rows.has_error()) {
        co_return rows.error();
    }
    fact_reader reader{*rows};
    const auto up_to = reader.maybe_lsn(0, 0).value_or(lsn{});
    if (reader.failure().has_value()) {
        co_return *reader.failure();
    }
    const auto now = co_await identify_system(replication);
    if (now.has_error()) {
        co_return now.error();
    }
    co_return replay_place{up_to, now->line.origin.timeline};
}

boost::asio::awaitable<result<slot_place>> place_of_slot(connection& sql, std::string slot) {
    constexpr const char* place_sql = R"sql(
SELECT CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn()
            ELSE pg_current_wal_flush_lsn() END,
       (SELECT confirmed_flush_lsn FROM pg_replication_slots WHERE slot_name = $1))sql";
    std::vector<std::string> which{std::move(slot)};
    const auto rows = co_await sql.query(place_sql, std::move(which));
    if (rows.has_error()) {
        co_return rows.error();
    }
    fact_reader reader{*rows};
    const slot_place found{reader.maybe_lsn(0, 1), reader.maybe_lsn(0, 0).value_or(lsn{})};
    if (reader.failure().has_value()) {
        co_return *reader.failure();
    }
    co_return found;
}

}  // namespace walrelay::postgres
