#include "postgres/session/commit_wait.hpp"

namespace walrelay::postgres {

boost::asio::awaitable<result<void>> wait_for_others(connection& sql) {
    const auto set = co_await sql.query(wait_for_others_sql);
    if (!set) {
        co_return set.error();
    }
    co_return result<void>{};
}

}  // namespace walrelay::postgres
