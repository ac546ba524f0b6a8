#include "postgres/catalog/row_counter.hpp"

#include "postgres/catalog/table_scope.hpp"
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
    return fmt::format("SELECT count(*) FROM (SELECT FROM {} LIMIT {}) AS counted",
                       rows_sql(scope_of(table)), counted_at_most + 1);
}

std::optional<std::uint64_t> number_in(const answer& rows) {
    if (rows.has_error() || rows->empty()) {
        return std::nullopt;
    }
    fact_reader reader{*rows};
    const auto number = reader.number<std::uint64_t>(0, 0);
    return reader.failure() ? std::nullopt : std::optional(number);
}

std::string oids_of(const table_facts& table) {
    std::vector<std::string> oids;
    oids.reserve(table.leaf_oids.size() + 1);
    for (const auto oid : table.leaf_oids) {
        oids.push_back(std::to_string(oid));
    }
    oids.push_back(std::to_string(table.oid));
    return array_literal(oids);
}

awaitable<std::optional<row_count>> count(connection& sql, const table_facts& table) {
    std::vector<statement> both{{in_passing}, {count_sql(table)}};
    const auto counted = number_in(co_await sql.ask_together(std::move(both)));
    if (!counted || *counted <= counted_at_most) {
        co_return counted ? std::optional(row_count{*counted, true}) : std::nullopt;
    }
    std::vector<std::string> which{oids_of(table)};
    const auto about = number_in(co_await sql.ask(estimate_sql, std::move(which)));
    co_return row_count{std::max(*counted, about.value_or(0)), false};
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
