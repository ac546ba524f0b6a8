#include "postgres/plugin_probe.hpp"

#include "core/sql_text.hpp"
#include "postgres/library_list.hpp"

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

/// Nothing to drop if the server was still waiting when the time was up.
constexpr const char* drop_temporary_slot = R"sql(
SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots
 WHERE slot_name = 'walrelay_probe_' || pg_backend_pid()
)sql";

constexpr const char* peek_with_publication = R"sql(
SELECT FROM pg_logical_slot_peek_binary_changes($1, NULL, 1, 'proto_version', '1',
                                                'publication_names', $2)
)sql";

/// Runs a statement that the server gives up after `limit_ms`; gives the SQLSTATE of its error.
boost::asio::awaitable<std::string> try_for(connection& sql, std::string limit_ms,
                                            const char* statement,
                                            std::vector<std::string> parameters) {
    const std::string set_limit = "SELECT set_config('statement_timeout', $1, false)";
    std::vector<std::string> limit{std::move(limit_ms)};
    std::vector<std::string> no_limit{"0"};
    const auto limited = co_await sql.ask(set_limit, std::move(limit));
    const auto tried = co_await sql.ask(statement, std::move(parameters));
    const auto freed = co_await sql.ask(set_limit, std::move(no_limit));
    co_return tried.has_error() ? tried.error().sqlstate : std::string{};
}

bool refuses_plugin(std::string_view sqlstate) {
    return sqlstate == "42501" || sqlstate == "58P01";
}

}  // namespace

boost::asio::awaitable<bool> may_use_wal2json(connection& sql, std::string slot,
                                              const postgres_facts& known) {
    if (known.output_plugin_libraries.has_value() &&
        !lists_library(*known.output_plugin_libraries, "wal2json")) {
        co_return false;
    }
    if (!known.role_replicates || known.in_recovery || known.wal_level != "logical") {
        co_return true;
    }
    std::string sqlstate;
    if (known.slot.has_value()) {
        if (known.slot->plugin != "wal2json" || known.slot->active) {
            co_return true;
        }
        std::vector<std::string> which{std::move(slot)};
        sqlstate = co_await try_for(sql, "5000", peek_shortly, std::move(which));
    } else if (known.slots_free > 0) {
        sqlstate = co_await try_for(sql, "2000", make_temporary_slot, {});
        const auto dropped = co_await sql.ask(drop_temporary_slot);
    }
    co_return !refuses_plugin(sqlstate);
}

boost::asio::awaitable<bool> publication_is_younger(connection& sql, std::string slot,
                                                    std::string publication) {
    std::vector<std::string> which{std::move(slot), quote_identifier(publication)};
    const auto sqlstate = co_await try_for(sql, "5000", peek_with_publication, std::move(which));
    co_return sqlstate == "42704";
}

}  // namespace walrelay::postgres
