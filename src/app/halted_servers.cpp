#include "app/halted_servers.hpp"

#include "app/clock.hpp"
#include "app/slot_glance.hpp"
#include "postgres/tables/kept_positions.hpp"
#include "servers/broker_side.hpp"
#include "servers/postgres_access.hpp"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <optional>
#include <utility>

namespace walrelay::app {

namespace asio = boost::asio;
using asio::awaitable;

namespace {

awaitable<void> pause(const asio::any_io_executor& executor) {
    asio::steady_timer timer(executor);
    timer.expires_after(ask_every);
    co_await timer.async_wait(asio::use_awaitable);
}

awaitable<void> look_at_postgres(const servers::executors& on, const config::settings& settings,
                                 status_board& board, letters_glance& letters) {
    auto sql = co_await servers::open_sql(on.loop, settings);
    board.halted_postgres_answers(sql.has_value());
    if (!sql) {
        co_return;
    }
    const auto& slot = settings.postgres.slot;
    co_await ask_for_the_slot(*sql, slot, board);
    auto kept = co_await postgres::read_kept_positions(*sql, slot);
    board.kept().were_read(kept ? std::optional(std::move(*kept)) : std::nullopt, now());
    co_await letters.look(*sql, slot, "", board);
}

}  // namespace

awaitable<void> watch_halted_postgres(servers::executors on, const config::settings& settings,
                                      status_board& board) {
    letters_glance letters;
    for (;;) {
        co_await look_at_postgres(on, settings, board, letters);
        co_await pause(on.loop);
    }
}

awaitable<void> watch_halted_broker(servers::executors on, const config::settings& settings,
                                    status_board& board) {
    for (;;) {
        const auto seen = co_await servers::glance_at_stream(on.blocking, settings);
        board.halted_broker_answers(seen.has_value());
        board.servers().stream_was_read(
            seen && *seen ? std::optional((*seen)->usage) : std::nullopt, now());
        co_await pause(on.loop);
    }
}

}  // namespace walrelay::app
