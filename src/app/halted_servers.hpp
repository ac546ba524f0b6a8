// How both servers are while a halted process holds neither, for those who watch it.
#pragma once

#include "app/status_board.hpp"
#include "config/settings.hpp"
#include "servers/run_to_end.hpp"

#include <boost/asio/awaitable.hpp>

namespace walrelay::app {

/// Each asks one server every few seconds, over a connection of its own, and tells the board. They
/// end with their executor.
[[nodiscard]] boost::asio::awaitable<void> watch_halted_postgres(servers::executors on,
                                                                 const config::settings& settings,
                                                                 status_board& board);
[[nodiscard]] boost::asio::awaitable<void> watch_halted_broker(servers::executors on,
                                                               const config::settings& settings,
                                                               status_board& board);

}  // namespace walrelay::app
