// Obeys the relay machine: turns its actions into calls of the adapters and what the adapters
// report into its events. Decides nothing.
#pragma once

#include "app/cleanup.hpp"
#include "app/halt_gate.hpp"
#include "app/postgres_side.hpp"
#include "app/run_to_end.hpp"
#include "app/status_board.hpp"
#include "audit/provenance.hpp"
#include "config/settings.hpp"
#include "nats/connection.hpp"
#include "relay/relay_machine.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>

namespace walrelay::app {

/// All on the thread that runs `io`, apart from nats.c's blocking calls on threads of their own.
class relay_driver {
public:
    relay_driver(boost::asio::io_context& io, const config::settings& settings,
                 std::vector<outbox::table_mapper> mappers, std::uint64_t seed);

    /// Before `start`: goes on without the rows that are missing now.
    void skip_roll_call() {
        goes_on_without_ = true;
        gate_.go_on_whatever_was_halted();
    }
    /// Before `start`: goes on with the database that is there, whatever the stream says of its
    /// history.
    void accept_history() { machine_.accept_history(); }

    /// Before `start`: the board shows this relay, and the servers are asked for it in the
    /// background.
    void be_watched_by(status_board& board);

    void start();
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
    [[nodiscard]] bool halt_is_kept() const { return halt_is_kept_; }

private:
    struct postgres_link;

    // Obeying.
    void settle();
    [[nodiscard]] std::optional<relay::action> next_action(monotonic_time started);
    void obey(relay::action& wanted);
    void obey_status(const relay::send_status& status);
    void spawn(boost::asio::awaitable<void> work);
    void end(const relay::finish& finish);
    void obey_publish(const relay::outgoing& what);
    void arm_timer();

    [[nodiscard]] executors where_to_run();

    // PostgreSQL.
    boost::asio::awaitable<void> connect_postgres(relay::connect_postgres wanted);
    boost::asio::awaitable<void> read_rows(std::shared_ptr<postgres_link> over);
    boost::asio::awaitable<void> adopt_slot(std::uint64_t epoch);
    boost::asio::awaitable<void> read_stream(std::shared_ptr<postgres_link> over);
    boost::asio::awaitable<void> watch_sentinel(std::shared_ptr<postgres_link> over);
    boost::asio::awaitable<void> finish_postgres(std::shared_ptr<postgres_link> over);
    boost::asio::awaitable<void> set_aside(relay::store_dead_letters wanted);
    boost::asio::awaitable<void> look_for_rows(relay::look_for_rows wanted);
    boost::asio::awaitable<void> leave_out(relay::leave_out wanted);
    boost::asio::awaitable<void> read_message(relay::read_message wanted);
    boost::asio::awaitable<void> mark_stream(relay::mark_stream wanted);
    boost::asio::awaitable<void> read_stored(relay::read_stored wanted);
    boost::asio::awaitable<void> fetch_row(relay::fetch_row wanted);
    boost::asio::awaitable<void> look_at_table(relay::look_at_table wanted);
    boost::asio::awaitable<void> find_blocker(relay::find_blocker wanted);
    boost::asio::awaitable<void> ask_replayed(std::uint64_t epoch);
    boost::asio::awaitable<void> store_halt(relay::store_halt halt);
    boost::asio::awaitable<void> write_back(std::uint64_t epoch, relay::write_back_batch rows);
    bool read_what_is_here(postgres_link& over);
    void lose_postgres(const postgres_link& over, const error& why);
    void close_postgres();
    boost::asio::awaitable<void> poll_facts(std::shared_ptr<postgres_link> over);
    [[nodiscard]] audit::known_history known_history() const;

    // The broker.
    boost::asio::awaitable<void> connect_broker(relay::connect_broker wanted);
    /// An idle relay publishes nothing that would tell of another stream of the same name.
    boost::asio::awaitable<void> watch_stream(std::uint64_t epoch, wall_time created);
    void show_stream(const std::optional<stream_usage>& usage);
    [[nodiscard]] nats::connection_events broker_events(std::uint64_t epoch);
    [[nodiscard]] std::optional<error> taken_by_another(const broker_facts& facts) const;

    boost::asio::io_context& io_;
    const config::settings& settings_;
    relay::relay_machine machine_;
    status_board* board_ = nullptr;  // where somebody watches
    // Two, so that a request which nobody answers does not hold up the next one.
    boost::asio::thread_pool blocking_{2};
    std::stop_source given_up_;
    boost::asio::steady_timer timer_;
    std::optional<monotonic_time> armed_for_;
    bool settling_ = false;
    std::unique_ptr<nats::connection> broker_;
    std::uint64_t broker_epoch_ = 0;  // 0 while none is wanted
    /// Of the replies that one read brought: a clock is asked once for all of them.
    std::optional<instant> replies_came_at_;
    bool stream_was_there_ = false;
    std::shared_ptr<postgres_link> postgres_;
    cleanup cleanup_;
    std::uint64_t postgres_epoch_ = 0;  // 0 while none is wanted
    std::optional<relay::earlier_run> earlier_run_;
    /// The server's process that streamed to this relay last; 0 if there was none.
    int walsender_ = 0;
    std::string stream_description_;
    /// See known_before::call_roll; once in the life of a relay.
    std::optional<wall_time> roll_is_due_;
    bool roll_was_called_ = false;
    bool goes_on_without_ = false;
    std::optional<relay::stream_owner> owner_;  // once the database is known
    halt_gate gate_;
    bool halt_is_kept_ = false;
    std::optional<int> exit_code_;
    std::optional<error> halted_for_;
};

}  // namespace walrelay::app
