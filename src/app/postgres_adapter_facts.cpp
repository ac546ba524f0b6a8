// What the adapter to PostgreSQL asks in the background for those who watch. Whatever goes wrong
// here is no trouble of the relay's.

#include "app/clock.hpp"
#include "app/postgres_adapter.hpp"
#include "app/postgres_link.hpp"
#include "postgres/tables/usage.hpp"
#include "servers/postgres_access.hpp"

#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <utility>

namespace walrelay::app {

namespace asio = boost::asio;

namespace {

constexpr std::chrono::seconds ask_every{5};

asio::awaitable<void> ask_for_the_slot(postgres::connection& sql, const std::string& slot,
                                       status_board& board) {
    auto usage = co_await postgres::read_slot_usage(sql, slot);
    board.slot_was_read(usage ? std::move(*usage) : std::nullopt, now());
}

/// Returns how long to leave the table alone: very many rows are counted less often.
asio::awaitable<std::chrono::steady_clock::duration> count_letters(postgres::connection& sql,
                                                                   const std::string& slot,
                                                                   status_board& board) {
    constexpr int pauses_of_a_count = 50;
    const auto started = now().monotonic;
    auto totals = co_await postgres::count_dead_letters(sql, slot);
    const auto ended = now();
    board.letters_were_counted(totals ? *totals : std::nullopt, ended);
    co_return pauses_of_a_count*(ended.monotonic - started);
}

}  // namespace

asio::awaitable<void> postgres_adapter::poll_facts(link_handle over) {
    asio::steady_timer timer(on_.loop);
    auto letters_at = now().monotonic;
    while (!over->closed) {
        if (!over->for_facts || over->for_facts->server_process() == 0) {
            auto opened = co_await servers::open_sql(on_.loop, settings_);
            if (over->closed) {
                co_return;
            }
            over->for_facts.reset();
            if (opened) {
                over->for_facts = std::move(*opened);
            }
        }
        if (over->for_facts) {
            co_await ask_for_the_slot(*over->for_facts, settings_.postgres.slot, *board_);
        }
        if (over->for_facts && !over->closed && now().monotonic >= letters_at) {
            const auto pause =
                co_await count_letters(*over->for_facts, settings_.postgres.slot, *board_);
            letters_at = now().monotonic + pause;
        }
        timer.expires_after(ask_every);
        co_await timer.async_wait(asio::as_tuple(asio::use_awaitable));
    }
}

}  // namespace walrelay::app
