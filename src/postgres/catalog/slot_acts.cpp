#include "postgres/catalog/slot_acts.hpp"

#include "postgres/session/server_error.hpp"
#include "postgres/session/sqlstate.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

namespace walrelay::postgres {
namespace {

using boost::asio::awaitable;

/// NAMEDATALEN - 1.
constexpr std::size_t slot_name_max = 63;

error is_in_use(const std::string& slot) {
    return {errc::slot_in_use, fmt::format("slot {} is in use", slot),
            "stop walrelay run, and every standby of it, and try again; nothing is lost"};
}

awaitable<result<void>> act(connection& sql, std::string slot, std::string statement,
                            std::vector<std::string> parameters) {
    const auto done = co_await sql.ask(std::move(statement), std::move(parameters));
    if (!done.has_error()) {
        co_return result<void>{};
    }
    if (done.error().sqlstate == sqlstate::object_in_use) {
        co_return is_in_use(slot);
    }
    server_context context;
    context.action = server_action::create_slot;
    context.role = sql.role();
    context.database = sql.database();
    context.slot = slot;
    context.version_number = sql.version_number();
    co_return explain(done.error(), context);
}

}  // namespace

awaitable<result<std::optional<found_slot>>> find_slot(connection& sql, std::string slot) {
    std::vector<std::string> which{std::move(slot)};
    const auto found = co_await sql.query(
        "SELECT plugin, confirmed_flush_lsn, wal_status, active, coalesce((to_jsonb(s) ->> "
        "'failover')::bool, false) FROM pg_replication_slots AS s WHERE slot_name = $1 AND "
        "slot_type = 'logical' AND database = current_database()",
        std::move(which));
    if (!found) {
        co_return found.error();
    }
    std::optional<found_slot> there;
    if (!found->empty()) {
        there.emplace();
        there->plugin = found->text(0, 0);
        there->confirmed = found->text(0, 1);
        there->wal_status = found->text(0, 2);
        there->active = found->flag(0, 3);
        there->failover = found->flag(0, 4);
    }
    co_return there;
}

awaitable<result<void>> copy_slot(connection& sql, std::string slot, std::string to,
                                  std::string plugin) {
    std::vector<std::string> names{slot, std::move(to), std::move(plugin)};
    co_return co_await act(sql, std::move(slot),
                           "SELECT pg_copy_logical_replication_slot($1, $2, false, $3)",
                           std::move(names));
}

awaitable<result<void>> drop_slot(connection& sql, std::string slot) {
    std::vector<std::string> which{slot};
    co_return co_await act(sql, std::move(slot), "SELECT pg_drop_replication_slot($1)",
                           std::move(which));
}

awaitable<result<bool>> lock_slot_changes(connection& sql, std::string slot) {
    std::vector<std::string> name{slot_name_with(slot, "_changes")};
    const auto made =
        co_await sql.ask("SELECT pg_create_physical_replication_slot($1, false, true)", name);
    if (made.has_value()) {
        co_return true;
    }
    if (made.error().sqlstate != sqlstate::duplicate_object) {
        server_context context;
        context.action = server_action::create_slot;
        context.role = sql.role();
        context.slot = name.front();
        co_return explain(made.error(), context);
    }
    // This session may hold it already.
    const auto ours = co_await sql.query(
        "SELECT FROM pg_replication_slots WHERE slot_name::text = $1 AND temporary "
        "AND active_pid = pg_backend_pid()",
        std::move(name));
    if (!ours) {
        co_return ours.error();
    }
    co_return !ours->empty();
}

std::string slot_name_with(const std::string& slot, std::string_view suffix) {
    return slot.substr(0, slot_name_max - suffix.size()).append(suffix);
}

}  // namespace walrelay::postgres
