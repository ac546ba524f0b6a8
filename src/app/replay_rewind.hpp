// `walrelay replay --rewind`: the slot itself is put back, for a stream that was lost.
#pragma once

#include "config/settings.hpp"
#include "postgres/session/connection.hpp"
#include "servers/run_to_end.hpp"
#include "tasks/replay/replay_request.hpp"

#include <boost/asio/awaitable.hpp>

namespace walrelay::app {

/// Shows what it would do, or does it. Returns the exit code.
[[nodiscard]] boost::asio::awaitable<int> replay_rewind(servers::executors on,
                                                        postgres::connection& sql,
                                                        const config::settings& settings,
                                                        tasks::replay_request request);

}  // namespace walrelay::app
