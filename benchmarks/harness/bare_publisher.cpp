#include "harness/bare_publisher.hpp"

#include "harness/loop_connection.hpp"  // acked_sequence

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <stdexcept>

namespace walrelay::bench {
namespace {

[[noreturn]] void fail(const std::string& what) {
    throw std::runtime_error(what + ": " + std::strerror(errno));
}

sockaddr_in address_in(const std::string& url) {
    constexpr std::string_view scheme = "nats://";
    const auto colon = url.rfind(':');
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(std::stoi(url.substr(colon + 1))));
    const auto host = url.substr(scheme.size(), colon - scheme.size());
    if (inet_pton(AF_INET, host.c_str(), &address.sin_addr) != 1) {
        throw std::runtime_error(url + " is no address");
    }
    return address;
}

int connected_socket(const std::string& url) {
    const auto address = address_in(url);
    const int handle = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int yes = 1;
    if (handle < 0 ||
        connect(handle, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
        setsockopt(handle, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes) != 0) {
        fail("cannot connect to " + url);
    }
    return handle;
}

/// 0 where it is not there.
std::uint64_t number_behind(std::string_view text, std::string_view name) {
    std::uint64_t number = 0;
    if (const auto found = text.find(name); found != std::string_view::npos) {
        std::from_chars(text.data() + found + name.size(), text.data() + text.size(), number);
    }
    return number;
}

std::size_t number_at_end_of(std::string_view line) {
    std::size_t number = 0;
    const auto* const first = line.data() + line.rfind(' ') + 1;
    std::from_chars(first, line.data() + line.size(), number);
    return number;
}

}  // namespace

bare_publisher::bare_publisher(const std::string& url, const message_like& like,
                               const publish_form& how)
    : lines_(like.as_lines(how)),
      to_send_("CONNECT {\"verbose\":false,\"headers\":true,\"no_responders\":true}\r\nSUB " +
               how.inbox + "> 1\r\n"),
      socket_(connected_socket(url)) {}

bare_publisher::~bare_publisher() {
    close(socket_);
}

void bare_publisher::publish(std::uint64_t rows, std::uint64_t window) {
    constexpr std::size_t bytes_at_once = 1U << 16U;
    constexpr int patience_milliseconds = 30'000;
    for (std::uint64_t row = 0; acked_ < rows;) {
        while (row < rows && row - acked_ < window && to_send_.size() < bytes_at_once) {
            lines_.append(to_send_, row, row);
            ++row;
        }
        const auto events = static_cast<short>(to_send_.empty() ? POLLIN : POLLIN | POLLOUT);
        pollfd ready{.fd = socket_, .events = events, .revents = 0};
        if (poll(&ready, 1, patience_milliseconds) == 0) {
            throw std::runtime_error("the broker does not ack");
        }
        if ((ready.revents & POLLOUT) != 0) {
            send();
        }
        if ((ready.revents & (POLLIN | POLLHUP | POLLERR)) != 0) {
            receive();
        }
    }
}

void bare_publisher::send() {
    const auto sent =
        ::send(socket_, to_send_.data(), to_send_.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0 && errno != EAGAIN && errno != EINTR) {
        fail("cannot send");
    }
    to_send_.erase(0, static_cast<std::size_t>(std::max<ssize_t>(sent, 0)));
}

void bare_publisher::receive() {
    std::array<char, 1U << 16U> buffer;
    const auto length = recv(socket_, buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (length == 0 || (length < 0 && errno != EAGAIN && errno != EINTR)) {
        fail("the broker closed the connection");
    }
    received_.append(buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(length, 0)));
    std::string_view text = received_;
    while (take_line(text)) {
    }
    received_.erase(0, received_.size() - text.size());
}

bool bare_publisher::take_line(std::string_view& text) {
    // NATS documentation, "Client Protocol": MSG <subject> <sid> [reply-to] <#bytes>, then the
    // bytes and a line's end. HMSG is a refusal: the acks of JetStream have no headers.
    constexpr std::string_view line_end = "\r\n";
    const auto end = text.find(line_end);
    if (end == std::string_view::npos) {
        return false;
    }
    const auto line = text.substr(0, end);
    auto length = end + line_end.size();
    if (line.starts_with("MSG ")) {
        const auto answer_length = number_at_end_of(line);
        if (text.size() < length + answer_length + line_end.size()) {
            return false;
        }
        take_answer(text.substr(length, answer_length));
        length += answer_length + line_end.size();
    } else if (line == "PING") {
        to_send_ += "PONG\r\n";
    } else if (line.starts_with("-ERR") || line.starts_with("HMSG ")) {
        throw std::runtime_error("the broker refuses: " + std::string(text));
    }
    text.remove_prefix(length);
    return true;
}

void bare_publisher::take_answer(std::string_view answer) {
    if (answer.starts_with("{\"type\":\"ack\"")) {
        return;  // of a batch, and no proof that anything is stored
    }
    if (answer.starts_with("{\"type\":")) {
        throw std::runtime_error("the broker refused a batch: " + std::string(answer));
    }
    if (acked_sequence(answer) > 0) {
        acked_ += std::max<std::uint64_t>(number_behind(answer, "\"count\":"), 1);
    }
}

}  // namespace walrelay::bench
