#include "postgres/catalog/replay_slot.hpp"

#include "core/sql_text.hpp"
#include "postgres/session/server_error.hpp"
#include "postgres/session/sqlstate.hpp"

#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace walrelay::postgres {
namespace {

using boost::asio::awaitable;

/// NAMEDATALEN - 1 (PostgreSQL documentation, "Replication Slots").
constexpr std::size_t replay_slot_name_max = 63;
constexpr std::string_view replay_suffix = "_replay";

error another_replay(const std::string& slot) {
    const auto name = replay_slot_name(slot);
    return {errc::slot_in_use,
            fmt::format("another replay of slot {} is under way: its temporary slot {} exists",
                        slot, name),
            "wait for its end, or cancel it: walrelay replay list shows it; SELECT active_pid FROM "
            "pg_replication_slots WHERE slot_name = " +
                quote_literal(name) + "; names its session"};
}

error cannot_be_read(const std::string& kept_slot, const server_report& report) {
    return {errc::postgres_unsuitable,
            fmt::format("nothing can be read from slot {} any more", kept_slot),
            "walrelay bookmark list shows what is still kept", words_of(report)};
}

}  // namespace

std::string replay_slot_name(const std::string& slot) {
    return slot.substr(0, replay_slot_name_max - replay_suffix.size()).append(replay_suffix);
}

awaitable<result<void>> copy_to_replay_slot(connection& replication, std::string kept_slot,
                                            std::string slot, output_plugin plugin) {
    // A replication connection understands no parameters.
    auto command = fmt::format("SELECT pg_copy_logical_replication_slot({}, {}, true, {})",
                               quote_literal(kept_slot), quote_literal(replay_slot_name(slot)),
                               quote_literal(to_string(plugin)));
    const auto copied = co_await replication.ask(std::move(command));
    if (!copied.has_error()) {
        co_return result<void>{};
    }
    const auto& report = copied.error();
    if (report.sqlstate == sqlstate::duplicate_object) {
        co_return another_replay(slot);
    }
    if (report.sqlstate == sqlstate::undefined_object ||
        report.sqlstate == sqlstate::object_not_in_prerequisite_state) {
        co_return cannot_be_read(kept_slot, report);
    }
    server_context context;
    context.action = server_action::create_slot;
    context.role = replication.role();
    context.database = replication.database();
    context.slot = kept_slot;
    context.plugin = plugin;
    context.version_number = replication.version_number();
    co_return explain(report, context);
}

}  // namespace walrelay::postgres
