#include "postgres/catalog/plugin_probe.hpp"

#include "core/sql_text.hpp"
#include "postgres/catalog/library_list.hpp"
#include "postgres/session/stream_warning.hpp"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

namespace walrelay::postgres {
namespace {

/// A peek to 0/1 loads the plugin, reads one record and stops.
constexpr const char* peek_shortly = R"sql(
SELECT FROM pg_logical_slot_peek_changes($1, '0/1', 1, 'format-version', '2')
)sql";

/// The plugin is loaded first; then the server may wait for transactions that run.
constexpr const char* make_temporary_slot = R"sql(
SELECT FROM pg_create_logical_replication_slot('walrelay_probe_' || pg_backend_pid(), 'wal2json',
                                               true)
)sql";

/// As sql/control.sql describes it; no relay has a slot of that name.
constexpr const char* write_row = R"sql(
INSERT INTO walrelay.control (kind, slot) VALUES ('probe', 'walrelay_probe')
)sql";
constexpr const char* take_row_away = R"sql(
DELETE FROM walrelay.control
 WHERE transaction = pg_current_xact_id()::text::int8 AND slot = 'walrelay_probe'
)sql";

/// Whether the first transaction that the slot has holds a row, and whether that has what walrelay
/// asks for.
constexpr const char* peek_row_sql = R"sql(
SELECT count(*) > 0, coalesce(bool_and(data LIKE '%"typeoid":%'), false)
  FROM pg_logical_slot_peek_changes($1, NULL, 1, 'format-version', '2', 'include-type-oids', '1',
                                    'actions', 'insert', 'include-transaction', '0')
 WHERE data LIKE '%"columns":%'
)sql";
constexpr const char* temporary_slot = "SELECT 'walrelay_probe_' || pg_backend_pid()";

/// Nothing to drop if the server was still waiting when the time was up.
constexpr const char* drop_temporary_slot = R"sql(
SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots
 WHERE slot_name = 'walrelay_probe_' || pg_backend_pid()
)sql";

constexpr const char* peek_with_publication = R"sql(
SELECT FROM pg_logical_slot_peek_binary_changes($1, NULL, 1, 'proto_version', '1',
                                                'publication_names', $2)
)sql";

constexpr const char* set_limit = "SELECT set_config('statement_timeout', $1, false)";

/// Runs a statement that the server gives up after `limit_ms`; gives the SQLSTATE of its error.
boost::asio::awaitable<std::string> try_for(connection& sql, std::string limit_ms,
                                            const char* statement,
                                            std::vector<std::string> parameters) {
    std::vector<std::string> limit{std::move(limit_ms)};
    std::vector<std::string> no_limit{"0"};
    const auto limited = co_await sql.ask(set_limit, std::move(limit));
    const auto tried = co_await sql.ask(statement, std::move(parameters));
    const auto freed = co_await sql.ask(set_limit, std::move(no_limit));
    co_return tried.has_error() ? tried.error().sqlstate : std::string{};
}

plugin_trouble trouble_of(std::string_view sqlstate) {
    return sqlstate == "42501"   ? plugin_trouble::not_allowed
           : sqlstate == "58P01" ? plugin_trouble::not_installed
                                 : plugin_trouble::none;
}

bool may_be_too_old(const postgres_facts& known) {
    constexpr int first_that_needs_a_newer_one = 150'000;
    return known.version_number < first_that_needs_a_newer_one;
}

/// By a row that the slot has; none where it has none, or not within a few seconds.
boost::asio::awaitable<plugin_trouble> look_at_a_row(connection& sql, std::string slot) {
    std::vector<std::string> limit{"3000"};
    std::vector<std::string> no_limit{"0"};
    std::vector<std::string> which{std::move(slot)};
    const auto limited = co_await sql.ask(set_limit, std::move(limit));
    const auto read = co_await sql.ask(peek_row_sql, std::move(which));
    const auto freed = co_await sql.ask(set_limit, std::move(no_limit));
    if (read.has_error()) {
        co_return trouble_of(read.error().sqlstate);
    }
    const bool is_old = !read->empty() && read->flag(0, 0) && !read->flag(0, 1);
    co_return is_old ? plugin_trouble::too_old : plugin_trouble::none;
}

/// Through the temporary slot that is there.
boost::asio::awaitable<plugin_trouble> look_at_own_row(connection& sql,
                                                       const postgres_facts& known) {
    if (!known.controls.usable || !known.schema_flaws.empty()) {
        co_return plugin_trouble::none;
    }
    std::vector<statement> both{{write_row}, {take_row_away}};
    const auto written = co_await sql.ask_together(std::move(both));
    const auto name = co_await sql.ask(temporary_slot);
    if (written.has_error() || name.has_error() || name->empty()) {
        co_return plugin_trouble::none;
    }
    co_return co_await look_at_a_row(sql, name->text(0, 0));
}

/// And drops it.
boost::asio::awaitable<plugin_trouble> try_temporary_slot(connection& sql,
                                                          const postgres_facts& known) {
    const auto sqlstate = co_await try_for(sql, "2000", make_temporary_slot, {});
    auto found = trouble_of(sqlstate);
    if (sqlstate.empty() && may_be_too_old(known)) {
        found = co_await look_at_own_row(sql, known);
    }
    const auto dropped = co_await sql.ask(drop_temporary_slot);
    co_return found;
}

boost::asio::awaitable<plugin_trouble> try_wal2json(connection& sql, std::string slot,
                                                    const postgres_facts& known) {
    if (!known.role_replicates || known.in_recovery || known.wal_level != "logical") {
        co_return plugin_trouble::none;
    }
    if (!known.slot.has_value()) {
        if (known.slots_free <= 0) {
            co_return plugin_trouble::none;
        }
        co_return co_await try_temporary_slot(sql, known);
    }
    if (known.slot->plugin != "wal2json" || known.slot->active) {
        co_return plugin_trouble::none;
    }
    if (may_be_too_old(known)) {
        co_return co_await look_at_a_row(sql, std::move(slot));
    }
    std::vector<std::string> which{std::move(slot)};
    const auto sqlstate = co_await try_for(sql, "5000", peek_shortly, std::move(which));
    co_return trouble_of(sqlstate);
}

}  // namespace

boost::asio::awaitable<plugin_trouble> trouble_with_wal2json(connection& sql, std::string slot,
                                                             const postgres_facts& known) {
    if (known.output_plugin_libraries.has_value() &&
        !lists_library(*known.output_plugin_libraries, "wal2json")) {
        co_return plugin_trouble::not_allowed;
    }
    const auto tried = co_await try_wal2json(sql, std::move(slot), known);
    // Functions of slots can refuse the role as well, which replication commands do not.
    const bool may_be_the_role =
        tried == plugin_trouble::not_allowed && !known.role_has_replication;
    co_return may_be_the_role ? plugin_trouble::none : tried;
}

boost::asio::awaitable<bool> publication_is_younger(connection& sql, std::string slot,
                                                    std::string publication) {
    std::vector<std::string> which{std::move(slot), quote_identifier(publication)};
    static_cast<void>(sql.take_warnings());
    const auto sqlstate = co_await try_for(sql, "5000", peek_with_publication, std::move(which));
    const auto warnings = sql.take_warnings();
    co_return sqlstate == "42704" || std::ranges::any_of(warnings, [&](const server_report& each) {
        return skips_publication(each, publication);
    });
}

}  // namespace walrelay::postgres
