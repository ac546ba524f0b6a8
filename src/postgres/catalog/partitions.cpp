#include "postgres/catalog/partitions.hpp"

#include "core/sql_text.hpp"
#include "postgres/session/fact_reader.hpp"
#include "postgres/session/run_command.hpp"
#include "postgres/session/server_error.hpp"

#include <fmt/format.h>

#include <utility>

namespace walrelay::postgres {
namespace {

using boost::asio::awaitable;

/// $1 schema, $2 name. No row where there is no such table.
constexpr const char* root_sql = R"sql(
SELECT coalesce(p.partstrat = 'r' AND p.partnatts = 1
                AND a.atttypid IN ('timestamptz'::regtype, 'timestamp'::regtype, 'date'::regtype),
                false),
       coalesce(p.partdefid <> 0, false), c.oid::int8
  FROM pg_class AS c
  JOIN pg_namespace AS n ON n.oid = c.relnamespace
  LEFT JOIN pg_partitioned_table AS p ON p.partrelid = c.oid
  LEFT JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum = p.partattrs[0]
 WHERE n.nspname = $1 AND c.relname = $2
)sql";

/// $3 the age in milliseconds. Before 14 nothing is half detached, and there is no such column.
constexpr const char* over_sql = R"sql(
SELECT part_schema.nspname, part.relname,
       coalesce((to_jsonb(i) ->> 'inhdetachpending')::bool, false)
  FROM pg_inherits AS i
  JOIN pg_class AS c ON c.oid = i.inhparent
  JOIN pg_namespace AS n ON n.oid = c.relnamespace
  JOIN pg_partitioned_table AS p ON p.partrelid = c.oid
  JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum = p.partattrs[0]
  JOIN pg_class AS part ON part.oid = i.inhrelid
  JOIN pg_namespace AS part_schema ON part_schema.oid = part.relnamespace
 WHERE n.nspname = $1 AND c.relname = $2
   AND substring(pg_get_expr(part.relpartbound, part.oid) FROM 'TO \(''([^'']*)''\)$')::timestamptz
       + CASE a.atttypid WHEN 'timestamptz'::regtype THEN interval '0' ELSE interval '14 hours' END
       + $3::float8 * interval '1 millisecond' < now()
 ORDER BY part_schema.nspname, part.relname
)sql";

constexpr int detaches_concurrently = 140'000;

std::string detach_sql(const table_name& root, const partition& one, std::string_view how) {
    return fmt::format("ALTER TABLE {} DETACH PARTITION {}{}", quote_table(root),
                       quote_table(one.name), how);
}

error explain_detaching(const connection& sql, const server_report& report, const table_name& root,
                        const std::string& statement) {
    auto failure = explain(report, {.action = server_action::query, .role = sql.role()});
    if (report.sqlstate == "42501") {
        failure.what = fmt::format("the role {} does not own table {} and cannot detach partitions",
                                   sql.role(), to_string(root));
        failure.remedy = "GRANT the owner of the table to " + quote_identifier(sql.role()) +
                         ", or run as the owner: " + statement;
    }
    return failure;
}

}  // namespace

awaitable<result<partition_facts>> look_at_partitions(connection& sql, table_name root,
                                                      std::chrono::milliseconds age) {
    partition_facts facts;
    std::vector<std::string> which{root.schema, root.name};
    const auto about = co_await sql.query(root_sql, which);
    if (!about) {
        co_return about.error();
    }
    if (about->empty()) {
        co_return facts;
    }
    fact_reader reader{*about};
    facts.table = reader.number<std::uint32_t>(0, 2);
    if (reader.failure()) {
        co_return *reader.failure();
    }
    if (!about->flag(0, 0)) {
        co_return facts;
    }
    facts.by_time = true;
    facts.has_default = about->flag(0, 1);
    which.push_back(std::to_string(age.count()));
    const auto over = co_await sql.query(over_sql, std::move(which));
    if (!over) {
        co_return over.error();
    }
    for (std::size_t row = 0; row < over->size(); ++row) {
        facts.over.push_back({{over->text(row, 0), over->text(row, 1)}, over->flag(row, 2)});
    }
    co_return facts;
}

awaitable<result<void>> detach_partition(connection& sql, table_name root, partition one,
                                         bool has_default) {
    // Waiting for the lock of the plain way would make all writers of the table wait for it.
    const bool concurrently =
        sql.version_number() >= detaches_concurrently && (!has_default || one.half_detached);
    const auto limited = co_await run_command(
        sql, concurrently ? "SET statement_timeout = '5min'" : "SET lock_timeout = '500ms'");
    if (!limited) {
        co_return limited;
    }
    const auto* const how = one.half_detached ? " FINALIZE" : concurrently ? " CONCURRENTLY" : "";
    const auto statement = detach_sql(root, one, how);
    const auto done = co_await sql.ask(statement);
    if (done.has_error()) {
        co_return explain_detaching(sql, done.error(), root, statement);
    }
    co_return result<void>{};
}

awaitable<result<std::uint64_t>> count_rows(connection& sql, table_name table, std::string where) {
    auto statement = "SELECT count(*) FROM " + quote_table(table);
    if (!where.empty()) {
        statement += " WHERE (" + where + "\n)";
    }
    const auto rows = co_await sql.query(std::move(statement));
    if (!rows) {
        co_return rows.error();
    }
    fact_reader reader{*rows};
    const auto count = reader.number<std::uint64_t>(0, 0);
    if (reader.failure()) {
        co_return *reader.failure();
    }
    co_return count;
}

}  // namespace walrelay::postgres
