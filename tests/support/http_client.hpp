// Asks an HTTP server of this machine, as bytes: what is sent need not be a request at all.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace walrelay::test {

struct http_answer {
    int status = 0;  // 0 where nothing came
    std::string headers = {};
    std::string body = {};

    [[nodiscard]] bool has_header(const std::string& line) const {
        return headers.find(line + "\r\n") != std::string::npos;
    }
};

/// One connection to 127.0.0.1. Throws std::system_error where it cannot be made.
class http_connection {
public:
    explicit http_connection(std::uint16_t port);
    http_connection(const http_connection&) = delete;
    http_connection& operator=(const http_connection&) = delete;
    ~http_connection();

    /// False where the other side has gone.
    bool send(const std::string& bytes);
    /// Headers, and as much of a body as they say, or none after a HEAD. Nothing where the
    /// connection ended before, or nothing came within `limit`.
    [[nodiscard]] std::optional<http_answer> read(
        bool has_body = true, std::chrono::milliseconds limit = std::chrono::seconds(20));
    /// Whether the other side closes it within `limit`; what it sends is thrown away.
    [[nodiscard]] bool is_closed_within(std::chrono::milliseconds limit);

private:
    bool receive(std::chrono::milliseconds limit);

    int descriptor_;
    std::string received_;
    bool ended_ = false;
};

/// GET over a connection of its own; status 0 where nobody answers.
[[nodiscard]] http_answer http_get(std::uint16_t port, const std::string& target);

}  // namespace walrelay::test
