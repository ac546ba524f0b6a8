// What PostgreSQL says of the slot and its dead letters, for those who watch them: asked in the
// background, told to the board.
#pragma once

#include "app/status_board.hpp"
#include "postgres/session/connection.hpp"

#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <string>

namespace walrelay::app {

/// How often a server is asked.
inline constexpr std::chrono::seconds ask_every{5};

[[nodiscard]] boost::asio::awaitable<void> ask_for_the_slot(postgres::connection& sql,
                                                            const std::string& slot,
                                                            status_board& board);

/// Returns how long to leave the table alone as long as the relay writes none: very many rows are
/// counted less often, and none is looked for less often than some.
[[nodiscard]] boost::asio::awaitable<std::chrono::steady_clock::duration> ask_for_letters(
    postgres::connection& sql, const std::string& slot, status_board& board);

}  // namespace walrelay::app
