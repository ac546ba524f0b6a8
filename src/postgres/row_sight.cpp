#include "postgres/row_sight.hpp"

#include "core/sql_text.hpp"
#include "postgres/array_literal.hpp"
#include "postgres/write_back_sql.hpp"

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

namespace walrelay::postgres {
namespace {

using boost::asio::awaitable;

/// A transaction id of one's own is younger than that of every row that was told of, which the end
/// of a snapshot is not.
constexpr const char* horizon_sql = "SELECT pg_current_xact_id()";
constexpr const char* all_ended_sql = "SELECT pg_snapshot_xmin(pg_current_snapshot()) >= $1::xid8";

constexpr std::chrono::milliseconds shortest_pause{2};
constexpr std::chrono::milliseconds longest_pause{100};

awaitable<void> pause(std::chrono::milliseconds duration) {
    boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor, duration);
    co_await timer.async_wait(boost::asio::use_awaitable);
}

error lost(const server_report& report) {
    return {errc::postgres_lost, "rows that are to be written back could not be looked for", "",
            words_of(report)};
}

bool is_refusal(const answer& given) {
    return given.has_error() && !given.error().sqlstate.empty();
}

bool is_zero(const answer& given) {
    return given.has_value() && given->text(0, 0) == "0";
}

}  // namespace

std::string unseen_rows_sql(const outbox_table& table, std::string_view key_type, bool pending) {
    auto found = fmt::format("SELECT FROM {} WHERE {} = wanted.walrelay_key",
                             quote_table(table.table), quote_identifier(key_column(table)));
    if (pending && !table.pending.empty()) {
        // The fragment may end with a comment.
        found += fmt::format(" AND ({}\n)", table.pending);
    }
    return fmt::format(
        "SELECT count(*) FROM unnest($1::text[]::{}[]) AS wanted (walrelay_key) "
        "WHERE NOT EXISTS ({})",
        key_type, found);
}

awaitable<result<void>> wait_to_see_rows(connection& sql, std::string unseen_rows,
                                         std::vector<std::string> keys) {
    if (keys.empty()) {
        co_return result<void>{};
    }
    const std::vector<std::string> wanted{array_literal(keys)};
    auto unseen = co_await sql.ask(unseen_rows, wanted);
    if (is_zero(unseen) || is_refusal(unseen)) {
        co_return result<void>{};
    }
    const auto horizon = co_await sql.ask(horizon_sql);
    if (horizon.has_error()) {
        co_return lost(horizon.error());
    }
    const std::vector<std::string> bound{horizon->text(0, 0)};
    for (auto next_pause = shortest_pause;; next_pause = std::min(2 * next_pause, longest_pause)) {
        const auto ended = co_await sql.ask(all_ended_sql, bound);
        if (ended.has_error()) {
            co_return lost(ended.error());
        }
        if (ended->flag(0, 0)) {
            co_return result<void>{};
        }
        co_await pause(next_pause);
        unseen = co_await sql.ask(unseen_rows, wanted);
        if (is_zero(unseen) || is_refusal(unseen)) {
            co_return result<void>{};
        }
    }
}

}  // namespace walrelay::postgres
