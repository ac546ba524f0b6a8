// A slot's stream: whole CopyData messages in and out, as bytes.
//
// Knows how to start an output plugin, not what its messages mean.
// Source: PostgreSQL documentation, "Streaming Replication Protocol".
#pragma once

#include "core/error.hpp"
#include "core/facts.hpp"
#include "core/lsn.hpp"
#include "core/outbox_table.hpp"
#include "postgres/session/connection.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace walrelay::postgres {

class stream_state;

struct start_options {
    std::string slot;
    output_plugin plugin = output_plugin::pgoutput;
    /// pgoutput only.
    std::string publication = {};
    /// wal2json only: the tables to send; empty sends all.
    std::vector<table_name> add_tables = {};
    /// Of the messages that are rows of an outbox; without any none is asked for.
    std::vector<std::string> message_prefixes = {};
    /// Letters and digits that nobody else knows: wal2json is told to send messages of a prefix
    /// with it alone, where there is to be none.
    std::string nonce = {};
    /// wal2json only: updates are sent as well (with pgoutput the publication says so).
    bool updates = false;
    /// wal2json only: transaction ids are sent as well (pgoutput always does).
    bool xids = false;
    /// The server's process of an earlier stream of this slot, 0 for none: a slot that it still
    /// holds is slot_not_released, not slot_in_use.
    int earlier_process = 0;
    /// What committed before it is left out; 0: from where the slot stands. It cannot lie before
    /// that: the server then begins where the slot stands, without a word.
    lsn from = {};
};

/// Makes the bytes of a status update.
using status_maker = std::function<std::string()>;

/// Movable; closes with its life. A wait that is pending when the stream is closed or destroyed
/// completes with errc::postgres_lost.
class replication_stream {
public:
    /// Takes a connection of connection_kind::replication and starts streaming from the slot's own
    /// position. Errors are those of server_error.hpp with `server_action::start_streaming`.
    [[nodiscard]] static boost::asio::awaitable<result<replication_stream>> start(
        connection opened, start_options options);

    explicit replication_stream(std::shared_ptr<stream_state> started);
    replication_stream(const replication_stream&) = delete;
    replication_stream& operator=(const replication_stream&) = delete;
    replication_stream(replication_stream&&) noexcept = default;
    replication_stream& operator=(replication_stream&& other) noexcept;
    ~replication_stream();

    /// The next CopyData message that is here already, without waiting; nothing if there is none
    /// yet. The view lives until the next call, `finish` or `close`. An error if the stream ended.
    [[nodiscard]] result<std::optional<std::string_view>> next_frame();
    /// After next_frame() gave nothing: whether bytes have come that do not make a message yet.
    [[nodiscard]] bool has_part_of_frame() const;
    /// Gives the memory of that frame back.
    void let_go();

    /// Waits until the server has sent more, and reads it. To be called once next_frame() has no
    /// more; only one wait at a time.
    [[nodiscard]] boost::asio::awaitable<result<void>> wait_readable();

    /// Warnings of the server that cost no row, in its words, since they were taken last. Others
    /// are the error of next_frame(), which gives out nothing that came after them.
    [[nodiscard]] std::vector<std::string> take_warnings();

    /// Ends a wait that is pending, as if the server had sent nothing worth reading.
    void interrupt();

    /// Queues one CopyData message for the server and writes as far as the socket takes it; what
    /// is left goes out as soon as the socket takes more.
    [[nodiscard]] result<void> send(std::string_view message);

    /// From now on until the first `send` the server is sent what `status` makes after each
    /// `interval`: it ends a stream of which it hears nothing for wal_sender_timeout, also one that
    /// nobody reads yet. `executor` runs it.
    void feed_until_sent(const boost::asio::any_io_executor& executor,
                         std::chrono::milliseconds interval, status_maker status);

    /// Ends the stream in good order: what was sent goes out, then CopyDone, and everything is read
    /// until the server has answered or `limit` has passed; closes. No wait may be pending.
    [[nodiscard]] boost::asio::awaitable<void> finish(std::chrono::milliseconds limit);

    /// The server's process (its pid).
    [[nodiscard]] int server_process() const;

    /// Ends the connection at once.
    void close();

private:
    std::shared_ptr<stream_state> state_;
};

}  // namespace walrelay::postgres
