#include "postgres/tables/letter_owner.hpp"

#include "postgres/session/sqlstate.hpp"

#include <utility>
#include <vector>

namespace walrelay::postgres {
namespace {

using boost::asio::awaitable;

constexpr const char* starts_readable_sql = R"sql(
SELECT FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
 WHERE n.nspname = 'walrelay' AND c.relname = 'slot_start'
   AND has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT')
)sql";

/// Slots that walrelay made, and that are there.
constexpr const char* others_sql = R"sql(
SELECT EXISTS (SELECT FROM walrelay.slot_start AS s
                 JOIN pg_replication_slots AS r ON r.slot_name::text = s.slot
                WHERE s.slot <> $1 AND r.database = current_database())
)sql";

/// Where nobody wrote down which slots are walrelay's: any that could be. A slot's kept positions
/// begin with its name.
constexpr const char* others_by_plugin_sql = R"sql(
SELECT EXISTS (SELECT FROM pg_replication_slots
                WHERE database = current_database() AND slot_name::text <> $1 AND NOT temporary
                  AND plugin IN ('pgoutput', 'wal2json')
                  AND NOT starts_with(slot_name::text, $1 || '_'))
)sql";

}  // namespace

awaitable<result<letter_owner>> find_letter_owner(connection& sql, std::string slot) {
    const auto readable = co_await sql.query(starts_readable_sql);
    if (!readable) {
        co_return readable.error();
    }
    std::vector<std::string> which{slot};
    const bool is_told = !readable->empty() && !sql.avoids_own_schema();
    const char* const statement = is_told ? others_sql : others_by_plugin_sql;
    const auto others = co_await sql.query(statement, std::move(which));
    if (!others) {
        co_return others.error();
    }
    co_return letter_owner{std::move(slot), !others->flag(0, 0)};
}

bool lacks_column(const server_report& report) {
    return report.sqlstate == sqlstate::undefined_column;
}

}  // namespace walrelay::postgres
