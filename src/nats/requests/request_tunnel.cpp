#include "nats/requests/request_tunnel.hpp"

#include "core/rethrow.hpp"
#include "nats/session/as_outcome.hpp"
#include "nats/session/connect_error.hpp"
#include "nats/session/inbox.hpp"
#include "nats/session/server_session.hpp"
#include "nats/session/wire_lines.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/asio/write.hpp>
#include <simdjson.h>

#include <array>
#include <atomic>
#include <chrono>
#include <exception>
#include <memory>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <utility>

namespace walrelay::nats {

namespace asio = boost::asio;
using asio::ip::tcp;

namespace {

/// A CONNECT of the library is shorter by far.
constexpr std::size_t line_max_bytes = 4096;

/// Whether a CONNECT line gives this token.
bool gives(std::string_view line, const std::string& token) {
    constexpr std::string_view verb = "CONNECT ";
    simdjson::dom::parser parser;
    simdjson::dom::object members;
    std::string_view given;
    return line.starts_with(verb) &&
           parser.parse(line.data() + verb.size(), line.size() - verb.size()).get(members) ==
               simdjson::SUCCESS &&
           members["auth_token"].get(given) == simdjson::SUCCESS && given == token;
}

error no_tunnel(std::string said) {
    return {errc::broker_unavailable,
            "no port of 127.0.0.1 can be opened, over which walrelay's own requests to the broker "
            "go",
            "let the process use IPv4 and 127.0.0.1 (systemd: RestrictAddressFamilies, "
            "IPAddressDeny), and have as many threads and open files as it needs (TasksMax, "
            "LimitNOFILE)",
            std::move(said)};
}

}  // namespace

struct request_tunnel::works {
    /// Somebody who has connected.
    struct visitor {
        explicit visitor(tcp::socket accepted)
            : socket(std::move(accepted)), clock(socket.get_executor()) {}

        void leave() {
            boost::system::error_code ignored;
            socket.close(ignored);
        }

        tcp::socket socket;
        asio::steady_timer clock;
        std::string buffered;
    };

    works() : acceptor(io), client(io), room(io) {}

    asio::io_context io{1};
    tcp::acceptor acceptor;
    tcp::socket client;
    server_session session;
    std::string token = new_secret_word();
    asio::steady_timer room;  // cancelled when there is some
    std::thread thread;

    void listen();
    void run();
    asio::awaitable<void> serve();
    asio::awaitable<void> judge(std::shared_ptr<visitor> who);
    asio::awaitable<bool> is_the_library(visitor& who);
    asio::awaitable<std::string> next_line(visitor& who);
    asio::awaitable<void> carry_to_server(std::string first);
    asio::awaitable<void> carry_to_client();
    void end();
};

/// Throws boost::system::system_error.
void request_tunnel::works::listen() {
    const tcp::endpoint any_port(asio::ip::address_v4::loopback(), 0);
    acceptor.open(any_port.protocol());
    acceptor.bind(any_port);
    acceptor.listen();
}

/// What goes wrong in here ends the connection, which the library tells of.
void request_tunnel::works::run() {
    try {
        io.run();
    } catch (const std::exception&) {
        end();
    }
}

/// Nothing else is let in, and nobody after the library. Whoever says nothing keeps nobody out.
asio::awaitable<void> request_tunnel::works::serve() {
    for (;;) {
        auto [failure, accepted] = co_await acceptor.async_accept(as_outcome);
        if (failure) {
            co_return;
        }
        asio::co_spawn(io, judge(std::make_shared<visitor>(std::move(accepted))), rethrow{});
    }
}

asio::awaitable<void> request_tunnel::works::judge(std::shared_ptr<visitor> who) {
    constexpr std::chrono::seconds patience{2};
    who->clock.expires_after(patience);
    who->clock.async_wait([who](const boost::system::error_code& cancelled) {
        if (!cancelled) {
            who->leave();
        }
    });
    const bool is_let_in = co_await is_the_library(*who);
    who->clock.cancel();
    if (!is_let_in || !acceptor.is_open()) {
        who->leave();
        co_return;
    }
    boost::system::error_code ignored;
    acceptor.close(ignored);
    client = std::move(who->socket);
    client.set_option(tcp::no_delay(true), ignored);
    session.socket->on_room([this] { room.cancel(); });
    asio::co_spawn(io, carry_to_client(), rethrow{});
    co_await carry_to_server(std::move(who->buffered));
}

asio::awaitable<bool> request_tunnel::works::is_the_library(visitor& who) {
    const auto greeting = "INFO " + session.met.without_log_in + "\r\n";
    const auto [unsent, sent] =
        co_await asio::async_write(who.socket, asio::buffer(greeting), as_outcome);
    if (unsent) {
        co_return false;
    }
    const auto log_in = co_await next_line(who);
    if (!gives(log_in, token)) {
        co_return false;
    }
    const auto ping = co_await next_line(who);
    if (ping != "PING") {
        co_return false;
    }
    const auto [unanswered, answered] =
        co_await asio::async_write(who.socket, asio::buffer(pong_line), as_outcome);
    co_return !unanswered;
}

/// Empty where there is none.
asio::awaitable<std::string> request_tunnel::works::next_line(visitor& who) {
    constexpr std::string_view line_end = "\r\n";
    const auto [failure, bytes] = co_await asio::async_read_until(
        who.socket, asio::dynamic_buffer(who.buffered, line_max_bytes), line_end, as_outcome);
    if (failure) {
        co_return std::string();
    }
    auto line = who.buffered.substr(0, bytes - line_end.size());
    who.buffered.erase(0, bytes);
    co_return line;
}

asio::awaitable<void> request_tunnel::works::carry_to_server(std::string first) {
    constexpr std::size_t read_bytes = std::size_t{64} * 1024;
    std::array<char, read_bytes> bytes{};
    auto& server = *session.socket;
    server.lines() += first;
    for (;;) {
        server.flush();
        while (server.is_full()) {
            room.expires_at(asio::steady_timer::time_point::max());
            co_await room.async_wait(as_outcome);
        }
        const auto [failure, count] =
            co_await client.async_read_some(asio::buffer(bytes), as_outcome);
        if (failure) {
            end();
            co_return;
        }
        server.lines().append(bytes.data(), count);
    }
}

asio::awaitable<void> request_tunnel::works::carry_to_client() {
    auto& server = *session.socket;
    for (;;) {
        const auto unread = server.unread();
        if (!unread.empty()) {
            const auto [failure, count] =
                co_await asio::async_write(client, asio::buffer(unread), as_outcome);
            if (failure) {
                break;
            }
            server.consume(count);
        }
        const auto failure = co_await server.read_more();
        if (failure) {
            break;
        }
    }
    end();
}

void request_tunnel::works::end() {
    boost::system::error_code ignored;
    client.close(ignored);
    session.socket->close();
    room.cancel();
}

request_tunnel::request_tunnel(std::unique_ptr<works> running)
    : works_(std::move(running)),
      url_("nats://127.0.0.1:" + std::to_string(works_->acceptor.local_endpoint().port())),
      token_(works_->token) {}

request_tunnel::~request_tunnel() {
    works_->io.stop();
    if (works_->thread.joinable()) {
        works_->thread.join();
    }
}

result<std::unique_ptr<request_tunnel>> request_tunnel::open(const connect_options& to) {
    // A server that lets clients in can be cut off from the others.
    static std::atomic<std::size_t> opened_count{0};
    try {
        auto made = std::make_unique<works>();
        auto joining =
            asio::co_spawn(made->io, open_session(made->io.get_executor(), to, opened_count++, ""),
                           asio::use_future);
        made->io.run();
        auto joined = joining.get();
        if (!joined) {
            return joined.error();
        }
        made->session = std::move(*joined);
        made->listen();
        std::unique_ptr<request_tunnel> opened(new request_tunnel(std::move(made)));
        auto& running = *opened->works_;
        running.io.restart();
        asio::co_spawn(running.io, running.serve(), rethrow{});
        running.thread = std::thread([&running] { running.run(); });
        return opened;
    } catch (const std::system_error& failure) {  // Boost's as well
        const bool is_scarce = failure.code() == std::errc::resource_unavailable_try_again ||
                               failure.code() == std::errc::not_enough_memory;
        return is_scarce ? lacks_resources(failure.what()) : no_tunnel(failure.what());
    } catch (const std::runtime_error& failure) {
        return no_tunnel(failure.what());
    }
}

}  // namespace walrelay::nats
