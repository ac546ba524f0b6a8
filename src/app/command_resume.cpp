#include "app/commands.hpp"
#include "app/exit_code.hpp"
#include "app/fail.hpp"
#include "core/one_line.hpp"
#include "log/log.hpp"
#include "postgres/tables/halt_store.hpp"
#include "servers/postgres_access.hpp"
#include "servers/run_to_end.hpp"

#include <fmt/format.h>

namespace walrelay::app {
namespace {

using boost::asio::awaitable;

void show(const std::string& slot, const postgres::kept_halt& halt) {
    fmt::print("Slot {} is halted since {}.\n  reason: {}\n  fix:    {}\n", slot, halt.halted_at,
               one_line(halt.reason), one_line(halt.fix));
    if (halt.resumed_at) {
        fmt::print("It was resumed at {} already.\n", *halt.resumed_at);
    }
}

awaitable<int> resume(servers::executors on, const config::settings& settings) {
    const auto& slot = settings.postgres.slot;
    auto sql = co_await servers::open_sql(on.loop, settings);
    if (!sql) {
        co_return fail(sql.error());
    }
    const auto halt = co_await postgres::read_halt(*sql, slot);
    if (!halt) {
        co_return fail(halt.error());
    }
    if (!*halt) {
        fmt::print("Slot {} is not halted.\n", slot);
        co_return exit_done;
    }
    show(slot, **halt);
    const auto resumed = co_await postgres::resume_halt(*sql, slot);
    if (!resumed) {
        co_return fail(resumed.error());
    }
    fmt::print("Resumed slot {}: the next `walrelay run` goes on.\n", slot);
    co_return exit_done;
}

}  // namespace

int command_resume(const config::settings& settings) {
    return servers::run_to_end([&](servers::executors on) { return resume(on, settings); });
}

}  // namespace walrelay::app
