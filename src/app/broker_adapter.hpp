// The broker's side of a relay, over nats/: obeys the driver and reports to it.
#pragma once

#include "app/status_board.hpp"
#include "config/settings.hpp"
#include "nats/connection.hpp"
#include "nats/requests/stream_request.hpp"
#include "relay/driver/relay_driver.hpp"
#include "relay/intake/size_limits.hpp"
#include "servers/run_to_end.hpp"

#include <boost/asio/awaitable.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace walrelay::app {

class broker_adapter final : public relay::broker_side {
public:
    broker_adapter(servers::executors on, const config::settings& settings,
                   relay::relay_driver& driver);

    /// Before the relay starts: what the stream takes is shown there.
    void be_watched_by(status_board& board) { board_ = &board; }

    void connect(const relay::connect_broker& wanted, const relay::known_of_stream& known) override;
    void close() override;
    [[nodiscard]] result<void> publish(const relay::outgoing& what) override;
    [[nodiscard]] bool is_full() override;
    void flush() override;
    void ask_stream() override;
    void read_message(const relay::read_message& wanted) override;
    void mark_stream(relay::mark_stream wanted, const std::string& description) override;
    void read_stored(relay::read_stored wanted) override;

private:
    void spawn(boost::asio::awaitable<void> work) const;
    boost::asio::awaitable<void> make_connection(relay::connect_broker wanted,
                                                 relay::known_of_stream known);
    /// An idle relay publishes nothing that would tell of another stream of the same name.
    boost::asio::awaitable<void> watch_stream(std::uint64_t epoch, wall_time created,
                                              relay::size_limits limits);
    /// Why the connection is to be made again, which reads the limits: nothing where they are as
    /// they were.
    [[nodiscard]] std::optional<error> other_limits(const nats::stream_glance& seen,
                                                    relay::size_limits known);
    /// Another server leads the stream than the one that is published to, and nothing is on its
    /// way: once for each such server. Who publishes beside the leader takes a hop more.
    [[nodiscard]] bool goes_over_to(const std::string& leader);
    void show_stream(const std::optional<stream_usage>& usage);
    boost::asio::awaitable<void> look_at_message(relay::read_message wanted);
    boost::asio::awaitable<void> write_mark(relay::mark_stream wanted, std::string description);
    boost::asio::awaitable<void> look_at_stored(relay::read_stored wanted);
    void take_reply(const nats::reply& answer);
    [[nodiscard]] nats::connection_events events(std::uint64_t epoch);
    [[nodiscard]] std::optional<error> taken_by_another(const broker_facts& facts,
                                                        const relay::known_of_stream& known) const;

    servers::executors on_;
    const config::settings& settings_;
    relay::relay_driver& driver_;
    std::unique_ptr<nats::connection> connection_;
    status_board* board_ = nullptr;  // where somebody watches
    /// The largest max_payload for which a connection was made again: servers of a cluster need not
    /// have the same.
    std::uint64_t payload_tried_ = 0;
    /// The leader for which that was done last.
    std::string leader_tried_;
};

}  // namespace walrelay::app
