#include "app/relay_process.hpp"

#include "app/clock.hpp"
#include "log/log.hpp"
#include "servers/translate.hpp"

#include <utility>

namespace walrelay::app {

relay_process::relay_process(boost::asio::io_context& io, const config::settings& settings,
                             std::vector<outbox::table_mapper> mappers, std::uint64_t seed)
    : io_(io),
      settings_(settings),
      timer_(io),
      driver_(servers::relay_options_of(settings), std::move(mappers), seed, *this, broker_,
              postgres_),
      cleanup_(io, settings, [this] { return known_history(); }),
      keeper_(io, settings),
      broker_(where_to_run(), settings, driver_),
      postgres_(where_to_run(), settings, driver_, cleanup_, keeper_) {}

servers::executors relay_process::where_to_run() {
    return {io_.get_executor(), blocking_.get_executor(), given_up_.get_token()};
}

audit::known_history relay_process::known_history() const {
    const auto& machine = driver_.machine();
    return {postgres_.line(),         machine.confirmed(),      settings_.nats.sole_writer,
            machine.ids_hold_since(), machine.ids_are_marked(), postgres_.wal_end()};
}

void relay_process::be_watched_by(status_board& board, bool with_servers) {
    driver_.go_on_counting(board.counts());
    cleanup_.count_into(board.cleanup());
    if (with_servers) {
        broker_.be_watched_by(board);
        postgres_.be_watched_by(board);
    }
    keeper_.be_watched_by(
        {[this] { return postgres_.change_sign(); },
         [&board](std::optional<kept_positions> found) {
             board.kept().were_read(std::move(found), app::now());
         },
         [&board](kept_kind what, giving_way why) {
             board.kept().was_dropped(what, why, app::now());
         },
         [&board](giving_way why) { board.kept().trail_was_moved_on(why, app::now()); }});
    board.attach({[this](instant at) { return driver_.machine().status(at); },
                  [this] { return driver_.machine().counts(); }});
}

void relay_process::stop() {
    cleanup_.end();
    keeper_.end();
    driver_.stop();
}

void relay_process::clean_up() {
    given_up_.request_stop();
    blocking_.join();
    io_.restart();
    io_.poll();
}

instant relay_process::now() {
    return app::now();
}

void relay_process::wake_at(monotonic_time when) {
    timer_.expires_at(when);
    timer_.async_wait([this](const boost::system::error_code& cancelled) {
        if (!cancelled) {
            driver_.time_passed();
        }
    });
}

void relay_process::write(const relay::write_log& line) {
    write_to_log(line.line);
}

void relay_process::end(const relay::finish& how) {
    exit_code_ = how.exit_code;
    halted_for_ = how.why;
    cleanup_.end();
    keeper_.end();
    io_.stop();
}

}  // namespace walrelay::app
