#include "app/slot_glance.hpp"

#include "app/clock.hpp"
#include "postgres/tables/usage.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace walrelay::app {

using boost::asio::awaitable;

void tell_of_the_slot(std::optional<slot_usage> usage, status_board& board) {
    if (usage) {
        take_server_time(usage->server_time);
    }
    board.servers().slot_was_read(std::move(usage), own_now());
}

awaitable<void> ask_for_the_slot(postgres::connection& sql, const std::string& slot,
                                 status_board& board) {
    auto usage = co_await postgres::read_slot_usage(sql, slot);
    tell_of_the_slot(usage ? std::move(*usage) : std::nullopt, board);
}

awaitable<letters_rest> ask_for_letters(postgres::connection& sql, const std::string& slot,
                                        status_board& board) {
    constexpr int pauses_of_a_count = 50;
    const auto started = now().monotonic;
    auto letters = co_await postgres::read_open_letters(sql, slot);
    const auto ended = now();
    const bool none = letters && (!*letters || (*letters)->newest.empty());
    letters_rest rest{pauses_of_a_count * (ended.monotonic - started)};
    board.servers().letters_were_read(letters ? std::move(*letters) : std::nullopt, ended,
                                      rest.at_least);
    rest.at_most =
        none ? std::max<std::chrono::steady_clock::duration>(rest.at_least, rest_where_none_is)
             : rest.at_least;
    co_return rest;
}

}  // namespace walrelay::app
