#include "postgres/catalog/table_inspection.hpp"

#include "postgres/catalog/inspection_queries.hpp"
#include "postgres/catalog/trusted_roles.hpp"
#include "postgres/session/array_literal.hpp"
#include "postgres/session/fact_reader.hpp"

#include <algorithm>
#include <charconv>
#include <set>
#include <string>
#include <utility>

namespace walrelay::postgres {
namespace {

std::vector<std::string> schemas_and_names(const std::vector<table_name>& asked) {
    auto [schemas, names] = arrays_of(asked);
    return {std::move(schemas), std::move(names)};
}

/// The place of a row's table in the request; fails on what is outside.
table_facts* table_of(fact_reader& reader, std::size_t row, std::vector<table_facts>& tables) {
    const auto place = reader.number<std::size_t>(row, 0);
    return place < tables.size() ? &tables[place] : nullptr;
}

std::vector<table_facts> read_tables(const row_set& rows, std::vector<table_name> asked) {
    std::vector<table_facts> tables;
    for (std::size_t row = 0; row < rows.size() && row < asked.size(); ++row) {
        const auto kind = rows.text(row, 0);
        tables.push_back({.table = std::move(asked[row]),
                          .exists = !kind.empty(),
                          .partitioned = kind == "p",
                          .ordinary = kind == "r" || kind == "p",
                          .unlogged = rows.text(row, 1) == "u",
                          .readable = rows.flag(row, 2),
                          .identified = rows.flag(row, 3),
                          .leaves = {},
                          .columns = {}});
        tables.back().owner = rows.text(row, 5);
        tables.back().reachable = rows.flag(row, 6);
        if (!rows.flag(row, 7)) {
            tables.back().unreadable.emplace_back("xmin");
        }
    }
    return tables;
}

std::optional<error> read_oids(const row_set& tables, const row_set& leaves,
                               std::vector<table_facts>& into) {
    fact_reader of_tables{tables};
    for (std::size_t row = 0; row < tables.size() && row < into.size(); ++row) {
        if (into[row].exists) {
            into[row].oid = of_tables.number<std::uint32_t>(row, 4);
        }
    }
    fact_reader of_leaves{leaves};
    for (std::size_t row = 0; row < leaves.size(); ++row) {
        if (auto* table = table_of(of_leaves, row, into)) {
            table->leaf_oids.push_back(of_leaves.number<std::uint32_t>(row, 3));
        }
    }
    return of_tables.failure() ? of_tables.failure() : of_leaves.failure();
}

std::optional<error> read_columns(const row_set& rows, std::vector<table_facts>& tables) {
    fact_reader reader{rows};
    for (std::size_t row = 0; row < rows.size(); ++row) {
        if (auto* table = table_of(reader, row, tables)) {
            table->columns.push_back({rows.text(row, 1), reader.number<type_oid>(row, 2)});
            if (const auto how = rows.text(row, 3); !how.empty()) {
                table->generated.push_back({rows.text(row, 1), how == "s"});
            }
            if (rows.flag(row, 4)) {
                table->nullable.push_back(rows.text(row, 1));
            }
            if (!rows.flag(row, 5)) {
                table->unindexed.push_back(rows.text(row, 1));
            }
            if (!rows.flag(row, 6)) {
                table->unreadable.push_back(rows.text(row, 1));
            }
        }
    }
    return reader.failure();
}

std::optional<error> read_names(const row_set& rows, std::vector<table_facts>& tables,
                                std::vector<table_name> table_facts::*into) {
    fact_reader reader{rows};
    for (std::size_t row = 0; row < rows.size(); ++row) {
        if (auto* table = table_of(reader, row, tables)) {
            (table->*into).push_back({rows.text(row, 1), rows.text(row, 2)});
        }
    }
    return reader.failure();
}

std::optional<error> read_column_names(const row_set& rows, std::vector<table_facts>& tables,
                                       std::vector<std::string> table_facts::*into) {
    fact_reader reader{rows};
    for (std::size_t row = 0; row < rows.size(); ++row) {
        if (auto* table = table_of(reader, row, tables)) {
            (table->*into).push_back(rows.text(row, 1));
        }
    }
    return reader.failure();
}

/// What hangs on the tables: partitions, what they are partitioned by, and heirs. `found` are the
/// rows of the tables themselves.
boost::asio::awaitable<result<void>> inspect_descendants(connection& sql,
                                                         std::vector<std::string> which,
                                                         row_set found,
                                                         std::vector<table_facts>& tables) {
    const auto leaves = co_await sql.query(queries::leaves, which);
    if (leaves.has_error()) {
        co_return leaves.error();
    }
    const auto keys = co_await sql.query(queries::partition_columns, which);
    if (keys.has_error()) {
        co_return keys.error();
    }
    const auto children = co_await sql.query(queries::children, which);
    if (children.has_error()) {
        co_return children.error();
    }
    auto failure = read_names(*leaves, tables, &table_facts::leaves);
    if (!failure) {
        failure = read_oids(found, *leaves, tables);
    }
    if (!failure) {
        failure = read_column_names(*keys, tables, &table_facts::partition_columns);
    }
    if (!failure) {
        failure = read_names(*children, tables, &table_facts::children);
    }
    co_return failure ? result<void>{*failure} : result<void>{};
}

std::vector<table_name> read_other_tables(const row_set& rows,
                                          const std::vector<table_facts>& tables) {
    std::set<table_name> ours;
    for (const auto& one : tables) {
        ours.insert(one.table);
        ours.insert(one.leaves.begin(), one.leaves.end());
    }
    std::vector<table_name> others;
    for (std::size_t row = 0; row < rows.size(); ++row) {
        table_name name{rows.text(row, 0), rows.text(row, 1)};
        if (!ours.contains(name)) {
            others.push_back(std::move(name));
        }
    }
    return others;
}

boost::asio::awaitable<result<void>> inspect_open_names(connection& sql,
                                                        std::vector<std::string> which,
                                                        postgres_facts& facts) {
    const auto rows =
        co_await sql.query(std::string(trusted_roles_sql) + queries::open_names, std::move(which));
    if (rows.has_error()) {
        co_return rows.error();
    }
    for (std::size_t row = 0; row < rows->size(); ++row) {
        facts.open_names.push_back({rows->text(row, 0), rows->text(row, 1), rows->flag(row, 2)});
    }
    co_return result<void>{};
}

std::optional<error> read_domains(const row_set& rows, postgres_facts& facts) {
    fact_reader reader{rows};
    for (std::size_t row = 0; row < rows.size(); ++row) {
        facts.domains.emplace_back(reader.number<type_oid>(row, 0),
                                   reader.number<type_oid>(row, 1));
    }
    return reader.failure();
}

std::vector<type_oid> read_types(const row_set& rows) {
    std::vector<type_oid> types;
    const auto text = rows.empty() ? std::string{} : rows.text(0, 0);
    const char* at = text.data();
    const char* const end = at + text.size();
    for (type_oid each = 0; at < end; ++at) {
        const auto [stop, failure] = std::from_chars(at, end, each);
        if (failure != std::errc{}) {
            break;
        }
        types.push_back(each);
        at = stop;
    }
    return types;
}

boost::asio::awaitable<result<void>> inspect_types(connection& sql, postgres_facts& facts) {
    // After the columns: a type that they have is among these.
    const auto domains = co_await sql.query(queries::domains);
    if (domains.has_error()) {
        co_return domains.error();
    }
    if (auto failure = read_domains(*domains, facts)) {
        co_return *failure;
    }
    const auto types = co_await sql.query(queries::types);
    if (types.has_error()) {
        co_return types.error();
    }
    facts.types = read_types(*types);
    co_return result<void>{};
}

boost::asio::awaitable<result<void>> inspect_published(connection& sql,
                                                       std::vector<std::string> which,
                                                       std::string publication,
                                                       std::vector<table_facts>& tables) {
    if (publication.empty()) {
        co_return result<void>{};
    }
    which.push_back(std::move(publication));
    const auto columns = co_await sql.query(queries::published_columns, std::move(which));
    if (columns.has_error()) {
        co_return columns.error();
    }
    const auto failure = read_column_names(*columns, tables, &table_facts::published);
    co_return failure ? result<void>{*failure} : result<void>{};
}

}  // namespace

boost::asio::awaitable<result<void>> inspect_tables(connection& sql, std::vector<table_name> asked,
                                                    std::string publication,
                                                    postgres_facts& facts) {
    const auto which = schemas_and_names(asked);
    const auto tables = co_await sql.query(queries::tables, which);
    if (tables.has_error()) {
        co_return tables.error();
    }
    facts.tables = read_tables(*tables, std::move(asked));
    // Where a table is missing, a table of another schema may be meant.
    const bool in_all_schemas = std::ranges::any_of(
        facts.tables, [](const table_facts& each) { return each.partitioned || !each.exists; });
    const std::vector<std::string> schemas{which.front(), in_all_schemas ? "true" : "false"};
    const auto columns = co_await sql.query(queries::columns, which);
    if (columns.has_error()) {
        co_return columns.error();
    }
    const auto all = co_await sql.query(queries::tables_of_schemas, schemas);
    if (all.has_error()) {
        co_return all.error();
    }
    if (auto failure = read_columns(*columns, facts.tables)) {
        co_return *failure;
    }
    const auto descendants = co_await inspect_descendants(sql, which, *tables, facts.tables);
    if (descendants.has_error()) {
        co_return descendants.error();
    }
    const auto published =
        co_await inspect_published(sql, which, std::move(publication), facts.tables);
    if (published.has_error()) {
        co_return published.error();
    }
    facts.other_tables = read_other_tables(*all, facts.tables);
    const auto open = co_await inspect_open_names(sql, which, facts);
    if (open.has_error()) {
        co_return open.error();
    }
    co_return co_await inspect_types(sql, facts);
}

}  // namespace walrelay::postgres
