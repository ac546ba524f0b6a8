// Bytes to and from a server, plain or through TLS. Knows nothing of what they mean.
//
// What is to be sent gathers in `lines` while the bytes before it are on their way, so a busy
// connection writes much at a time and an idle one at once. It takes as much as is put there;
// whoever does not want memory to grow where the server reads slowly asks `is_full` before.
#pragma once

#include "nats/session/server_address.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace walrelay::nats {

/// All on the executor. Whoever awaits something of it keeps it alive.
class wire_socket : public std::enable_shared_from_this<wire_socket> {
public:
    explicit wire_socket(boost::asio::any_io_executor executor);

    /// Errors of these two are those of the resolver, of the operating system, and of TLS.
    [[nodiscard]] boost::asio::awaitable<boost::system::error_code> reach(server_address server);
    /// Goes over to TLS, and believes no server whose certificate does not name `host`.
    [[nodiscard]] boost::asio::awaitable<boost::system::error_code> secure(
        std::shared_ptr<boost::asio::ssl::context> how, std::string host);

    /// After `secure` has failed: OpenSSL's verdict on the server's certificate.
    [[nodiscard]] long verdict_on_certificate();

    /// Whether the other end is this machine, by loopback.
    [[nodiscard]] bool is_local() const;

    /// What was read and not yet consumed.
    [[nodiscard]] std::string_view unread() const {
        return {buffer_.data() + begin_, end_ - begin_};
    }
    void consume(std::size_t bytes) { begin_ += bytes; }
    /// Reads more, which invalidates what `unread` returned.
    [[nodiscard]] boost::asio::awaitable<boost::system::error_code> read_more();

    /// What goes out with the next flush.
    [[nodiscard]] std::string& lines() { return gathering_; }
    /// That the bytes cannot be sent is told by reading.
    void flush();
    /// Overwrites what was sent, if that is done.
    void forget_sent();
    /// Whether as much is waiting as is worth sending at once.
    [[nodiscard]] bool is_full() const;
    /// Called whenever it is full no longer.
    void on_room(std::function<void()> call) { on_room_ = std::move(call); }

    /// Ends all that is under way, with an error.
    void close();

private:
    using tcp = boost::asio::ip::tcp;

    boost::asio::mutable_buffer make_room();
    void write_rest();
    void wrote(boost::system::error_code failure, std::size_t bytes);

    tcp::resolver resolver_;
    tcp::socket socket_;
    std::shared_ptr<boost::asio::ssl::context> how_;
    std::optional<boost::asio::ssl::stream<tcp::socket&>> tls_;

    std::vector<char> buffer_;
    std::size_t begin_ = 0;
    std::size_t end_ = 0;

    std::string gathering_;
    std::string sending_;
    std::size_t sent_ = 0;
    bool is_sending_ = false;
    bool closed_ = false;
    std::function<void()> on_room_;
};

}  // namespace walrelay::nats
