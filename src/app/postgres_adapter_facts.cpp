// What the adapter to PostgreSQL asks in the background: whether the facts still hold that the
// relay rests on, and for those who watch what the slot takes. That it cannot ask is no trouble of
// the relay's.

#include "app/clock.hpp"
#include "app/postgres_adapter.hpp"
#include "app/postgres_link.hpp"
#include "app/slot_glance.hpp"
#include "core/progress.hpp"
#include "log/log.hpp"
#include "postgres/tables/usage.hpp"
#include "servers/postgres_access.hpp"
#include "tasks/retry_fates.hpp"

#include <boost/asio/steady_timer.hpp>
#include <fmt/format.h>

#include <chrono>
#include <optional>
#include <utility>

namespace walrelay::app {

namespace asio = boost::asio;

namespace {

/// Of those that an operator has waited for lately; others are looked at when a command asks.
constexpr std::chrono::seconds retries_looked_after = std::chrono::hours(1);

struct letters_closed {
    /// How long to leave them alone: a long stream, or very many letters, are read less often.
    std::chrono::steady_clock::duration pause{0};
    /// Only a new retry can change anything.
    bool none_waits = false;
};

/// Closes dead letters whose retry is in the stream. What cannot be asked now is asked again.
asio::awaitable<letters_closed> close_letters(servers::executors on,
                                              const config::settings& settings) {
    constexpr int pauses_of_a_look = 10;
    auto sql = co_await servers::open_sql_of_own_schema(on.loop, settings);
    if (!sql) {
        co_return letters_closed{};
    }
    const auto began = own_now().monotonic;
    const auto seen = co_await tasks::look_at_retries(on, settings, *sql, retries_looked_after);
    const auto pause = pauses_of_a_look * (own_now().monotonic - began);
    if (seen && seen->stored > 0) {
        log<"dead_letters_done">(
            fmt::format("{} {} done: what was retried is in the stream",
                        counted(seen->stored, "dead letter"), seen->stored == 1 ? "is" : "are"),
            with<"rows">(seen->stored));
    }
    if (seen && seen->newly_lost > 0) {
        log<"retries_lost">(
            fmt::format("the retry of {} was lost before slot {} had sent it; they are open again: "
                        "walrelay dead-letter list --open shows them, retry asks once more",
                        counted(seen->newly_lost, "dead letter"), settings.postgres.slot),
            with<"rows">(seen->newly_lost));
    }
    co_return letters_closed{pause, seen && seen->unknown == 0};
}

}  // namespace

asio::awaitable<void> postgres_adapter::look_at_holder() {
    const auto at = own_now();
    if (board_ == nullptr || at.monotonic < holder_due_) {
        co_return;
    }
    holder_due_ = at.monotonic + ask_every;
    auto sql = co_await servers::open_sql(on_.loop, settings_);
    std::optional<slot_holder> holder;
    if (sql) {
        auto found = co_await postgres::read_slot_holder(*sql, settings_.postgres.slot);
        holder = found ? std::move(*found) : std::nullopt;
    }
    if (board_ != nullptr) {
        // What could not be asked is not what it was.
        board_->servers().holder_was_read(std::move(holder), own_now());
    }
}

/// Whether there is a connection to ask over.
asio::awaitable<bool> postgres_adapter::can_ask(link_handle over) {
    if (over->for_facts && over->for_facts->server_process() != 0) {
        co_return true;
    }
    auto opened = co_await servers::open_sql(on_.loop, settings_);
    if (over->closed) {
        co_return false;
    }
    over->for_facts.reset();
    if (opened) {
        over->for_facts = std::move(*opened);
    }
    co_return over->for_facts.has_value();
}

/// Whether the stream goes on. What it rests on and what the slot takes are one statement.
asio::awaitable<bool> postgres_adapter::look_at_facts(link_handle over) {
    if (!over->stream) {
        if (board_ != nullptr) {
            co_await ask_for_the_slot(*over->for_facts, settings_.postgres.slot, *board_);
        }
        co_return true;
    }
    auto seen = co_await facts_.look(*over->for_facts);
    if (board_ != nullptr && !over->closed && seen.slot) {
        tell_of_the_slot(std::move(*seen.slot), *board_);
    } else if (board_ != nullptr && !over->closed) {
        co_await ask_for_the_slot(*over->for_facts, settings_.postgres.slot, *board_);
    }
    if (seen.consequence && !over->is_over()) {
        lose(*over, *seen.consequence);
    }
    co_return !seen.consequence && !over->closed;
}

/// Apart from the poll, as an answer of the broker can take its time.
asio::awaitable<void> postgres_adapter::check_itself(link_handle over) {
    over->checks.expires_after(self_check::first_after);
    co_await over->checks.async_wait(asio::as_tuple(asio::use_awaitable));
    auto letters_at = own_now().monotonic;
    last_look letters;
    while (!over->is_over()) {
        auto found = co_await self_check_.look(on_, settings_, facts_.sign());
        if (board_ != nullptr && !over->is_over()) {
            board_->servers().findings_were_read(std::move(found), now());
        }
        const auto at = own_now().monotonic;
        if (!over->is_over() && at >= letters_at && !letters.still_holds(facts_.sign(), at)) {
            letters.was_made(facts_.sign(), at);
            const auto closed = co_await close_letters(on_, settings_);
            letters_at = own_now().monotonic + closed.pause;
            if (!closed.none_waits) {
                letters.forget();
            }
        }
        over->checks.expires_after(self_check::every);
        co_await over->checks.async_wait(asio::as_tuple(asio::use_awaitable));
    }
}

asio::awaitable<void> postgres_adapter::call_rows(link_handle over) {
    constexpr int soon = 2;
    for (int times = 0;; ++times) {
        over->calls.expires_after(times < soon ? row_caller::first_after : row_caller::every);
        co_await over->calls.async_wait(asio::as_tuple(asio::use_awaitable));
        if (over->is_over()) {
            co_return;
        }
        co_await row_caller_.call(over->epoch, facts_.sign());
    }
}

asio::awaitable<void> postgres_adapter::poll_facts(link_handle over) {
    asio::steady_timer timer(on_.loop);
    letters_glance letters;
    while (!over->closed) {
        const bool may_ask = co_await can_ask(over);
        if (may_ask) {
            const bool goes_on = co_await look_at_facts(over);
            if (!goes_on) {
                co_return;
            }
        }
        if (may_ask && board_ != nullptr && !over->closed) {
            co_await letters.look(*over->for_facts, settings_.postgres.slot, facts_.sign(),
                                  *board_);
        }
        timer.expires_after(ask_every);
        co_await timer.async_wait(asio::as_tuple(asio::use_awaitable));
    }
}

}  // namespace walrelay::app
