#include "traces/collector_link.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/write.hpp>
#include <openssl/ssl.h>

#include <cstddef>

namespace walrelay::traces {

namespace asio = boost::asio;
namespace protocol = boost::beast::http;
using boost::system::error_code;

namespace {

constexpr auto quietly = asio::as_tuple(asio::use_awaitable);
/// Of what a collector says; more is none of its answers.
constexpr std::size_t answer_bytes_max = std::size_t{64} << 10U;

bool is_address(const std::string& host) {
    error_code is_name;
    static_cast<void>(asio::ip::make_address(host, is_name));
    return !is_name;
}

}  // namespace

collector_link::collector_link(asio::io_context& io, collector_url where, header_list headers)
    : where_(std::move(where)), headers_(std::move(headers)), resolver_(io), socket_(io) {}

asio::awaitable<collector_reply> collector_link::post(std::string body) {
    const auto self = shared_from_this();
    const bool was_open = is_open_;
    collector_reply reply;
    if (!was_open) {
        reply.failure = co_await open();
    }
    if (reply.failure) {
        co_return reply;
    }
    auto what = request_of(std::move(body));
    if (tls_) {
        reply = co_await exchange(*tls_, std::move(what));
    } else {
        reply = co_await exchange(socket_, std::move(what));
    }
    reply.was_reused = was_open;
    co_return reply;
}

void collector_link::close() {
    is_closed_ = true;
    is_open_ = false;
    resolver_.cancel();
    error_code ignored;
    socket_.close(ignored);
}

asio::awaitable<error_code> collector_link::open() {
    is_resolving_ = true;
    auto [unknown, found] = co_await resolver_.async_resolve(where_.host, where_.port, quietly);
    is_resolving_ = false;
    if (unknown || is_closed_) {
        co_return unknown ? unknown : asio::error::operation_aborted;
    }
    auto [failure, at] = co_await asio::async_connect(socket_, found, quietly);
    if (!failure && is_closed_) {
        close();
        co_return asio::error::operation_aborted;
    }
    if (!failure && where_.is_tls) {
        failure = co_await secure();
    }
    is_open_ = !failure;
    co_return failure;
}

asio::awaitable<error_code> collector_link::secure() {
    error_code failure;
    trusted_.emplace(asio::ssl::context::tls_client);
    SSL_CTX_set_min_proto_version(trusted_->native_handle(), TLS1_2_VERSION);
    trusted_->set_default_verify_paths(failure);
    if (failure) {
        co_return failure;
    }
    tls_.emplace(socket_, *trusted_);
    if (!is_address(where_.host)) {
        // What the macro SSL_set_tlsext_host_name does.
        SSL_ctrl(tls_->native_handle(), SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
                 where_.host.data());
    }
    tls_->set_verify_mode(asio::ssl::verify_peer);
    tls_->set_verify_callback(asio::ssl::host_name_verification(where_.host));
    std::tie(failure) = co_await tls_->async_handshake(asio::ssl::stream_base::client, quietly);
    co_return failure;
}

collector_link::request collector_link::request_of(std::string body) const {
    constexpr unsigned http_1_1 = 11;
    request made(protocol::verb::post, where_.path, http_1_1);
    made.set(protocol::field::host, authority_of(where_));
    made.set(protocol::field::user_agent, "walrelay/" WALRELAY_VERSION);
    for (const auto& [name, value] : headers_) {
        made.set(name, value);
    }
    made.set(protocol::field::content_type, "application/json");
    made.keep_alive(true);
    made.body() = std::move(body);
    made.prepare_payload();
    return made;
}

template <class Stream>
asio::awaitable<collector_reply> collector_link::exchange(Stream& over, request what) {
    collector_reply reply;
    is_open_ = false;
    std::tie(reply.failure, std::ignore) = co_await protocol::async_write(over, what, quietly);
    if (reply.failure) {
        co_return reply;
    }
    protocol::response_parser<protocol::string_body> answer;
    answer.body_limit(answer_bytes_max);
    std::tie(reply.failure, std::ignore) =
        co_await protocol::async_read(over, buffer_, answer, quietly);
    if (reply.failure) {
        co_return reply;
    }
    is_open_ = answer.keep_alive() && !is_closed_;
    reply.status = answer.get().result_int();
    reply.body = std::move(answer.get().body());
    co_return reply;
}

}  // namespace walrelay::traces
