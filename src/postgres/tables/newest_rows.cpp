#include "postgres/tables/newest_rows.hpp"

#include "core/sql_text.hpp"
#include "postgres/session/array_literal.hpp"
#include "postgres/session/fact_reader.hpp"

#include <algorithm>
#include <cstdint>
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
       EXISTS (SELECT FROM pg_attribute AS a
                 JOIN pg_index AS i ON i.indrelid = a.attrelid AND i.indkey[0] = a.attnum
                 JOIN pg_class AS ic ON ic.oid = i.indexrelid
                 JOIN pg_am AS am ON am.oid = ic.relam
                WHERE a.attrelid = c.oid AND a.attname = $3
                  AND i.indisvalid AND i.indpred IS NULL AND am.amname = 'btree'),
       current_setting('block_size')::int8,
       pg_stat_get_tuples_deleted(c.oid) + pg_stat_get_tuples_updated(c.oid) = 0
  FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
 WHERE n.nspname = $1 AND c.relname = $2
)sql";

/// Nothing of the WAL's end on a standby.
constexpr const char* moment_sql = R"sql(
SELECT pg_current_wal_insert_lsn(), pg_current_wal_flush_lsn(),
       (extract(epoch FROM clock_timestamp()) * 1000000)::int8
)sql";

/// $1 schemas, $2 tables.
constexpr const char* tables_moment_sql = R"sql(
SELECT pg_current_snapshot(), pg_snapshot_xmax(pg_current_snapshot()), pg_current_wal_insert_lsn(),
       (extract(epoch FROM clock_timestamp()) * 1000000)::int8,
       (SELECT coalesce(sum(pg_stat_get_tuples_inserted(part.oid)), 0)::int8
          FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
          JOIN pg_class AS part
            ON part.oid = c.oid OR part.oid IN (SELECT relid FROM pg_partition_tree(c.oid))
         WHERE n.nspname = asked.schema AND c.relname = asked.name),
       current_setting('track_counts')::bool
  FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS asked (schema, name, place)
 ORDER BY asked.place
)sql";

/// How the newest rows are found without reading much.
struct way_in {
    /// A condition that leaves little to be read; empty where there is none.
    std::string condition;
    /// Rows in the order of their time are at hand.
    bool by_time = false;
    /// No newer row can lie elsewhere.
    bool is_whole = true;
};

/// Nothing where there is no way.
std::optional<way_in> way_to_the_newest(const row_set& access, int version_number,
                                        bool again_and_again) {
    const std::int64_t read_as_a_whole_bytes = std::int64_t{again_and_again ? 1 : 64} << 20U;
    const std::int64_t last_pages = again_and_again ? 64 : 256;
    constexpr int version_with_tid_ranges = 140000;
    fact_reader reader{access};
    const auto bytes = reader.number<std::int64_t>(0, 1);
    const auto page_bytes = std::max<std::int64_t>(reader.number<std::int64_t>(0, 3), 1);
    if (reader.failure()) {
        return std::nullopt;
    }
    if (access.flag(0, 2) || bytes <= read_as_a_whole_bytes) {
        return way_in{"", access.flag(0, 2)};
    }
    if (access.text(0, 0) != "r" || version_number < version_with_tid_ranges) {
        return std::nullopt;
    }
    // Where rows were deleted or updated, new ones come into freed pages as well.
    const bool only_grows = access.at(0, 4).has_value() && access.flag(0, 4);
    return way_in{"ctid >= '(" + std::to_string(bytes / page_bytes - last_pages) + ",0)'::tid",
                  false, only_grows};
}

/// The values, the time in microseconds, and whether the row is wanted for its place in history.
std::string values_of(const newest_rows_request& request) {
    std::string sql;
    for (const auto& column : request.columns) {
        sql += quote_identifier(column) + ", ";
    }
    const auto time = quote_identifier(request.created_at);
    sql += request.created_at.empty()
               ? "0::int8 AS \"time of the row\""
               : "(CASE WHEN isfinite(" + time + ") THEN extract(epoch FROM " + time +
                     ") * 1000000 ELSE 0 END)::int8 AS \"time of the row\"";
    return sql + ", " + (request.is_later.empty() ? "true" : "(" + request.is_later + ")") +
           " AS \"is later\"";
}

std::string seconds_of(wall_time when) {
    return "to_timestamp(" +
           std::to_string(std::chrono::duration<double>(when.time_since_epoch()).count()) + ")";
}

/// Of rows in the order of their time as many as `rows_max`, and of these what is wanted: a
/// condition that no index knows must not lead further back.
std::string select_by_time(const newest_rows_request& request, const std::string& condition,
                           const char* direction, int rows_max) {
    const auto time = quote_identifier(request.created_at);
    return "SELECT * FROM (SELECT " + values_of(request) + " FROM " + quote_table(request.table) +
           " WHERE " + time + " IS NOT NULL AND isfinite(" + time + ")" +
           (condition.empty() ? "" : " AND " + condition) + " ORDER BY " + time + " " + direction +
           " LIMIT " + std::to_string(rows_max) + ") AS newest WHERE \"is later\"";
}

/// All that are wanted, wherever they lie in what is read at all.
std::string select_all(const newest_rows_request& request, const std::string& condition,
                       int rows_max) {
    auto where = request.is_later;
    if (!condition.empty()) {
        where += (where.empty() ? "" : " AND ") + condition;
    }
    return "SELECT " + values_of(request) + " FROM " + quote_table(request.table) +
           (where.empty() ? "" : " WHERE " + where) + " ORDER BY \"time of the row\" " +
           (request.is_later.empty() ? "DESC" : "") + " LIMIT " + std::to_string(rows_max);
}

awaitable<result<void>> read(connection& sql, std::string statement,
                             std::vector<newest_row>& found) {
    const auto rows = co_await sql.query(std::move(statement));
    if (!rows) {
        co_return rows.error();
    }
    fact_reader reader{*rows};
    for (std::size_t row = 0; row < rows->size(); ++row) {
        auto values = rows->rows()[row];
        values.pop_back();
        const auto created = reader.number<std::int64_t>(row, values.size() - 1);
        values.pop_back();
        found.push_back({std::move(values), wall_time(std::chrono::microseconds(created))});
    }
    if (reader.failure()) {
        co_return *reader.failure();
    }
    co_return result<void>{};
}

constexpr int newest_max = 1000;
constexpr int from_around = 200;
constexpr int after_it = 2000;

/// What came right after the last message that the stream has is what a loss takes first.
std::vector<std::string> statements_for(const newest_rows_request& request, const way_in& way) {
    if (request.since) {
        const auto made =
            quote_identifier(request.created_at) + " >= " + seconds_of(*request.since);
        return {select_by_time(request,
                               way.condition.empty() ? made : made + " AND " + way.condition,
                               "DESC", newest_max)};
    }
    if (!request.is_later.empty() && !way.by_time) {
        return {select_all(request, way.condition, 2 * after_it)};
    }
    if (request.created_at.empty()) {
        return {};
    }
    const auto time = quote_identifier(request.created_at);
    const auto around = seconds_of(request.around);
    const auto and_way = way.condition.empty() ? "" : " AND " + way.condition;
    return {select_by_time(request, way.condition, "DESC", newest_max),
            select_by_time(request, time + " <= " + around + and_way, "DESC", from_around),
            select_by_time(request, time + " > " + around + and_way, "ASC", after_it)};
}

}  // namespace

awaitable<result<newest_rows>> read_newest_rows(connection& sql, newest_rows_request request) {
    std::vector<std::string> which{request.table.schema, request.table.name, request.created_at};
    const auto access = co_await sql.query(access_sql, std::move(which));
    if (!access) {
        co_return access.error();
    }
    const auto way = access->empty() ? std::nullopt
                                     : way_to_the_newest(*access, sql.version_number(),
                                                         request.since.has_value());
    newest_rows found;
    if (!way) {
        co_return std::move(found);
    }
    found.is_whole = way->is_whole;
    for (auto& statement : statements_for(request, *way)) {
        const auto done = co_await read(sql, std::move(statement), found.rows);
        if (!done) {
            co_return done.error();
        }
    }
    co_return std::move(found);
}

awaitable<result<void>> limit_statements(connection& sql, std::chrono::milliseconds longest) {
    constexpr std::chrono::milliseconds longest_for_a_lock{500};
    auto set = "SELECT set_config('statement_timeout', '" + std::to_string(longest.count()) +
               "', false), set_config('lock_timeout', '" +
               std::to_string(std::min(longest, longest_for_a_lock).count()) + "', false)";
    const auto done = co_await sql.query(std::move(set));
    if (!done) {
        co_return done.error();
    }
    co_return result<void>{};
}

awaitable<result<tables_moment>> read_tables_moment(connection& sql,
                                                    std::vector<table_name> tables) {
    std::vector<std::string> schemas;
    std::vector<std::string> names;
    for (const auto& each : tables) {
        schemas.push_back(each.schema);
        names.push_back(each.name);
    }
    std::vector<std::string> which{array_literal(schemas), array_literal(names)};
    const auto rows = co_await sql.query(tables_moment_sql, std::move(which));
    if (!rows) {
        co_return rows.error();
    }
    fact_reader reader{*rows};
    tables_moment moment;
    for (std::size_t row = 0; row < rows->size(); ++row) {
        moment.snapshot = rows->text(row, 0);
        moment.next = reader.number<std::uint64_t>(row, 1);
        moment.inserted = reader.maybe_lsn(row, 2).value_or(lsn{});
        moment.now = wall_time(std::chrono::microseconds(reader.number<std::int64_t>(row, 3)));
        moment.rows_inserted.push_back(reader.number<std::int64_t>(row, 4));
        moment.counts = rows->flag(row, 5);
    }
    if (reader.failure()) {
        co_return *reader.failure();
    }
    co_return moment;
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
