#include "nats/session/wire_socket.hpp"

#include "nats/session/as_outcome.hpp"
#include "nats/session/secrets.hpp"

#include <boost/asio/connect.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <cstring>
#include <utility>

namespace walrelay::nats {

namespace asio = boost::asio;

namespace {

constexpr std::size_t read_bytes = std::size_t{64} * 1024;
/// More at once is not faster: the kernel and the server take it in smaller pieces.
constexpr std::size_t full_bytes = std::size_t{256} * 1024;
/// A buffer that one large message made larger than this is given back.
constexpr std::size_t kept_bytes = 2 * full_bytes;

}  // namespace

wire_socket::wire_socket(asio::any_io_executor executor)
    : resolver_(executor), socket_(executor), buffer_(read_bytes) {}

asio::awaitable<boost::system::error_code> wire_socket::reach(server_address server) {
    auto [unknown, found] = co_await resolver_.async_resolve(server.host, server.port, as_outcome);
    // A name that is looked up for longer than anybody waits cannot be cancelled.
    if (unknown || closed_) {
        co_return unknown ? unknown : asio::error::operation_aborted;
    }
    auto [failure, where] = co_await asio::async_connect(socket_, found, as_outcome);
    if (closed_) {
        close();
        co_return asio::error::operation_aborted;
    }
    if (!failure) {
        boost::system::error_code ignored;
        socket_.set_option(tcp::no_delay(true), ignored);
    }
    co_return failure;
}

namespace {

bool expects_address(const asio::ip::address& address, X509_VERIFY_PARAM* of) {
    if (address.is_v4()) {
        const auto bytes = address.to_v4().to_bytes();
        return X509_VERIFY_PARAM_set1_ip(of, bytes.data(), bytes.size()) == 1;
    }
    const auto bytes = address.to_v6().to_bytes();
    return X509_VERIFY_PARAM_set1_ip(of, bytes.data(), bytes.size()) == 1;
}

/// False where OpenSSL does not take the name: no certificate must be believed then.
bool expects_certificate_of(std::string& host, SSL* session) {
    boost::system::error_code is_name;
    const auto address = asio::ip::make_address(host, is_name);
    if (!is_name) {
        return expects_address(address, SSL_get0_param(session));
    }
    SSL_set_hostflags(session, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    // What the macro SSL_set_tlsext_host_name does.
    SSL_ctrl(session, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, host.data());
    return SSL_set1_host(session, host.c_str()) == 1;
}

}  // namespace

asio::awaitable<boost::system::error_code> wire_socket::secure(
    std::shared_ptr<asio::ssl::context> how, std::string host) {
    how_ = std::move(how);
    tls_.emplace(socket_, *how_);
    if (!expects_certificate_of(host, tls_->native_handle())) {
        co_return asio::error::invalid_argument;
    }
    tls_->set_verify_mode(asio::ssl::verify_peer);
    const auto [failure] =
        co_await tls_->async_handshake(asio::ssl::stream_base::client, as_outcome);
    co_return failure;
}

asio::awaitable<boost::system::error_code> wire_socket::read_more() {
    const auto room = make_room();
    if (tls_) {
        const auto [failure, bytes] = co_await tls_->async_read_some(room, as_outcome);
        end_ += bytes;
        co_return failure;
    }
    const auto [failure, bytes] = co_await socket_.async_read_some(room, as_outcome);
    end_ += bytes;
    co_return failure;
}

asio::mutable_buffer wire_socket::make_room() {
    if (begin_ > 0) {
        std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
        end_ -= std::exchange(begin_, 0);
    }
    if (end_ == buffer_.size()) {
        buffer_.resize(buffer_.size() * 2);
    }
    return asio::buffer(buffer_.data() + end_, buffer_.size() - end_);
}

void wire_socket::flush() {
    if (is_sending_ || gathering_.empty()) {
        return;
    }
    sending_.clear();
    if (sending_.capacity() > kept_bytes) {
        sending_.shrink_to_fit();
    }
    std::swap(gathering_, sending_);
    sent_ = 0;
    is_sending_ = true;
    write_rest();
}

void wire_socket::write_rest() {
    const auto rest = asio::buffer(sending_.data() + sent_, sending_.size() - sent_);
    auto written = [self = shared_from_this()](const boost::system::error_code& failure,
                                               std::size_t bytes) { self->wrote(failure, bytes); };
    if (tls_) {
        tls_->async_write_some(rest, std::move(written));
    } else {
        socket_.async_write_some(rest, std::move(written));
    }
}

void wire_socket::wrote(boost::system::error_code failure, std::size_t bytes) {
    if (failure) {
        close();  // `is_sending_` stays: nothing is written any more
        return;
    }
    const bool was_full = is_full();
    sent_ += bytes;
    if (sent_ < sending_.size()) {
        write_rest();
    } else {
        is_sending_ = false;
        flush();
    }
    if (was_full && !is_full() && on_room_) {
        on_room_();
    }
}

long wire_socket::verdict_on_certificate() {
    return tls_ ? SSL_get_verify_result(tls_->native_handle()) : X509_V_OK;
}

bool wire_socket::is_local() const {
    boost::system::error_code unknown;
    const auto other = socket_.remote_endpoint(unknown).address();
    return !unknown && other.is_loopback();
}

void wire_socket::forget_sent() {
    if (!is_sending_) {
        wipe(sending_);
        sent_ = 0;
    }
}

bool wire_socket::is_full() const {
    return gathering_.size() + sending_.size() - sent_ >= full_bytes;
}

void wire_socket::close() {
    closed_ = true;
    resolver_.cancel();
    boost::system::error_code ignored;
    socket_.close(ignored);
}

}  // namespace walrelay::nats
