// See smtp_server.hpp. Of RFC 5321 what a client needs to deliver a mail.
#include "support/smtp_server.hpp"

#include "support/eventually.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <mutex>
#include <thread>

namespace walrelay::test {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

/// What stands between < and >.
std::string address_in(const std::string& line) {
    const auto from = line.find('<') + 1;
    return line.substr(from, line.find('>') - from);
}

/// Takes away the dot that the client puts in front of every line that begins with one.
std::string without_stuffing(std::string text) {
    for (auto at = text.find("\r\n.."); at != std::string::npos; at = text.find("\r\n..", at + 3)) {
        text.erase(at + 2, 1);
    }
    return text;
}

}  // namespace

std::string received_mail::header(const std::string& name) const {
    const auto head = "\r\n" + text.substr(0, text.find("\r\n\r\n") + 2);
    const auto start = head.find("\r\n" + name + ": ");
    if (start == std::string::npos) {
        return {};
    }
    const auto value = start + name.size() + 4;
    auto end = head.find("\r\n", value);
    while (end + 2 < head.size() && head[end + 2] == ' ') {
        end = head.find("\r\n", end + 2);
    }
    auto line = head.substr(value, end - value);
    for (auto fold = line.find("\r\n"); fold != std::string::npos; fold = line.find("\r\n")) {
        line.erase(fold, 2);
    }
    return line;
}

struct smtp_server::state {
    asio::io_context context;
    tcp::acceptor acceptor{context, tcp::endpoint(asio::ip::address_v4::loopback(), 0)};
    /// Never runs out; cancelled when those who wait may go on.
    asio::steady_timer gate{context, asio::steady_timer::time_point::max()};
    mutable std::mutex guard;
    std::vector<received_mail> mails;
    std::size_t conversations = 0;
    int refusals = 0;
    std::string refusal;
    pause held = pause::none;
    int waiting = 0;
    std::thread thread;

    asio::awaitable<void> accept();
    asio::awaitable<void> talk(tcp::socket socket);
    asio::awaitable<void> take_mail(tcp::socket& socket, std::string& input, received_mail& mail);
    asio::awaitable<void> wait_at(pause point);
    bool is_held_at(pause point) const;
    std::string reply_to(received_mail mail);
};

namespace {

asio::awaitable<std::string> read_to(tcp::socket& socket, std::string& input, std::string mark) {
    const auto size = co_await asio::async_read_until(socket, asio::dynamic_buffer(input), mark,
                                                      asio::use_awaitable);
    auto text = input.substr(0, size);
    input.erase(0, size);
    co_return text;
}

asio::awaitable<void> say(tcp::socket& socket, std::string reply) {
    reply += "\r\n";
    co_await asio::async_write(socket, asio::buffer(reply), asio::use_awaitable);
}

}  // namespace

bool smtp_server::state::is_held_at(pause point) const {
    const std::lock_guard lock(guard);
    return held == point;
}

asio::awaitable<void> smtp_server::state::wait_at(pause point) {
    const auto count = [this](int change) {
        const std::lock_guard lock(guard);
        waiting += change;
    };
    while (is_held_at(point)) {
        count(1);
        boost::system::error_code cancelled;
        co_await gate.async_wait(asio::redirect_error(asio::use_awaitable, cancelled));
        count(-1);
    }
}

std::string smtp_server::state::reply_to(received_mail mail) {
    const std::lock_guard lock(guard);
    if (refusals > 0) {
        --refusals;
        return refusal;
    }
    mails.push_back(std::move(mail));
    return "250 taken";
}

asio::awaitable<void> smtp_server::state::take_mail(tcp::socket& socket, std::string& input,
                                                    received_mail& mail) {
    co_await wait_at(pause::before_the_mail);
    co_await say(socket, "354 go on");
    const auto text = co_await read_to(socket, input, "\r\n.\r\n");
    mail.text = without_stuffing(text.substr(0, text.size() - 3));
    const auto reply = reply_to(mail);
    co_await wait_at(pause::after_the_mail);
    co_await say(socket, reply);
    mail = {};
}

asio::awaitable<void> smtp_server::state::talk(tcp::socket socket) {
    std::string input;
    received_mail mail;
    co_await say(socket, "220 sink");
    for (;;) {
        const auto line = co_await read_to(socket, input, "\r\n");
        const auto verb = line.substr(0, 4);
        if (verb == "DATA") {
            co_await take_mail(socket, input, mail);
            continue;
        }
        if (verb == "MAIL") {
            mail.sender = address_in(line);
        } else if (verb == "RCPT") {
            mail.recipients.push_back(address_in(line));
        }
        co_await say(socket, verb == "QUIT" ? "221 bye" : "250 sink");
    }
}

asio::awaitable<void> smtp_server::state::accept() {
    for (;;) {
        auto socket = co_await acceptor.async_accept(asio::use_awaitable);
        {
            const std::lock_guard lock(guard);
            ++conversations;
        }
        // Ends when the client goes, by an exception that nobody needs.
        asio::co_spawn(context, talk(std::move(socket)), asio::detached);
    }
}

smtp_server::smtp_server() : state_(std::make_unique<state>()) {
    asio::co_spawn(state_->context, state_->accept(), asio::detached);
    state_->thread = std::thread([this] { state_->context.run(); });
}

smtp_server::~smtp_server() {
    state_->context.stop();
    state_->thread.join();
}

std::string smtp_server::url() const {
    return "smtp://127.0.0.1:" + std::to_string(state_->acceptor.local_endpoint().port());
}

std::vector<received_mail> smtp_server::mails() const {
    const std::lock_guard lock(state_->guard);
    return state_->mails;
}

std::size_t smtp_server::mail_count() const {
    const std::lock_guard lock(state_->guard);
    return state_->mails.size();
}

std::size_t smtp_server::conversations() const {
    const std::lock_guard lock(state_->guard);
    return state_->conversations;
}

void smtp_server::refuse(int count, const std::string& reply) {
    const std::lock_guard lock(state_->guard);
    state_->refusals = count;
    state_->refusal = reply;
}

void smtp_server::hold(pause where) {
    const std::lock_guard lock(state_->guard);
    state_->held = where;
    asio::post(state_->context, [this] { state_->gate.cancel(); });
}

bool smtp_server::someone_waits(std::chrono::milliseconds patience) const {
    return eventually(patience, [this] {
        const std::lock_guard lock(state_->guard);
        return state_->waiting > 0;
    });
}

}  // namespace walrelay::test
