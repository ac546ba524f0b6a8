#include "postgres/catalog/row_counter.hpp"

#include "core/sql_text.hpp"
#include "postgres/session/array_literal.hpp"
#include "postgres/session/fact_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace walrelay::postgres {
namespace {

using boost::asio::awaitable;

constexpr std::uint64_t counted_at_most = 100'000;

constexpr const char* in_passing =
    "SELECT set_config('lock_timeout', '500', true), set_config('statement_timeout', '2000', true)";

/// -1 is a table that was never analyzed.
constexpr const char* estimate_sql =
    "SELECT coalesce(sum(greatest(reltuples, 0)), 0)::int8 FROM pg_class "
    "WHERE oid = ANY ($1::oid[])";

std::string count_sql(const table_facts& table) {
    return fmt::format("SELECT count(*) FROM (SELECT FROM {}{} LIMIT {}) AS counted",
                       table.partitioned ? "" : "ONLY ", quote_table(table.table),
                       counted_at_most + 1);
}

awaitable<std::optional<std::uint64_t>> estimate(connection& sql, const table_facts& table) {
    std::vector<std::string> oids;
    oids.reserve(table.leaf_oids.size() + 1);
    for (const auto oid : table.leaf_oids) {
        oids.push_back(std::to_string(oid));
    }
    oids.push_back(std::to_string(table.oid));
    std::vector<std::string> which{array_literal(oids)};
    const auto rows = co_await sql.ask(estimate_sql, std::move(which));
    if (rows.has_error() || rows->empty()) {
        co_return std::nullopt;
    }
    fact_reader reader{*rows};
    const auto tuples = reader.number<std::uint64_t>(0, 0);
    if (reader.failure()) {
        co_return std::nullopt;
    }
    co_return tuples;
}

awaitable<std::optional<row_count>> count(connection& sql, const table_facts& table) {
    std::vector<statement> both{{in_passing}, {count_sql(table)}};
    const auto rows = co_await sql.ask_together(std::move(both));
    if (rows.has_error() || rows->empty()) {
        co_return std::nullopt;
    }
    fact_reader reader{*rows};
    const auto counted = reader.number<std::uint64_t>(0, 0);
    if (reader.failure()) {
        co_return std::nullopt;
    }
    if (counted <= counted_at_most) {
        co_return row_count{counted, true};
    }
    const auto about = co_await estimate(sql, table);
    co_return row_count{std::max(counted, about.value_or(0)), false};
}

}  // namespace

awaitable<void> count_rows(connection& sql, postgres_facts& facts) {
    for (auto& table : facts.tables) {
        if (table.ordinary && table.readable && table.reachable && table.foreign_reading.empty()) {
            table.rows = co_await count(sql, table);
        }
    }
}

}  // namespace walrelay::postgres
