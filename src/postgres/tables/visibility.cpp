#include "postgres/tables/visibility.hpp"

#include "postgres/tables/transaction_snapshot.hpp"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace walrelay::postgres {
namespace {

using boost::asio::awaitable;
using clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds shortest_pause{2};
constexpr std::chrono::milliseconds longest_pause{100};

awaitable<void> pause(std::chrono::milliseconds duration) {
    boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor, duration);
    co_await timer.async_wait(boost::asio::use_awaitable);
}

error unreadable(std::string words) {
    return {errc::postgres_lost, "PostgreSQL could not be asked which transactions have ended", "",
            std::move(words)};
}

error not_visible(transaction_id xid) {
    return {errc::postgres_lost,
            fmt::format("the commit of transaction {} is in the WAL, but its rows are not visible "
                        "after {} s; most often it waits for a synchronous standby",
                        xid, visibility_patience.count()),
            fmt::format("see what it waits for: SELECT pid, wait_event, query FROM "
                        "pg_stat_activity WHERE backend_xid = '{}'; where that is SyncRep, compare "
                        "SHOW synchronous_standby_names with SELECT application_name, sync_state "
                        "FROM pg_stat_replication",
                        xid)};
}

}  // namespace

awaitable<result<void>> wait_until_visible(connection& sql, std::vector<transaction_id> xids,
                                           std::optional<std::chrono::seconds> patience) {
    const auto began = clock::now();
    auto next_pause = shortest_pause;
    while (!xids.empty()) {
        const auto answered = co_await sql.ask("SELECT pg_current_snapshot()");
        if (answered.has_error()) {
            co_return unreadable(words_of(answered.error()));
        }
        const auto snapshot = transaction_snapshot::parse(answered->text(0, 0));
        if (!snapshot) {
            co_return unreadable("its snapshot reads " + answered->text(0, 0));
        }
        std::erase_if(xids, [&](transaction_id xid) { return snapshot->shows(xid); });
        if (xids.empty()) {
            break;
        }
        if (patience && clock::now() - began >= *patience) {
            co_return not_visible(xids.front());
        }
        co_await pause(next_pause);
        next_pause = std::min(2 * next_pause, longest_pause);
    }
    co_return result<void>{};
}

}  // namespace walrelay::postgres
