// One relay on an event loop: the driver with its surroundings made of Asio.
#pragma once

#include "app/broker_adapter.hpp"
#include "app/postgres_adapter.hpp"
#include "app/status_board.hpp"
#include "audit/provenance.hpp"
#include "config/settings.hpp"
#include "core/acked_message.hpp"
#include "relay/driver/relay_driver.hpp"
#include "tasks/cleanup/cleanup.hpp"
#include "tasks/kept_positions/position_keeper.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>

#include <cstdint>
#include <optional>
#include <stop_token>
#include <vector>

namespace walrelay::app {

/// All on the thread that runs `io`, apart from nats.c's blocking calls on threads of their own.
class relay_process final : public relay::host {
public:
    relay_process(boost::asio::io_context& io, const config::settings& settings,
                  std::vector<outbox::table_mapper> mappers, std::uint64_t seed);

    /// Before `start`: goes on without the rows that are missing now.
    void skip_startup_check() {
        driver_.go_on_without_missing();
        postgres_.go_on_whatever_was_halted();
    }
    /// Before `start`: goes on with the database that is there, whatever the stream says of its
    /// history.
    void accept_history() { driver_.accept_history(); }

    /// Before `start`: the board shows this relay, and `with_servers` also what both servers say,
    /// which are asked for it in the background.
    void be_watched_by(status_board& board, bool with_servers);

    /// Before `start`; it must outlive this.
    void tell_of_acks(ack_observer& observer) { driver_.tell_of_acks(observer); }

    void start() { driver_.start(); }
    /// Drain, confirm, end.
    void stop();
    /// To be called when the io_context has stopped, while it is still there: lets what was under
    /// way find out that nobody wants it any more.
    void clean_up();
    /// Set once the relay has ended; the io_context is then stopped.
    [[nodiscard]] std::optional<int> exit_code() const { return exit_code_; }
    /// Why an operator is needed, where the relay has ended for that.
    [[nodiscard]] const std::optional<error>& halted_for() const { return halted_for_; }
    /// Whether that is in walrelay.halt, where it belongs there.
    [[nodiscard]] bool halt_is_kept() const { return postgres_.halt_is_kept(); }

    [[nodiscard]] instant now() override;
    void wake_at(monotonic_time when) override;
    void write(const relay::write_log& line) override;
    void end(const relay::finish& how) override;

private:
    [[nodiscard]] servers::executors where_to_run();
    [[nodiscard]] audit::known_history known_history() const;

    boost::asio::io_context& io_;
    const config::settings& settings_;
    // Two, so that a request which nobody answers does not hold up the next one.
    boost::asio::thread_pool blocking_{2};
    std::stop_source given_up_;
    boost::asio::steady_timer timer_;
    // The driver and its surroundings know each other; none calls another before `start`.
    relay::relay_driver driver_;
    tasks::cleanup cleanup_;
    tasks::position_keeper keeper_;
    broker_adapter broker_;
    postgres_adapter postgres_;
    std::optional<int> exit_code_;
    std::optional<error> halted_for_;
};

}  // namespace walrelay::app
