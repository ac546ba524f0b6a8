// What a replication stream shares with its pending operations. Only for the .cpp files of this
// folder.
#pragma once

#include "core/error.hpp"
#include "postgres/session/replication_stream.hpp"
#include "postgres/session/server_error.hpp"
#include "postgres/session/session.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace walrelay::postgres {

class stream_state : public std::enable_shared_from_this<stream_state> {
public:
    stream_state(std::shared_ptr<session> over, server_context context);

    [[nodiscard]] result<std::optional<std::string_view>> next_frame();
    [[nodiscard]] bool has_part_of_frame() const { return bytes_came_; }
    void let_go() { frame_.reset(); }
    [[nodiscard]] result<void> send(std::string_view message);
    /// See replication_stream.
    void feed(const boost::asio::any_io_executor& executor, std::chrono::milliseconds interval,
              status_maker status);
    void interrupt() { session_->wake(); }
    void close();
    /// The words of warnings that cost no row.
    [[nodiscard]] std::vector<std::string> take_warnings() { return std::exchange(warnings_, {}); }

    [[nodiscard]] int server_process() const { return PQbackendPID(session_->handle()); }

    /// Waits for the server and reads once. A loss is told by next_frame(), after what came before.
    [[nodiscard]] static boost::asio::awaitable<result<void>> read_more(
        std::shared_ptr<stream_state> self);
    /// Says goodbye and waits for the server to do the same.
    [[nodiscard]] boost::asio::awaitable<void> say_goodbye(std::chrono::milliseconds limit);

private:
    [[nodiscard]] error closed_here() const;
    /// Why the copy ended: the server's error, or the loss of the connection.
    [[nodiscard]] std::optional<error> end_of_copy();
    /// The first that ends the stream.
    [[nodiscard]] std::optional<error> read_warnings();
    [[nodiscard]] boost::asio::awaitable<void> drain();
    [[nodiscard]] result<void> queue(std::string_view message);
    void write_later();
    void feed_later();

    /// As long as nobody else sends.
    struct feeding {
        boost::asio::steady_timer timer;
        std::chrono::milliseconds interval;
        status_maker status;
    };

    std::shared_ptr<session> session_;
    server_context context_;
    std::optional<feeding> feeding_;
    pq_buffer frame_;
    std::optional<error> ended_;
    std::vector<std::string> warnings_;
    bool copy_ended_ = false;
    bool broken_ = false;
    bool writing_ = false;
    /// Since the last frame, and they were no whole one.
    bool bytes_came_ = false;
    /// libpq has read what nobody has looked at: with the answer to START_REPLICATION, or while it
    /// wrote. The socket does not become readable for that.
    bool look_again_ = true;
};

}  // namespace walrelay::postgres
