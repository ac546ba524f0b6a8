#include "postgres/catalog/fragment_path.hpp"

#include "core/joined.hpp"
#include "core/sql_text.hpp"
#include "postgres/catalog/trusted_roles.hpp"
#include "postgres/session/array_literal.hpp"

#include <utility>

namespace walrelay::postgres {
namespace {

using boost::asio::awaitable;

/// Under the role's own path nothing else may be named than what stands in pg_catalog for certain.
constexpr const char* own_path_sql = "RESET search_path";
constexpr const char* resolve_sql = "SELECT pg_catalog.current_schemas(false)";
constexpr const char* pin_sql = "SELECT pg_catalog.set_config('search_path', 'pg_catalog', false)";
constexpr const char* set_sql = "SELECT set_config('search_path', $1, false)";

/// The schemas $3 in their order, and whether others may put something there, or have: functions
/// and operators are what a name in a statement can run.
constexpr const char* schemas_sql = R"sql(
SELECT n.nspname,
       n.nspowner NOT IN (SELECT role FROM trusted)
       OR EXISTS (SELECT FROM aclexplode(coalesce(n.nspacl, acldefault('n', n.nspowner))) AS a
                   WHERE a.privilege_type = 'CREATE'
                     AND a.grantee NOT IN (SELECT role FROM trusted))
       OR EXISTS (SELECT FROM pg_proc AS p WHERE p.pronamespace = n.oid
                     AND p.proowner NOT IN (SELECT role FROM trusted))
       OR EXISTS (SELECT FROM pg_operator AS o WHERE o.oprnamespace = n.oid
                     AND o.oprowner NOT IN (SELECT role FROM trusted))
  FROM unnest($3::text[]) WITH ORDINALITY AS own (schema, place)
  JOIN pg_namespace AS n ON n.nspname = own.schema
 WHERE n.nspname <> 'pg_catalog' AND n.nspname !~ '^pg_temp'
 ORDER BY own.place
)sql";

awaitable<result<std::string>> own_schemas(connection& sql) {
    const auto reset = co_await sql.query(own_path_sql);
    if (!reset) {
        co_return reset.error();
    }
    const auto resolved = co_await sql.query(resolve_sql);
    if (!resolved) {
        co_return resolved.error();
    }
    const auto pinned = co_await sql.query(pin_sql);
    if (!pinned) {
        co_return pinned.error();
    }
    co_return resolved->empty() ? std::string("{}") : resolved->text(0, 0);
}

}  // namespace

awaitable<result<fragment_path>> find_fragment_path(connection& sql,
                                                    std::vector<table_name> outboxes) {
    auto own = co_await own_schemas(sql);
    if (!own) {
        co_return own.error();
    }
    auto [schemas, names] = arrays_of(outboxes);
    std::vector<std::string> which{std::move(schemas), std::move(names), std::move(*own)};
    const auto rows =
        co_await sql.query(std::string(trusted_roles_sql) + schemas_sql, std::move(which));
    if (!rows) {
        co_return rows.error();
    }
    fragment_path found{"pg_catalog", {}};
    for (std::size_t row = 0; row < rows->size(); ++row) {
        if (rows->flag(row, 1)) {
            found.open_schemas.push_back(rows->text(row, 0));
        } else {
            found.text += ", " + quote_identifier(rows->text(row, 0));
        }
    }
    found.text += ", pg_temp";
    co_return std::move(found);
}

awaitable<result<fragment_path>> use_fragment_path(connection& sql,
                                                   std::vector<table_name> outboxes) {
    auto found = co_await find_fragment_path(sql, std::move(outboxes));
    if (!found) {
        co_return found.error();
    }
    std::vector<std::string> path{found->text};
    const auto set = co_await sql.query(set_sql, std::move(path));
    if (!set) {
        co_return set.error();
    }
    co_return std::move(*found);
}

std::string explain_open_schemas(const std::vector<std::string>& open_schemas) {
    if (open_schemas.empty()) {
        return {};
    }
    const auto& first = open_schemas.front();
    return "walrelay does not look for names in schema " +
           joined(open_schemas, ", ", quote_identifier) +
           ", where others may create objects or own functions (\\dn+ and \\df in psql show "
           "them): write the schema before such names, also in functions of the table's triggers, "
           "or REVOKE CREATE ON SCHEMA " +
           quote_identifier(first) + " FROM PUBLIC;";
}

}  // namespace walrelay::postgres
