#include "postgres/tables/newest_rows.hpp"

#include "core/sql_text.hpp"
#include "postgres/catalog/table_scope.hpp"
#include "postgres/session/array_literal.hpp"
#include "postgres/session/fact_reader.hpp"
#include "postgres/session/run_command.hpp"
#include "postgres/session/server_error.hpp"
#include "postgres/session/sqlstate.hpp"
#include "postgres/tables/open_transactions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

namespace walrelay::postgres {
namespace {

using boost::asio::awaitable;

/// $1 schema, $2 table, $3 column: kind, bytes with all partitions, whether an index begins with
/// the column in the order of ORDER BY ... DESC, and the size of a page.
constexpr const char* access_sql = R"sql(
SELECT c.relkind,
       (SELECT coalesce(sum(pg_relation_size(part.oid)), 0)::int8 FROM pg_class AS part
         WHERE part.oid = c.oid OR part.oid IN (SELECT relid FROM pg_partition_tree(c.oid))),
       EXISTS (SELECT FROM pg_attribute AS a
                 JOIN pg_index AS i ON i.indrelid = a.attrelid AND i.indkey[0] = a.attnum
                  AND i.indoption[0] IN (0, 3)
                 JOIN pg_class AS ic ON ic.oid = i.indexrelid
                 JOIN pg_am AS am ON am.oid = ic.relam
                WHERE a.attrelid = c.oid AND a.attname = $3
                  AND i.indisvalid AND i.indpred IS NULL AND am.amname = 'btree'),
       current_setting('block_size')::int8
  FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
 WHERE n.nspname = $1 AND c.relname = $2
)sql";

/// Nothing of the WAL's end on a standby. The next record follows the header of a page or segment
/// (PostgreSQL source, access/xlog_internal.h, of 24 or 40 bytes), which is written with that
/// record: the last one ends before the header.
constexpr const char* moment_sql = R"sql(
SELECT pg_current_wal_insert_lsn(), pg_current_wal_flush_lsn(),
       (extract(epoch FROM clock_timestamp()) * 1000000)::int8,
       current_setting('wal_block_size')::int8,
       pg_size_bytes(current_setting('wal_segment_size'))
)sql";

/// Where the last record ends if the next one is written to `next`.
lsn end_before(lsn next, std::uint64_t page_bytes, std::uint64_t segment_bytes) {
    constexpr std::uint64_t page_header = 24;
    constexpr std::uint64_t segment_header = 40;
    if (next.value % segment_bytes == segment_header) {
        return lsn{next.value - segment_header};
    }
    return next.value % page_bytes == page_header ? lsn{next.value - page_header} : next;
}

/// $1 schemas, $2 tables.
constexpr std::string_view tables_moment_begin = R"sql(
SELECT open.snapshot, pg_snapshot_xmax(pg_current_snapshot()), pg_current_wal_insert_lsn(),
       (extract(epoch FROM clock_timestamp()) * 1000000)::int8,
       (SELECT coalesce(sum(pg_stat_get_tuples_inserted(part.oid)), 0)::int8
          FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
          JOIN pg_class AS part
            ON part.oid = c.oid OR part.oid IN (SELECT relid FROM pg_partition_tree(c.oid))
         WHERE n.nspname = asked.schema AND c.relname = asked.name),
       current_setting('track_counts')::bool
)sql";
constexpr std::string_view tables_moment_end = R"sql(
 CROSS JOIN unnest($1::text[], $2::text[]) WITH ORDINALITY AS asked (schema, name, place)
 ORDER BY asked.place
)sql";

std::string tables_moment_sql() {
    return fmt::format("{} FROM ({}) AS open {}", tables_moment_begin, open_transactions_sql,
                       tables_moment_end);
}

constexpr std::size_t rows_wanted_max = 20'000;
/// Of a large table, in the order of an index.
constexpr int rows_read_max = 100'000;
/// So many rows in a row that are not wanted: none before them is.
constexpr int margin = 1000;
/// Where nothing tells which rows are wanted.
constexpr int newest_max = 1000;
constexpr int before_max = 200;

enum class way_in { whole_table, last_pages, index_on_time };

struct access {
    way_in way = way_in::whole_table;
    /// A condition that leaves the last pages alone to be read; empty where there is none. A new
    /// row can lie elsewhere: also what was rolled back leaves free pages, and no counter of the
    /// server tells of that for good (a crash takes them back to 0).
    std::string condition = {};
};

/// Nothing where there is no way.
std::optional<access> way_to_the_newest(const row_set& facts, const newest_rows_request& request,
                                        int version_number) {
    const bool again_and_again = request.since.has_value();
    const std::int64_t read_as_a_whole_bytes = std::int64_t{again_and_again ? 1 : 64} << 20U;
    const std::int64_t last_pages = again_and_again ? 64 : 2048;
    constexpr int version_with_tid_ranges = 140000;
    fact_reader reader{facts};
    const auto bytes = reader.number<std::int64_t>(0, 1);
    const auto page_bytes = std::max<std::int64_t>(reader.number<std::int64_t>(0, 3), 1);
    if (reader.failure()) {
        return std::nullopt;
    }
    if (bytes <= read_as_a_whole_bytes) {
        return access{};
    }
    if (facts.flag(0, 2)) {
        return access{way_in::index_on_time};
    }
    if (facts.text(0, 0) != "r" || version_number < version_with_tid_ranges) {
        return std::nullopt;
    }
    return access{way_in::last_pages,
                  fmt::format("ctid >= '({},0)'::tid", bytes / page_bytes - last_pages)};
}

/// The values, and the time in microseconds, at most the end of the year 9999: PostgreSQL has times
/// that such a number cannot hold.
std::string values_of(const newest_rows_request& request) {
    std::string sql;
    for (const auto& column : request.columns) {
        sql += quote_identifier(column) + ", ";
    }
    const auto time = quote_identifier(request.created_at);
    return sql + (request.created_at.empty()
                      ? "0::int8 AS \"time of the row\""
                      : "(CASE WHEN isfinite(" + time + ") THEN least(extract(epoch FROM " + time +
                            ") * 1000000, 253402300799000000) ELSE 0 END)::int8 AS \"time of the "
                            "row\"");
}

std::string is_later(const newest_rows_request& request) {
    return request.is_later.empty() ? "true" : "(" + request.is_later + ")";
}

std::string seconds_of(wall_time when) {
    return "to_timestamp(" +
           std::to_string(std::chrono::duration<double>(when.time_since_epoch()).count()) + ")";
}

/// A part of a table in an order that begins with the newest rows.
struct stretch {
    std::string condition = {};
    std::string order = {};
    /// Nothing reaches beyond it.
    int rows_max = 0;
    /// The rows end where so many were read, or all of the table.
    bool may_end_with_the_table = true;
};

/// Of what is wanted in the stretch, that which lies furthest back; and whether rows that are not
/// wanted lie before it, so that it is all that is wanted. A condition that no index knows must not
/// lead further back than the stretch. `from` is rows_sql, as below.
std::string select_stretch(const newest_rows_request& request, const std::string& from,
                           const stretch& part) {
    return fmt::format(
        R"sql(WITH part AS (
SELECT {values}, {later} AS "is later", row_number() OVER (ORDER BY {order}) AS "its place"
  FROM {table} {where} ORDER BY {order} LIMIT {rows})
SELECT wanted.*, what.is_whole
  FROM (SELECT count(*) FILTER (WHERE "is later") <= {wanted}
               AND (coalesce(max("its place") FILTER (WHERE "is later"), 0) + {margin} <= count(*)
                    OR ({ends} AND count(*) < {rows})) AS is_whole FROM part) AS what
  LEFT JOIN (SELECT * FROM part WHERE "is later" ORDER BY "its place" DESC LIMIT {wanted})
         AS wanted ON true)sql",
        fmt::arg("values", values_of(request)), fmt::arg("later", is_later(request)),
        fmt::arg("order", part.order), fmt::arg("table", from),
        fmt::arg("where", part.condition.empty() ? "" : "WHERE " + part.condition),
        fmt::arg("rows", part.rows_max), fmt::arg("wanted", rows_wanted_max),
        fmt::arg("margin", margin), fmt::arg("ends", part.may_end_with_the_table));
}

/// All that are wanted, wherever they lie; of too many the first that were written.
std::string select_all(const newest_rows_request& request, const std::string& from) {
    return fmt::format("SELECT {}, true, 1, true FROM {} WHERE {} ORDER BY age(xmin) DESC LIMIT {}",
                       values_of(request), from, is_later(request), rows_wanted_max);
}

/// Of rows in the order of their time as many as `rows_max`, and of these what is wanted.
std::string select_by_time(const newest_rows_request& request, const std::string& from,
                           const std::string& condition, const char* direction,
                           std::size_t rows_max) {
    const auto time = quote_identifier(request.created_at);
    return fmt::format(
        "SELECT * FROM (SELECT {}, {} AS \"is later\", 1, true FROM {} WHERE isfinite({}){} ORDER "
        "BY {} {} LIMIT {}) AS newest WHERE \"is later\"",
        values_of(request), is_later(request), from, time,
        condition.empty() ? "" : " AND " + condition, time, direction, rows_max);
}

class table_reader {
public:
    table_reader(connection& sql, const newest_rows_request& request)
        : sql_(sql), request_(request) {}

    awaitable<result<void>> read_all() {
        std::vector<std::string> which{request_.table.schema, request_.table.name,
                                       request_.created_at};
        const auto facts = co_await sql_.query(access_sql, std::move(which));
        if (!facts) {
            co_return facts.error();
        }
        const auto way = facts->empty()
                             ? std::nullopt
                             : way_to_the_newest(*facts, request_, sql_.version_number());
        if (!way) {
            co_return result<void>{};
        }
        from_ = rows_sql({request_.table, facts->text(0, 0) == "p"});
        if (request_.since) {
            const auto made =
                quote_identifier(request_.created_at) + " >= " + seconds_of(*request_.since);
            const auto and_way = way->condition.empty() ? "" : " AND " + way->condition;
            co_return co_await read_by_time(made + and_way, "DESC", newest_max);
        }
        if (request_.is_later.empty()) {
            co_return co_await read_newest(*way);
        }
        co_return co_await read_later(*way);
    }
    newest_rows take() { return std::move(found_); }

private:
    awaitable<result<void>> read_later(const access& way) {
        if (way.way == way_in::whole_table) {
            found_.is_whole = true;
            auto every_row = select_all(request_, from_);
            auto done = co_await read(std::move(every_row));
            found_.is_whole = found_.is_whole && found_.rows.size() < rows_wanted_max;
            co_return done;
        }
        const bool by_time = way.way == way_in::index_on_time;
        const auto time = quote_identifier(request_.created_at);
        found_.is_whole = by_time;
        const stretch newest{way.condition, (by_time ? time : "ctid") + " DESC",
                             by_time ? rows_read_max : std::numeric_limits<int>::max(), by_time};
        auto statement = select_stretch(request_, from_, newest);
        auto read_back = co_await read(std::move(statement));
        if (!read_back || found_.is_whole || !by_time) {
            co_return read_back;
        }
        co_return co_await read_around(time);
    }

    /// What came right after the last message that the stream has is what a loss takes first. It is
    /// not all that a loss can take.
    awaitable<result<void>> read_around(const std::string& time) {
        const auto around = seconds_of(request_.around);
        auto before = co_await read_by_time(time + " <= " + around, "DESC", newest_max);
        if (!before) {
            co_return before;
        }
        co_return co_await read_by_time(time + " > " + around, "ASC", rows_wanted_max);
    }

    awaitable<result<void>> read_by_time(std::string condition, const char* direction,
                                         std::size_t rows_max) {
        auto statement = select_by_time(request_, from_, condition, direction, rows_max);
        co_return co_await read(std::move(statement));
    }

    /// Where nothing tells which rows are later, the broker's time of its last message does.
    awaitable<result<void>> read_newest(const access& way) {
        if (request_.created_at.empty()) {
            co_return result<void>{};
        }
        const auto time = quote_identifier(request_.created_at);
        const auto around = seconds_of(request_.around);
        const auto and_way = way.condition.empty() ? "" : " AND " + way.condition;
        auto done = co_await read_by_time(way.condition, "DESC", newest_max);
        if (done) {
            done = co_await read_by_time(time + " <= " + around + and_way, "DESC", before_max);
        }
        if (!done) {
            co_return done;
        }
        const auto before = found_.rows.size();
        done = co_await read_by_time(time + " > " + around + and_way, "ASC", rows_wanted_max);
        found_.is_whole =
            way.way != way_in::last_pages && found_.rows.size() - before < rows_wanted_max;
        co_return done;
    }

    /// Rows of the values, the time, whether it is wanted, its place, which is NULL where there is
    /// no row, and whether nothing was left out. The last two lie in every row.
    awaitable<result<void>> read(std::string statement) {
        std::optional<error> unreadable;
        row_visitor each = [&](const row_set& one) {
            if (auto failure = take_row(one)) {
                unreadable = std::move(failure);
            }
        };
        const auto read = co_await sql_.ask_row_by_row(std::move(statement), std::move(each));
        if (read.has_error()) {
            found_.took_too_long = read.error().sqlstate == sqlstate::query_canceled;
            co_return explain_read(read.error(), sql_.role(), quote_table(request_.table));
        }
        co_return unreadable ? result<void>(*unreadable) : result<void>{};
    }

    std::optional<error> take_row(const row_set& one) {
        constexpr std::size_t of_the_statement = 3;
        const auto& values = one.rows().front();
        const auto columns = values.size();
        found_.is_whole = found_.is_whole && one.flag(0, columns - 1);
        if (!one.at(0, columns - 2)) {
            return std::nullopt;
        }
        fact_reader reader{one};
        const auto time = columns - of_the_statement - 1;
        const wall_time created(std::chrono::microseconds(reader.number<std::int64_t>(0, time)));
        const auto after = values.begin() + static_cast<std::ptrdiff_t>(time);
        found_.rows.push_back({{values.begin(), after}, created});
        return reader.failure();
    }

    connection& sql_;
    const newest_rows_request& request_;
    std::string from_;
    newest_rows found_;
};

/// Ends statements that take long, or wait for a lock. An index is taken where there is one, also
/// where the statistics know little of the table. Where a policy would hide rows the reading fails:
/// rows that are not seen would count as none.
awaitable<result<void>> begin_reading(connection& sql) {
    const auto begun = co_await run_command(sql, "BEGIN ISOLATION LEVEL READ COMMITTED READ ONLY");
    if (!begun) {
        co_return begun;
    }
    co_return co_await run_command(
        sql,
        "SELECT set_config('statement_timeout', '3s', true), set_config('lock_timeout', '500ms', "
        "true), set_config('enable_seqscan', 'off', true), set_config('row_security', 'off', "
        "true)");
}

}  // namespace

awaitable<result<newest_rows>> read_newest_rows(connection& sql, newest_rows_request request) {
    auto done = co_await begin_reading(sql);
    if (!done) {
        co_return done.error();
    }
    table_reader reader(sql, request);
    done = co_await reader.read_all();
    const auto ended = co_await run_command(sql, "ROLLBACK");
    auto found = reader.take();
    if (!done && found.took_too_long) {
        found.rows.clear();
        found.is_whole = false;
        co_return std::move(found);
    }
    if (!done || !ended) {
        co_return done ? ended.error() : done.error();
    }
    co_return std::move(found);
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
    const auto rows = co_await sql.query(tables_moment_sql(), std::move(which));
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
    const auto next = reader.maybe_lsn(0, 0).value_or(lsn{});
    const auto page_bytes = std::max<std::uint64_t>(reader.number<std::uint64_t>(0, 3), 1);
    const auto segment_bytes = std::max<std::uint64_t>(reader.number<std::uint64_t>(0, 4), 1);
    wal_moment moment{end_before(next, page_bytes, segment_bytes),
                      reader.maybe_lsn(0, 1).value_or(lsn{}),
                      wall_time(std::chrono::microseconds(reader.number<std::int64_t>(0, 2)))};
    if (reader.failure()) {
        co_return *reader.failure();
    }
    co_return moment;
}

}  // namespace walrelay::postgres
