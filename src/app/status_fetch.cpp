#include "app/status_fetch.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <charconv>
#include <chrono>
#include <cstdint>
#include <optional>

namespace walrelay::app {

namespace asio = boost::asio;
using asio::ip::tcp;

namespace {

constexpr auto quietly = asio::as_tuple(asio::use_awaitable);
constexpr std::chrono::seconds patience{2};
constexpr std::size_t answer_bytes_max = std::size_t{1} << 20U;

error no_answer(const std::string& listen, const std::string& why) {
    return {errc::configuration_invalid, "no relay answers at " + listen + ": " + why};
}

/// A relay that listens on all addresses is asked on this machine's own. Nothing where the port is
/// any, or none.
std::optional<tcp::endpoint> endpoint_of(const std::string& listen) {
    const auto colon = listen.rfind(':');
    if (colon == std::string::npos) {
        return std::nullopt;
    }
    auto host = listen.substr(0, colon);
    if (host.starts_with('[')) {
        host = host.substr(1, host.size() - 2);
    }
    std::uint16_t port = 0;
    std::from_chars(listen.data() + colon + 1, listen.data() + listen.size(), port);
    boost::system::error_code failure;
    auto address = asio::ip::make_address(host, failure);
    if (failure || port == 0) {
        return std::nullopt;
    }
    if (address.is_unspecified()) {
        address = address.is_v6() ? asio::ip::address(asio::ip::address_v6::loopback())
                                  : asio::ip::address(asio::ip::address_v4::loopback());
    }
    return tcp::endpoint(address, port);
}

/// Ends when the other side closes, as HTTP/1.0 has it.
asio::awaitable<boost::system::error_code> exchange(tcp::socket& socket, tcp::endpoint with,
                                                    std::string& answer) {
    const auto [no_way] = co_await socket.async_connect(with, quietly);
    if (no_way) {
        co_return no_way;
    }
    const std::string request = "GET /status HTTP/1.0\r\nHost: localhost\r\n\r\n";
    const auto [not_sent, sent] =
        co_await asio::async_write(socket, asio::buffer(request), quietly);
    if (not_sent) {
        co_return not_sent;
    }
    const auto [ended, read] =
        co_await asio::async_read(socket, asio::dynamic_buffer(answer, answer_bytes_max), quietly);
    co_return ended == asio::error::eof ? boost::system::error_code() : ended;
}

}  // namespace

asio::awaitable<result<std::string>> fetch_status(asio::any_io_executor executor,
                                                  std::string listen) {
    const auto at = endpoint_of(listen);
    if (!at) {
        co_return no_answer(listen, "http.listen names no port to ask");
    }
    tcp::socket socket(executor);
    asio::steady_timer timer(executor, patience);
    bool is_late = false;
    timer.async_wait([&](const boost::system::error_code& cancelled) {
        if (!cancelled) {
            is_late = true;
            boost::system::error_code gone;
            socket.close(gone);
        }
    });
    std::string answer;
    const auto failure = co_await exchange(socket, *at, answer);
    timer.cancel();
    if (is_late) {
        co_return no_answer(listen, "it says nothing within 2 s");
    }
    if (failure) {
        co_return no_answer(listen, failure.message());
    }
    const auto body = answer.find("\r\n\r\n");
    const bool is_fine =
        answer.starts_with("HTTP/1.") && answer.find(" 200 ") < answer.find("\r\n");
    if (!is_fine || body == std::string::npos) {
        co_return no_answer(listen, "the answer is not that of a relay");
    }
    co_return answer.substr(body + 4);
}

}  // namespace walrelay::app
