#include "tls_front.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <array>
#include <memory>
#include <utility>

namespace walrelay::test {

namespace asio = boost::asio;

namespace {

constexpr auto as_outcome = asio::as_tuple(asio::use_awaitable);

template <class From, class To>
asio::awaitable<void> carry(std::shared_ptr<From> from, std::shared_ptr<To> to) {
    constexpr std::size_t read_bytes = 16384;
    std::array<char, read_bytes> bytes{};
    for (;;) {
        const auto [failure, count] =
            co_await from->async_read_some(asio::buffer(bytes), as_outcome);
        if (failure) {
            break;
        }
        const auto [unwritten, written] =
            co_await asio::async_write(*to, asio::buffer(bytes.data(), count), as_outcome);
        if (unwritten) {
            break;
        }
    }
    boost::system::error_code ignored;
    from->lowest_layer().close(ignored);
    to->lowest_layer().close(ignored);
}

}  // namespace

tls_front::tls_front(const tls_files& files, std::uint16_t server_port)
    : acceptor_(io_, tcp::endpoint(asio::ip::address_v4::loopback(), 0)),
      server_port_(server_port) {
    how_.use_certificate_chain_file(files.server_certificate());
    how_.use_private_key_file(files.server_key(), asio::ssl::context::pem);
    asio::co_spawn(io_, accept(), asio::detached);
    thread_ = std::thread([this] { io_.run(); });
}

tls_front::~tls_front() {
    io_.stop();
    thread_.join();
}

asio::awaitable<void> tls_front::accept() {
    for (;;) {
        auto [failure, accepted] = co_await acceptor_.async_accept(as_outcome);
        if (failure) {
            co_return;
        }
        asio::co_spawn(io_, serve(std::move(accepted)), asio::detached);
    }
}

asio::awaitable<void> tls_front::serve(tcp::socket accepted) {
    const auto client = std::make_shared<tls_stream>(std::move(accepted), how_);
    const auto [untrusted] =
        co_await client->async_handshake(asio::ssl::stream_base::server, as_outcome);
    if (untrusted) {
        co_return;
    }
    const auto server = std::make_shared<tcp::socket>(io_);
    const tcp::endpoint where(asio::ip::address_v4::loopback(), server_port_);
    const auto [unreachable] = co_await server->async_connect(where, as_outcome);
    if (unreachable) {
        co_return;
    }
    asio::co_spawn(io_, carry(client, server), asio::detached);
    co_await carry(server, client);
}

}  // namespace walrelay::test
