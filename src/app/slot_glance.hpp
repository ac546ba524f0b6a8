// What PostgreSQL says of the slot and its dead letters, for those who watch them: asked in the
// background, told to the board.
#pragma once

#include "app/status_board.hpp"
#include "core/instant.hpp"
#include "core/last_look.hpp"
#include "core/usage.hpp"
#include "postgres/session/connection.hpp"

#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <cstdint>
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

/// The dead letters that are open, over one connection: how many, and the newest.
class letters_glance {
public:
    /// Asks where it is time to. `sign`: of the server now, see last_look; empty is not known.
    [[nodiscard]] boost::asio::awaitable<void> look(postgres::connection& sql,
                                                    const std::string& slot,
                                                    const std::string& sign, status_board& board);

private:
    using duration = std::chrono::steady_clock::duration;

    [[nodiscard]] bool is_due(const status_board& board, monotonic_time now);
    [[nodiscard]] boost::asio::awaitable<void> ask(postgres::connection& sql,
                                                   const std::string& slot, status_board& board);

    /// Very many are counted less often.
    duration rest_{0};
    std::optional<monotonic_time> asked_ = {};
    /// By the relay, or about to be.
    std::optional<monotonic_time> written_ = {};
    std::uint64_t count_ = 0;
    last_look look_;
    /// Of the last answer; nothing where there was none, or there is no such table.
    std::optional<open_letters> known_ = {};
    bool none_is_open_ = false;
};

}  // namespace walrelay::app
