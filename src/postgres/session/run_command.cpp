#include "postgres/session/run_command.hpp"

#include <utility>

namespace walrelay::postgres {

boost::asio::awaitable<result<void>> run_command(connection& sql, std::string statement) {
    const auto done = co_await sql.query(std::move(statement));
    if (!done) {
        co_return done.error();
    }
    co_return result<void>{};
}

}  // namespace walrelay::postgres
