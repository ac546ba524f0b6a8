#include "app/server_history.hpp"

#include "postgres/inspector.hpp"

#include <string>
#include <utility>

namespace walrelay::app {

boost::asio::awaitable<result<server_history>> read_server_history(
    postgres::connection& replication) {
    constexpr std::size_t wal_end_column = 2;
    constexpr std::size_t content_column = 1;
    const auto origin = co_await postgres::identify(replication);
    if (!origin) {
        co_return origin.error();
    }
    server_history found{{*origin}, {}};
    const auto system = co_await replication.query("IDENTIFY_SYSTEM");
    if (!system) {
        co_return system.error();
    }
    const auto end = system->empty() ? std::nullopt : parse_lsn(system->text(0, wal_end_column));
    if (!end) {
        co_return error{errc::postgres_unsuitable, "PostgreSQL does not say where its WAL ends",
                        "use PostgreSQL 13 to 18"};
    }
    found.wal_end = *end;
    if (origin->timeline > 1) {
        const auto file =
            co_await replication.ask("TIMELINE_HISTORY " + std::to_string(origin->timeline));
        if (file.has_value() && !file->empty()) {
            auto ends = parse_timeline_history(file->text(0, content_column));
            found.line.ancestors = ends ? std::move(*ends) : std::vector<timeline_end>{};
        }
    }
    co_return found;
}

}  // namespace walrelay::app
