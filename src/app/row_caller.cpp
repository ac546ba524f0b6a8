#include "app/row_caller.hpp"

#include "app/clock.hpp"
#include "log/log.hpp"
#include "servers/postgres_access.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <optional>
#include <utility>

namespace walrelay::app {

namespace asio = boost::asio;
using asio::awaitable;

awaitable<void> row_caller::call(std::uint64_t epoch, std::string sign) {
    const auto at = own_now().monotonic;
    if (at < due_ || (epoch == epoch_ && look_.still_holds(sign, at))) {
        co_return;
    }
    const bool is_same = sign == std::exchange(sign_, sign);
    look_.forget();
    auto sql = co_await servers::open_sql(on_.loop, settings_);
    if (!sql) {
        tell(sql.error());
        co_return;
    }
    const auto called = co_await call_over(epoch, *sql);
    tell(called);
    if (called && is_same && epoch == epoch_ && !driver_.oldest_awaited_row()) {
        look_.was_made(std::move(sign), at);
    }
}

awaitable<result<void>> row_caller::call_over(std::uint64_t epoch, postgres::connection& sql) {
    const bool is_first = epoch != epoch_;
    if (is_first || !driver_.new_rows_heard()) {
        auto begun = co_await begin(epoch, sql);
        if (!begun || is_first || epoch_ != epoch) {
            co_return begun;
        }
        co_await hear_some();
    }
    auto called = co_await rows_.read(on_.loop, sql);
    if (!called) {
        co_return called.error();
    }
    if (*called) {
        driver_.new_rows_called(epoch, **called);
        co_return co_await begin(epoch, sql);
    }
    co_return result<void>{};
}

awaitable<result<void>> row_caller::begin(std::uint64_t epoch, postgres::connection& sql) {
    epoch_.reset();
    // In this order: what is committed after the moment must be heard.
    if (!driver_.hear_new_rows(epoch)) {
        co_return awaited_.looked(driver_.oldest_awaited_row());
    }
    auto begun = co_await rows_.begin(sql);
    if (begun) {
        epoch_ = epoch;
    }
    co_return begun;
}

/// Where so many rows come that nobody can remember those of a minute.
awaitable<void> row_caller::hear_some() {
    constexpr std::size_t enough = 64;
    constexpr std::chrono::seconds longest{1};
    std::chrono::milliseconds pause{5};
    asio::steady_timer timer(on_.loop);
    for (; driver_.new_rows_heard().value_or(enough) < enough && pause < longest; pause *= 2) {
        timer.expires_after(pause);
        co_await timer.async_wait(asio::as_tuple(asio::use_awaitable));
    }
}

void row_caller::were_looked_for(std::chrono::steady_clock::duration took) {
    constexpr int pauses_of_a_look = 50;
    due_ = own_now().monotonic + pauses_of_a_look * took;
}

void row_caller::tell(const result<void>& done) {
    auto trouble = done ? std::string() : to_string(done.error());
    if (trouble != trouble_ && !done) {
        log<"new_rows_not_called">(
            "rows that come into the outbox tables are not compared with what slot " +
                settings_.postgres.slot + " brings: " + trouble +
                "; so one that PostgreSQL does not send is noticed by the next start at the "
                "earliest; fix: walrelay verify lists missing rows",
            with<"slot">(settings_.postgres.slot), with<"error">(done.error().code));
    }
    trouble_ = std::move(trouble);
}

}  // namespace walrelay::app
