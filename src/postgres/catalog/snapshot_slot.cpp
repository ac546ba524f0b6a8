#include "postgres/catalog/snapshot_slot.hpp"

#include "core/sql_text.hpp"
#include "postgres/session/server_error.hpp"
#include "postgres/session/sqlstate.hpp"

#include <fmt/format.h>

#include <utility>

namespace walrelay::postgres {
namespace {

using boost::asio::awaitable;

/// NAMEDATALEN - 1 (PostgreSQL documentation, "Replication Slots", names as for all objects).
constexpr std::size_t name_max = 63;
constexpr std::string_view snapshot_suffix = "_snapshot";

server_context context_of(const connection& with, const std::string& slot, output_plugin plugin) {
    return {.action = server_action::create_slot,
            .role = with.role(),
            .database = with.database(),
            .slot = slot,
            .plugin = plugin,
            .version_number = with.version_number()};
}

error taken(const std::string& slot) {
    return {errc::slot_in_use,
            fmt::format("another relay is publishing the rows from before slot {} (its "
                        "temporary slot {} exists)",
                        slot, snapshot_slot_name(slot)),
            "nothing to do: this relay looks again"};
}

error there_already(const std::string& slot) {
    return {errc::slot_in_use, fmt::format("another relay has slot {} by now", slot),
            "nothing to do: this relay looks again"};
}

result<snapshot_slot> made_slot(const row_set& answer, const std::string& name) {
    const bool whole = !answer.empty() && answer.rows().front().size() >= 3;
    const auto begins = whole ? parse_lsn(answer.text(0, 1)) : std::nullopt;
    if (!begins) {
        return error{errc::postgres_unsuitable,
                     fmt::format("PostgreSQL gave no position for the slot {}", name),
                     "look at the server's log"};
    }
    return snapshot_slot{name, *begins, answer.text(0, 2)};
}

}  // namespace

std::string snapshot_slot_name(const std::string& slot) {
    return slot.substr(0, name_max - snapshot_suffix.size()).append(snapshot_suffix);
}

awaitable<result<snapshot_slot>> create_snapshot_slot(connection& replication, std::string slot,
                                                      output_plugin plugin) {
    const auto name = snapshot_slot_name(slot);
    // The form that every server from 13 on understands.
    auto command = fmt::format("CREATE_REPLICATION_SLOT {} TEMPORARY LOGICAL {} EXPORT_SNAPSHOT",
                               quote_identifier(name), to_string(plugin));
    const auto answered = co_await replication.ask(std::move(command));
    if (answered.has_error()) {
        const bool is_taken = answered.error().sqlstate == sqlstate::duplicate_object;
        co_return is_taken ? taken(slot)
                           : explain(answered.error(), context_of(replication, name, plugin));
    }
    co_return made_slot(*answered, name);
}

awaitable<result<snapshot_slot>> create_slot_with_snapshot(connection& replication,
                                                           std::string slot, output_plugin plugin,
                                                           bool failover) {
    auto command = fmt::format("CREATE_REPLICATION_SLOT {} LOGICAL {} {}", quote_identifier(slot),
                               to_string(plugin),
                               failover ? "(SNAPSHOT 'export', FAILOVER true)" : "EXPORT_SNAPSHOT");
    const auto answered = co_await replication.ask(std::move(command));
    if (answered.has_error()) {
        co_return explain(answered.error(), context_of(replication, slot, plugin));
    }
    co_return made_slot(*answered, slot);
}

awaitable<result<void>> claim_slot_name(connection& sql, std::string slot, bool replace) {
    const auto context = context_of(sql, slot, output_plugin::pgoutput);
    std::vector<std::string> which{slot};
    if (replace) {
        const auto dropped = co_await sql.ask(
            "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE slot_name "
            "= $1",
            which);
        if (dropped.has_error() && dropped.error().sqlstate == sqlstate::object_in_use) {
            co_return there_already(slot);
        }
        if (dropped.has_error()) {
            co_return explain(dropped.error(), context);
        }
    }
    const auto there =
        co_await sql.ask("SELECT FROM pg_replication_slots WHERE slot_name = $1", std::move(which));
    if (there.has_error()) {
        co_return explain(there.error(), context);
    }
    co_return there->empty() ? result<void>{} : there_already(slot);
}

awaitable<result<void>> adopt_snapshot_slot(connection& sql, snapshot_slot from, std::string slot) {
    const auto context = context_of(sql, slot, output_plugin::pgoutput);
    std::vector<std::string> names{from.name, slot};
    const auto copied = co_await sql.ask("SELECT pg_copy_logical_replication_slot($1, $2, false)",
                                         std::move(names));
    if (copied.has_error()) {
        const bool is_taken = copied.error().sqlstate == sqlstate::duplicate_object;
        co_return is_taken ? there_already(slot) : explain(copied.error(), context);
    }
    co_return result<void>{};
}

awaitable<result<void>> enable_failover(connection& replication, std::string slot) {
    auto command = set_failover_sql(slot, true);
    const auto done = co_await replication.ask(std::move(command));
    if (done.has_error()) {
        co_return explain(done.error(), context_of(replication, slot, output_plugin::pgoutput));
    }
    co_return result<void>{};
}

}  // namespace walrelay::postgres
