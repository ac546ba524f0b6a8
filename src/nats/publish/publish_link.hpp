// The connection that publishes go over: lines into a socket, replies out of it. One for a life: at
// any end it is thrown away. See docs/adr/0008.
#pragma once

#include "core/error.hpp"
#include "core/message.hpp"
#include "nats/session/connect_options.hpp"
#include "nats/session/connection_events.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace walrelay::nats {

/// All calls on the executor.
class publish_link {
public:
    /// Logs in to the first server that lets us, beginning with the leader of the options, else
    /// with another one at each epoch. Errors:
    /// broker_unavailable, broker_unsuitable (no permission, a file or an address that cannot be
    /// used).
    [[nodiscard]] static boost::asio::awaitable<result<std::unique_ptr<publish_link>>> open(
        boost::asio::any_io_executor executor, connect_options options, std::uint64_t epoch,
        connection_events events);

    publish_link(const publish_link&) = delete;
    publish_link& operator=(const publish_link&) = delete;
    /// Nothing is told any more.
    ~publish_link();

    /// As of connection::publish. Errors: message_refused, where it exceeds max_payload_bytes.
    [[nodiscard]] result<void> publish(const message& content, std::uint64_t index,
                                       std::optional<std::uint64_t> expected_last_sequence);
    void flush();
    /// Asks JetStream about the stream, at once: on_stream_info.
    void ask_stream();
    /// What its server takes; 0 where it does not say. A connection whose server lowers it ends.
    [[nodiscard]] std::uint64_t max_payload_bytes() const;
    /// What its server calls itself; empty where it does not say.
    [[nodiscard]] const std::string& server_name() const;
    /// See broker_facts.
    [[nodiscard]] bool told_in_clear() const;
    /// As of connection::is_full.
    [[nodiscard]] bool is_full() const;

private:
    struct state;
    explicit publish_link(std::shared_ptr<state> opened);
    std::shared_ptr<state> state_;
};

}  // namespace walrelay::nats
