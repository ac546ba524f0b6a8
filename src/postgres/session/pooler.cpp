#include "postgres/session/pooler.hpp"

#include "postgres/session/handshake.hpp"
#include "postgres/session/server_error.hpp"

#include <fmt/format.h>

#include <utility>

namespace walrelay::postgres {
namespace {

constexpr const char* mark_sql = "SELECT pg_catalog.set_config('walrelay.session', 'mine', false)";
constexpr const char* arrive_sql = "SELECT 1";
constexpr const char* borrow_sql =
    "BEGIN; SELECT pg_catalog.set_config('walrelay.session', 'another', true)";
constexpr const char* session_setting_sql =
    "SELECT pg_catalog.current_setting('walrelay.session', true)";

error keeps_no_session(bool takes_transactions) {
    return {errc::postgres_refused,
            fmt::format(
                "a pooler answers in PostgreSQL's place and lends its connections for single {}: "
                "what a session sets is lost, so that values could be read wrongly",
                takes_transactions ? "transactions" : "statements"),
            "connect past the pooler, or to a pool of it whose mode is session, in "
            "postgres.conninfo"};
}

error cannot_be_tried(const std::string& why) {
    return {errc::postgres_unavailable,
            "whether the pooler in front of PostgreSQL keeps sessions cannot be tried: " + why,
            "connect past the pooler in postgres.conninfo"};
}

}  // namespace

boost::asio::awaitable<result<void>> require_own_session(
    boost::asio::any_io_executor executor, std::shared_ptr<session> mine,
    connect_parameters parameters, std::chrono::steady_clock::time_point deadline) {
    const auto marked = co_await run_statement(mine, query_protocol::simple, mark_sql, {});
    if (marked.has_error()) {
        co_return cannot_be_tried(words_of(marked.error()));
    }
    auto shaken = co_await shake_hands(executor, std::move(parameters), deadline);
    if (shaken.how != handshake_end::outcome::ready) {
        co_return cannot_be_tried("it gives no second connection");
    }
    const auto other = std::make_shared<session>(executor, std::move(shaken.handle));
    other->attach_socket();
    const auto left = deadline - std::chrono::steady_clock::now();
    other->expire_after(std::chrono::duration_cast<std::chrono::milliseconds>(left));
    const auto arrived = co_await run_statement(other, query_protocol::simple, arrive_sql, {});
    if (arrived.has_error()) {
        co_return cannot_be_tried(words_of(arrived.error()));
    }
    const auto borrowed = co_await run_statement(other, query_protocol::simple, borrow_sql, {});
    const auto seen = co_await run_statement(mine, query_protocol::simple, session_setting_sql, {});
    other->close();
    if (seen.has_error()) {
        co_return cannot_be_tried(words_of(seen.error()));
    }
    if (borrowed.has_error() && borrowed.error().sqlstate.empty()) {
        co_return cannot_be_tried(words_of(borrowed.error()));
    }
    // A query passes before and after, and no transaction: they are taken apart into statements.
    const bool takes_transactions = !borrowed.has_error();
    const bool is_kept = !seen->empty() && seen->text(0, 0) == "mine";
    co_return is_kept&& takes_transactions ? result<void>{} : keeps_no_session(takes_transactions);
}

}  // namespace walrelay::postgres
