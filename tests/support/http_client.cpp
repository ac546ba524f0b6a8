// See http_client.hpp.
#include "support/http_client.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

namespace walrelay::test {
namespace {

std::size_t length_in(const std::string& headers) {
    const std::string name = "Content-Length: ";
    const auto at = headers.find(name);
    return at == std::string::npos ? 0 : std::stoul(headers.substr(at + name.size()));
}

}  // namespace

http_connection::http_connection(std::uint16_t port)
    : descriptor_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(descriptor_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
        const int why = errno;
        close(descriptor_);
        throw std::system_error(why, std::generic_category(), "connect");
    }
}

http_connection::~http_connection() {
    close(descriptor_);
}

bool http_connection::send(const std::string& bytes) {
    return ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
           static_cast<ssize_t>(bytes.size());
}

bool http_connection::receive(std::chrono::milliseconds limit) {
    pollfd waiting{descriptor_, POLLIN, 0};
    if (poll(&waiting, 1, static_cast<int>(limit.count())) <= 0) {
        return false;
    }
    std::array<char, 65536> bytes{};
    const auto count = recv(descriptor_, bytes.data(), bytes.size(), 0);
    if (count <= 0) {
        ended_ = true;
        return false;
    }
    received_.append(bytes.data(), static_cast<std::size_t>(count));
    return true;
}

std::optional<http_answer> http_connection::read(bool has_body, std::chrono::milliseconds limit) {
    const std::string end_of_headers = "\r\n\r\n";
    for (;;) {
        const auto end = received_.find(end_of_headers);
        if (end != std::string::npos) {
            http_answer answer;
            answer.headers = received_.substr(0, end + 2);
            const auto begins = end + end_of_headers.size();
            const auto length = has_body ? length_in(answer.headers) : 0;
            if (received_.size() >= begins + length) {
                answer.status = std::stoi(answer.headers.substr(answer.headers.find(' ') + 1));
                answer.body = received_.substr(begins, length);
                received_.erase(0, begins + length);
                return answer;
            }
        }
        if (!receive(limit)) {
            return std::nullopt;
        }
    }
}

bool http_connection::is_closed_within(std::chrono::milliseconds limit) {
    const auto until = std::chrono::steady_clock::now() + limit;
    while (!ended_ && std::chrono::steady_clock::now() < until) {
        (void)receive(std::chrono::duration_cast<std::chrono::milliseconds>(
            until - std::chrono::steady_clock::now()));
    }
    return ended_;
}

http_answer http_get(std::uint16_t port, const std::string& target) {
    try {
        http_connection connection(port);
        connection.send("GET " + target +
                        " HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n");
        return connection.read().value_or(http_answer{});
    } catch (const std::system_error&) {
        return {};
    }
}

}  // namespace walrelay::test
