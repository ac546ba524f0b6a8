#include "postgres/tables/newest_rows.hpp"

#include "core/sql_text.hpp"
#include "postgres/session/fact_reader.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>

namespace walrelay::postgres {
namespace {

using boost::asio::awaitable;

/// $1 schema, $2 table, $3 column: kind, bytes with all partitions, whether an index begins with
/// the column, and the size of a page.
constexpr const char* access_sql = R"sql(
SELECT c.relkind,
       (SELECT coalesce(sum(pg_relation_size(part.oid)), 0)::int8 FROM pg_class AS part
         WHERE part.oid = c.oid OR part.oid IN (SELECT relid FROM pg_partition_tree(c.oid))),
       EXISTS (SELECT FROM pg_index AS i JOIN pg_class AS ic ON ic.oid = i.indexrelid
                 JOIN pg_am AS am ON am.oid = ic.relam
                WHERE i.indrelid = c.oid AND i.indisvalid AND i.indpred IS NULL
                  AND am.amname = 'btree' AND i.indkey[0] = a.attnum),
       current_setting('block_size')::int8
  FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
  JOIN pg_attribute AS a ON a.attrelid = c.oid
 WHERE n.nspname = $1 AND c.relname = $2 AND a.attname = $3
)sql";

/// Nothing of the WAL's end on a standby.
constexpr const char* moment_sql = R"sql(
SELECT pg_current_wal_insert_lsn(), pg_current_wal_flush_lsn(),
       (extract(epoch FROM clock_timestamp()) * 1000000)::int8
)sql";

/// The condition that makes the reading cheap; nothing where there is none.
std::optional<std::string> way_to_the_newest(const row_set& access, int version_number) {
    constexpr std::int64_t read_as_a_whole_bytes = std::int64_t{64} << 20U;
    constexpr std::int64_t last_pages = 256;
    constexpr int version_with_tid_ranges = 140000;
    fact_reader reader{access};
    const auto bytes = reader.number<std::int64_t>(0, 1);
    const auto page_bytes = std::max<std::int64_t>(reader.number<std::int64_t>(0, 3), 1);
    if (reader.failure()) {
        return std::nullopt;
    }
    if (access.flag(0, 2) || bytes <= read_as_a_whole_bytes) {
        return "";
    }
    if (access.text(0, 0) != "r" || version_number < version_with_tid_ranges) {
        return std::nullopt;
    }
    return " AND ctid >= '(" + std::to_string(bytes / page_bytes - last_pages) + ",0)'::tid";
}

std::string select_newest(const newest_rows_request& request, const std::string& condition,
                          int rows_max) {
    const auto time = quote_identifier(request.created_at);
    std::string sql = "SELECT ";
    for (const auto& column : request.columns) {
        sql += quote_identifier(column) + ", ";
    }
    return sql + "(extract(epoch FROM " + time + ") * 1000000)::int8 FROM " +
           quote_table(request.table) + " WHERE " + time + " IS NOT NULL AND isfinite(" + time +
           ")" + condition + " ORDER BY " + time + " DESC LIMIT " + std::to_string(rows_max);
}

awaitable<result<std::vector<newest_row>>> read(connection& sql, std::string statement) {
    const auto rows = co_await sql.query(std::move(statement));
    if (!rows) {
        co_return rows.error();
    }
    fact_reader reader{*rows};
    std::vector<newest_row> found;
    for (std::size_t row = 0; row < rows->size(); ++row) {
        auto values = rows->rows()[row];
        const auto created = reader.number<std::int64_t>(row, values.size() - 1);
        values.pop_back();
        found.push_back({std::move(values), wall_time(std::chrono::microseconds(created))});
    }
    if (reader.failure()) {
        co_return *reader.failure();
    }
    co_return std::move(found);
}

}  // namespace

awaitable<result<std::vector<newest_row>>> read_newest_rows(connection& sql,
                                                            newest_rows_request request) {
    constexpr int newest = 1000;
    constexpr int from_around = 200;
    std::vector<std::string> which{request.table.schema, request.table.name, request.created_at};
    const auto access = co_await sql.query(access_sql, std::move(which));
    if (!access) {
        co_return access.error();
    }
    const auto way =
        access->empty() ? std::nullopt : way_to_the_newest(*access, sql.version_number());
    if (!way) {
        co_return std::vector<newest_row>{};
    }
    auto last = co_await read(sql, select_newest(request, *way, newest));
    if (!last || last->size() < newest) {
        co_return std::move(last);
    }
    const auto since_epoch =
        std::chrono::duration<double>(request.around.time_since_epoch()).count();
    auto before = co_await read(
        sql, select_newest(request,
                           *way + " AND " + quote_identifier(request.created_at) +
                               " <= to_timestamp(" + std::to_string(since_epoch) + ")",
                           from_around));
    if (!before) {
        co_return before.error();
    }
    std::move(before->begin(), before->end(), std::back_inserter(*last));
    co_return std::move(last);
}

awaitable<result<void>> limit_statements(connection& sql, std::chrono::milliseconds longest) {
    auto set = "SET statement_timeout = " + std::to_string(longest.count());
    const auto done = co_await sql.query(std::move(set));
    if (!done) {
        co_return done.error();
    }
    co_return result<void>{};
}

awaitable<result<wal_moment>> read_wal_moment(connection& sql) {
    const auto rows = co_await sql.query(moment_sql);
    if (!rows) {
        co_return rows.error();
    }
    fact_reader reader{*rows};
    wal_moment moment{reader.maybe_lsn(0, 0).value_or(lsn{}),
                      reader.maybe_lsn(0, 1).value_or(lsn{}),
                      wall_time(std::chrono::microseconds(reader.number<std::int64_t>(0, 2)))};
    if (reader.failure()) {
        co_return *reader.failure();
    }
    co_return moment;
}

}  // namespace walrelay::postgres
