#include "app/slot_glance.hpp"

#include "app/clock.hpp"
#include "app/well_being.hpp"
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

bool letters_glance::is_due(const status_board& board, monotonic_time now) {
    constexpr std::chrono::seconds rest_where_none_is{30};
    const auto so_far = dead_letters_in(board.counts());
    if (std::exchange(count_, so_far) != so_far) {
        written_ = now;
    }
    if (!asked_) {
        return true;
    }
    const bool are_written = written_ && now < *written_ + rest_where_none_is;
    return now >= *asked_ + (none_is_open_ && !are_written
                                 ? std::max<duration>(rest_, rest_where_none_is)
                                 : rest_);
}

awaitable<void> letters_glance::look(postgres::connection& sql, const std::string& slot,
                                     const std::string& sign, status_board& board) {
    const auto at = now();
    if (!is_due(board, at.monotonic)) {
        co_return;
    }
    asked_ = at.monotonic;
    if (look_.still_holds(sign, at.monotonic)) {
        board.servers().letters_were_read(known_, at, rest_);
        co_return;
    }
    look_.was_made(sign, at.monotonic);
    co_await ask(sql, slot, board);
}

awaitable<void> letters_glance::ask(postgres::connection& sql, const std::string& slot,
                                    status_board& board) {
    constexpr int pauses_of_a_count = 50;
    const auto started = now().monotonic;
    auto letters = co_await postgres::read_open_letters(sql, slot);
    const auto ended = now();
    rest_ = pauses_of_a_count * (ended.monotonic - started);
    if (!letters) {
        look_.forget();
    }
    none_is_open_ = letters && (!*letters || (*letters)->newest.empty());
    known_ = letters ? std::move(*letters) : std::nullopt;
    board.servers().letters_were_read(known_, ended, rest_);
}

}  // namespace walrelay::app
