#include "tasks/own_positions.hpp"

#include "core/position.hpp"
#include "postgres/catalog/inspector.hpp"
#include "servers/postgres_access.hpp"

namespace walrelay::tasks {

boost::asio::awaitable<own_positions> own_positions::learn(servers::executors on,
                                                           const config::settings& settings) {
    auto replication = co_await servers::open_replication(on.loop, settings);
    if (!replication) {
        co_return own_positions(std::nullopt);
    }
    auto now = co_await postgres::identify(*replication);
    if (!now) {
        co_return own_positions(std::nullopt);
    }
    audit::known_history known;
    known.line = std::move(now->line);
    known.confirmed = lsn{now->wal_end.value + 1};
    co_return own_positions(std::move(known));
}

bool own_positions::has(std::string_view position) const {
    return known_ ? audit::claim_of(position, *known_).what == audit::claim::fits
                  : parse_position(position).has_value();
}

}  // namespace walrelay::tasks
