// TLS in front of a server that speaks it only after its INFO, or not at all: what nats-server does
// with `handshake_first` (from 2.10 on), and what a load balancer does.
#pragma once

#include "support/tls_files.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>

#include <cstdint>
#include <thread>

namespace walrelay::test {

/// On 127.0.0.1, as long as it lives.
class tls_front {
public:
    tls_front(const tls_files& files, std::uint16_t server_port);
    ~tls_front();
    tls_front(const tls_front&) = delete;
    tls_front& operator=(const tls_front&) = delete;

    [[nodiscard]] std::uint16_t port() const { return acceptor_.local_endpoint().port(); }

private:
    using tcp = boost::asio::ip::tcp;
    using tls_stream = boost::asio::ssl::stream<tcp::socket>;

    boost::asio::awaitable<void> accept();
    boost::asio::awaitable<void> serve(tcp::socket accepted);

    boost::asio::io_context io_{1};
    boost::asio::ssl::context how_{boost::asio::ssl::context::tls_server};
    tcp::acceptor acceptor_;
    std::uint16_t server_port_;
    std::thread thread_;
};

}  // namespace walrelay::test
