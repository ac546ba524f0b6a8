#include "postgres/catalog/provisioner.hpp"

#include "core/sql_text.hpp"
#include "postgres/session/array_literal.hpp"
#include "postgres/session/server_error.hpp"

#include <fmt/format.h>

#include <utility>

namespace walrelay::postgres {
namespace {

server_context context_of(const connection& sql, server_action action) {
    return {.action = action,
            .role = sql.role(),
            .database = sql.database(),
            .version_number = sql.version_number()};
}

/// A table that is not there is for others to name. $1 schemas, $2 names.
constexpr const char* may_publish_sql = R"sql(
SELECT has_database_privilege(current_database(), 'CREATE')
       AND coalesce(bool_and(pg_has_role(c.relowner, 'USAGE')), true)
  FROM unnest($1::text[], $2::text[]) AS asked (schema, name)
  JOIN pg_namespace AS n ON n.nspname = asked.schema
  JOIN pg_class AS c ON c.relnamespace = n.oid AND c.relname = asked.name
)sql";

}  // namespace

boost::asio::awaitable<result<void>> look_at_publication_rights(connection& sql,
                                                                std::string publication,
                                                                std::vector<table_name> tables) {
    auto [schemas, names] = arrays_of(tables);
    std::vector<std::string> which{std::move(schemas), std::move(names)};
    const auto rows = co_await sql.query(may_publish_sql, std::move(which));
    if (!rows) {
        co_return rows.error();
    }
    if (!rows->flag(0, 0)) {
        auto context = context_of(sql, server_action::create_publication);
        context.publication = publication;
        auto failure = explain({"42501", ""}, context);
        failure.what = "role " + sql.role() + " may not create publication " + publication +
                       ": that needs CREATE on the database and the tables' ownership";
        co_return failure;
    }
    co_return result<void>{};
}

boost::asio::awaitable<result<void>> create_publication(connection& sql, std::string publication,
                                                        std::vector<table_name> tables,
                                                        std::string publish) {
    auto context = context_of(sql, server_action::create_publication);
    context.publication = publication;
    auto statement = create_publication_sql(publication, tables, publish);
    const auto done = co_await sql.ask(std::move(statement));
    if (done.has_error()) {
        co_return explain(done.error(), context);
    }
    co_return result<void>{};
}

boost::asio::awaitable<result<void>> add_to_publication(connection& sql, std::string publication,
                                                        table_name table) {
    auto context = context_of(sql, server_action::create_publication);
    context.publication = publication;
    auto statement = add_to_publication_sql(publication, table);
    const auto done = co_await sql.ask(std::move(statement));
    if (done.has_error()) {
        co_return explain(done.error(), context);
    }
    co_return result<void>{};
}

boost::asio::awaitable<result<lsn>> create_slot(connection& sql, std::string slot,
                                                output_plugin plugin, bool failover) {
    auto context = context_of(sql, server_action::create_slot);
    context.slot = slot;
    context.plugin = plugin;
    auto statement = create_slot_sql(slot, plugin, failover);
    const auto done = co_await sql.ask(std::move(statement));
    if (done.has_error()) {
        co_return explain(done.error(), context);
    }
    const auto start = done->empty() ? std::nullopt : parse_lsn(done->text(0, 0));
    if (!start.has_value()) {
        co_return error{errc::postgres_unsuitable,
                        fmt::format("PostgreSQL gave no position for the slot {}", slot),
                        drop_slot_sql(slot) +
                            " (it was made this moment and holds nothing yet), then start again"};
    }
    co_return *start;
}

}  // namespace walrelay::postgres
