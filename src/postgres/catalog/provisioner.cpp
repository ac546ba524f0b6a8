#include "postgres/catalog/provisioner.hpp"

#include "core/sql_text.hpp"
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

}  // namespace

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
