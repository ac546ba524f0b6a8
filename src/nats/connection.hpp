// One connection to JetStream, with the one stream that it is for.
//
// nats.c in event-loop mode on the program's executor. It never reconnects: at any end it is thrown
// away and a new one is made, because neither the library's parser nor its reconnect buffer can be
// trusted across connections. Blocking calls of the library run on a worker thread of ours.
#pragma once

#include "core/error.hpp"
#include "core/facts.hpp"
#include "core/message.hpp"
#include "nats/connect_options.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

namespace walrelay::nats {

/// The broker's answer to one publish.
struct reply {
    std::uint64_t epoch = 0;
    std::uint64_t index = 0;
    std::string_view body;  // valid during the call
};

struct connection_events {
    std::function<void(const reply&)> on_reply;
    /// All replies that had arrived have been told.
    std::function<void()> on_replies_end;
    /// The connection is over, or nobody serves the subject any more. Called at most once.
    std::function<void(error)> on_lost;
};

/// All calls on the executor.
class connection {
public:
    /// Connects and reads what the broker says of the stream. `blocking` runs the library's
    /// blocking calls. `epoch` goes into every reply. errc::broker_unavailable where waiting may
    /// help, errc::broker_unsuitable where it does not (no permission, a file that cannot be read).
    [[nodiscard]] static boost::asio::awaitable<result<std::unique_ptr<connection>>> open(
        boost::asio::any_io_executor executor, boost::asio::any_io_executor blocking,
        connect_options options, std::uint64_t epoch, connection_events events);

    connection(const connection&) = delete;
    connection& operator=(const connection&) = delete;
    /// Lets go of the connection; what is left of it ends on the worker thread.
    ~connection();

    [[nodiscard]] const broker_facts& facts() const;
    /// Makes the stream and reads the facts again.
    [[nodiscard]] boost::asio::awaitable<result<void>> create_stream(stream_definition definition);

    /// Buffers one publish. The reply comes through on_reply with `index`. With
    /// `expected_last_sequence` the broker takes it only behind that sequence.
    [[nodiscard]] result<void> publish(const message& content, std::uint64_t index,
                                       std::optional<std::uint64_t> expected_last_sequence);
    /// Writes what is buffered.
    void flush();

private:
    struct state;
    explicit connection(std::shared_ptr<state> opened);
    std::shared_ptr<state> state_;
};

}  // namespace walrelay::nats
