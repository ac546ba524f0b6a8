#include "postgres/session/writer_session.hpp"

#include <string>
#include <utility>
#include <vector>

namespace walrelay::postgres {
namespace {

constexpr const char* process_sql = "SELECT pg_catalog.pg_backend_pid()";

/// Every role sees pid, database and role of every session. Source: PostgreSQL source,
/// pg_stat_get_activity.
constexpr const char* begin_writer_sql = R"sql(
SELECT EXISTS (SELECT FROM pg_catalog.pg_stat_activity AS relay
                WHERE relay.pid = $2::pg_catalog.int4 AND relay.usename = $1::pg_catalog.name
                  AND relay.datname = pg_catalog.current_database()),
       pg_catalog.set_config('walrelay_writer.acts_for', $1, false)
)sql";

}  // namespace

boost::asio::awaitable<result<void>> act_for(connection& writer, connection& relay) {
    const auto process = co_await relay.query(process_sql);
    if (!process) {
        co_return process.error();
    }
    std::vector<std::string> known{relay.role(), process->text(0, 0)};
    const auto begun = co_await writer.query(begin_writer_sql, std::move(known));
    if (!begun) {
        co_return begun.error();
    }
    if (!begun->flag(0, 0)) {
        co_return error{errc::postgres_unavailable,
                        "postgres.writer leads to database " + writer.database() +
                            " of a server that does not have the session of role " + relay.role() +
                            " in database " + relay.database() +
                            ", which postgres.conninfo leads to: no row is changed there",
                        "leave host, port and dbname out of postgres.writer"};
    }
    co_return result<void>{};
}

}  // namespace walrelay::postgres
