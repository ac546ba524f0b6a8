// What walrelay has of the broker for a while: what it says of one stream, and the way for
// publishes into it. It never reconnects: at any end it is thrown away and a new one is made.
//
// What is not a publish goes through nats.c's blocking calls, on a worker thread and over short
// connections of their own.
#pragma once

#include "core/error.hpp"
#include "core/facts.hpp"
#include "core/message.hpp"
#include "nats/publish/publish_link.hpp"
#include "nats/session/connect_options.hpp"
#include "nats/session/connection_events.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace walrelay::nats {

/// All calls on the executor.
class connection {
public:
    /// Reads what the broker says of the stream, then connects for the publishes: to the server
    /// that leads the stream, where that one is among those that may be used. `blocking` runs the
    /// library's blocking calls. `epoch` goes into every reply. errc::broker_unavailable where
    /// waiting may help, errc::broker_unsuitable where it does not (no permission, a file that
    /// cannot be read).
    [[nodiscard]] static boost::asio::awaitable<result<std::unique_ptr<connection>>> open(
        boost::asio::any_io_executor executor, boost::asio::any_io_executor blocking,
        connect_options options, std::uint64_t epoch, connection_events events);

    connection(const connection&) = delete;
    connection& operator=(const connection&) = delete;
    /// Nothing is told any more.
    ~connection();

    [[nodiscard]] const broker_facts& facts() const { return facts_; }
    /// Gives them away, and keeps none: the messages that were looked at can be a megabyte.
    [[nodiscard]] broker_facts take_facts() { return std::exchange(facts_, {}); }
    /// The JetStream domain of the stream, which its acks name; empty where it has none.
    [[nodiscard]] const std::string& domain() const { return domain_; }
    /// See publish_link.
    [[nodiscard]] const std::string& server_name() const;
    /// Whether another connection might be one to the server of that name.
    [[nodiscard]] bool may_reach(const std::string& name) const;
    /// Makes the stream and reads the facts again.
    [[nodiscard]] boost::asio::awaitable<result<void>> create_stream(stream_definition definition);

    /// What of such publishes the server would refuse, tried without making any; see
    /// nats/publish_probe. Only while nothing is published.
    [[nodiscard]] boost::asio::awaitable<result<void>> try_publishes(
        std::vector<std::string> subjects, std::size_t subject_max_bytes);

    /// Reads the last messages of the stream as a reading of all of it would, and keeps in the
    /// facts how that went.
    [[nodiscard]] boost::asio::awaitable<void> try_reading();

    /// Asks what the account may have for a stream of so many replicas, where it is still to be
    /// made, and keeps it in the facts; what is not told stays unknown.
    [[nodiscard]] boost::asio::awaitable<void> look_at_account(std::int64_t replicas);

    /// Buffers one publish. The reply comes through on_reply with `index`. With
    /// `expected_last_sequence` the broker takes it only after that sequence. Errors: those of
    /// publish_link::publish.
    [[nodiscard]] result<void> publish(const message& content, std::uint64_t index,
                                       std::optional<std::uint64_t> expected_last_sequence);
    /// Writes what is buffered.
    void flush();
    /// Asks JetStream about the stream, at once: on_stream_info.
    void ask_stream() { link_->ask_stream(); }
    /// Whether enough is buffered: what is published before `on_room` takes memory and brings
    /// nothing.
    [[nodiscard]] bool is_full() const;

private:
    connection(boost::asio::any_io_executor executor, boost::asio::any_io_executor blocking,
               connect_options options);
    void add_facts_of_link();

    boost::asio::any_io_executor executor_;
    boost::asio::any_io_executor blocking_;
    connect_options options_;
    broker_facts facts_;
    std::string domain_;
    std::unique_ptr<publish_link> link_;
};

}  // namespace walrelay::nats
