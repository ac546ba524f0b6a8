// Looks at what `walrelay drop` would take away, and takes it away, one thing after the other.
// What breaks off in between can be done again: what is gone is not missed.
#pragma once

#include "config/settings.hpp"
#include "core/error.hpp"
#include "postgres/session/connection.hpp"
#include "servers/run_to_end.hpp"
#include "tasks/drop/drop_plan.hpp"

#include <boost/asio/awaitable.hpp>

namespace walrelay::tasks {

/// The broker is asked only where the stream is to be deleted. Errors: of the servers.
[[nodiscard]] boost::asio::awaitable<result<drop_sight>> look_before_drop(
    servers::executors on, postgres::connection& sql, const config::settings& settings,
    const drop_wish& wanted);

/// Of an item whose fate is to be dropped. errc::slot_in_use where a session uses the slot.
[[nodiscard]] boost::asio::awaitable<result<void>> drop_one(servers::executors on,
                                                            postgres::connection& sql,
                                                            const config::settings& settings,
                                                            const drop_item& item);

}  // namespace walrelay::tasks
