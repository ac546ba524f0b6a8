// See trace_collector.hpp.
#include "support/trace_collector.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>

#include <algorithm>
#include <mutex>
#include <sstream>
#include <thread>
#include <utility>

namespace walrelay::test {
namespace {

namespace asio = boost::asio;
namespace protocol = boost::beast::http;
using asio::ip::tcp;
using request = protocol::request<protocol::string_body>;
using response = protocol::response<protocol::string_body>;

collected_request kept(const request& asked) {
    std::ostringstream headers;
    for (const auto& each : asked) {
        headers << each.name_string() << ": " << each.value() << "\r\n";
    }
    return {std::string(asked.target()), headers.str(), asked.body()};
}

}  // namespace

struct trace_collector::state {
    explicit state(std::uint16_t port)
        : acceptor(context, tcp::endpoint(asio::ip::address_v4::loopback(), port)) {}

    asio::awaitable<void> accept();
    asio::awaitable<void> serve(tcp::socket socket);
    /// Whether it is to be answered.
    bool keep(const request& asked, response& answer);

    asio::io_context context{1};
    tcp::acceptor acceptor;
    mutable std::mutex guard;
    std::vector<collected_request> requests;
    std::size_t connections = 0;
    unsigned status = 200;
    std::string body = "{}";
    bool is_silent = false;
    bool hangs_up = false;
    std::thread thread;
};

bool trace_collector::state::keep(const request& asked, response& answer) {
    const std::lock_guard lock(guard);
    requests.push_back(kept(asked));
    answer.version(asked.version());
    answer.result(status);
    answer.set(protocol::field::content_type, "application/json");
    answer.body() = body;
    answer.prepare_payload();
    return !is_silent;
}

asio::awaitable<void> trace_collector::state::serve(tcp::socket socket) {
    boost::beast::flat_buffer buffer;
    for (;;) {
        request asked;
        co_await protocol::async_read(socket, buffer, asked, asio::use_awaitable);
        response answer;
        if (!keep(asked, answer)) {
            continue;
        }
        co_await protocol::async_write(socket, answer, asio::use_awaitable);
        const std::lock_guard lock(guard);
        if (hangs_up) {
            co_return;
        }
    }
}

asio::awaitable<void> trace_collector::state::accept() {
    for (;;) {
        auto socket = co_await acceptor.async_accept(asio::use_awaitable);
        {
            const std::lock_guard lock(guard);
            ++connections;
        }
        // Ends when the client goes, by an exception that nobody needs.
        asio::co_spawn(context, serve(std::move(socket)), asio::detached);
    }
}

trace_collector::trace_collector(std::uint16_t port) : state_(std::make_unique<state>(port)) {
    asio::co_spawn(state_->context, state_->accept(), asio::detached);
    state_->thread = std::thread([this] { state_->context.run(); });
}

trace_collector::~trace_collector() {
    state_->context.stop();
    state_->thread.join();
}

std::uint16_t trace_collector::port() const {
    return state_->acceptor.local_endpoint().port();
}

std::string trace_collector::url() const {
    return "http://127.0.0.1:" + std::to_string(port());
}

std::vector<collected_request> trace_collector::requests() const {
    const std::lock_guard lock(state_->guard);
    return state_->requests;
}

std::string trace_collector::bodies() const {
    std::string all;
    for (const auto& each : requests()) {
        all += each.body + '\n';
    }
    return all;
}

std::size_t trace_collector::connections() const {
    const std::lock_guard lock(state_->guard);
    return state_->connections;
}

void trace_collector::answer_with(unsigned status, const std::string& body) {
    const std::lock_guard lock(state_->guard);
    state_->status = status;
    state_->body = body;
}

void trace_collector::fall_silent() {
    const std::lock_guard lock(state_->guard);
    state_->is_silent = true;
}

void trace_collector::hang_up_after_each() {
    const std::lock_guard lock(state_->guard);
    state_->hangs_up = true;
}

}  // namespace walrelay::test
