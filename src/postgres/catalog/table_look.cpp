#include "postgres/catalog/table_look.hpp"

#include "postgres/session/array_literal.hpp"

#include <string>
#include <utility>

namespace walrelay::postgres {
namespace {

/// $1 and $2 schema and name of the table, $3 and $4 those of the outboxes. pg_inherits has
/// partitions as well.
constexpr const char* look_at_table_sql = R"sql(
WITH RECURSIVE above (relid) AS (
    SELECT c.oid FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
     WHERE n.nspname = $1 AND c.relname = $2
    UNION
    SELECT i.inhparent FROM above JOIN pg_inherits AS i ON i.inhrelid = above.relid),
outbox (relid) AS (
    SELECT c.oid
      FROM unnest($3::text[], $4::text[]) AS asked (schema, name)
      LEFT JOIN (pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace)
        ON n.nspname = asked.schema AND c.relname = asked.name)
SELECT EXISTS (SELECT FROM above),
       EXISTS (SELECT FROM above JOIN outbox USING (relid)),
       NOT EXISTS (SELECT FROM outbox WHERE relid IS NULL)
)sql";

}  // namespace

boost::asio::awaitable<result<table_sight>> look_at_table(connection& sql, table_name table,
                                                          std::vector<table_name> outboxes) {
    auto [schemas, names] = arrays_of(outboxes);
    std::vector<std::string> values{std::move(table.schema), std::move(table.name),
                                    std::move(schemas), std::move(names)};
    const auto rows = co_await sql.query(look_at_table_sql, std::move(values));
    if (!rows) {
        co_return rows.error();
    }
    if (rows->empty()) {
        co_return error{errc::postgres_lost, "PostgreSQL did not say what a table is"};
    }
    co_return table_sight{rows->flag(0, 0), rows->flag(0, 1), rows->flag(0, 2)};
}

}  // namespace walrelay::postgres
