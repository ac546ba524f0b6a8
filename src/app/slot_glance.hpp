// What PostgreSQL says of the slot and its dead letters, for those who watch them: asked in the
// background, told to the board.
#pragma once

#include "app/status_board.hpp"
#include "core/usage.hpp"
#include "postgres/session/connection.hpp"

#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <optional>
#include <string>

namespace walrelay::app {

/// How often a server is asked.
inline constexpr std::chrono::seconds ask_every{5};

/// Nothing where it could not be asked, or is not there.
void tell_of_the_slot(std::optional<slot_usage> usage, status_board& board);

[[nodiscard]] boost::asio::awaitable<void> ask_for_the_slot(postgres::connection& sql,
                                                            const std::string& slot,
                                                            status_board& board);

/// How long to leave the dead letters alone: at least that, as very many are counted less often,
/// and at most the other, unless some are being written.
struct letters_rest {
    std::chrono::steady_clock::duration at_least{0};
    std::chrono::steady_clock::duration at_most{0};
};
/// Where none is open, for so long.
inline constexpr std::chrono::seconds rest_where_none_is{30};

[[nodiscard]] boost::asio::awaitable<letters_rest> ask_for_letters(postgres::connection& sql,
                                                                   const std::string& slot,
                                                                   status_board& board);

}  // namespace walrelay::app
