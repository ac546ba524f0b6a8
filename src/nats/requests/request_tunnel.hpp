// nats.c's way to a server: a port of loopback, from which its bytes go over a server_session.
//
// The library would make its own connection: it believes the system's authorities besides the
// configured one, cannot begin with TLS, and chooses among the servers by itself. So it is given a
// server that wants neither TLS nor a user, and never learns a secret.
#pragma once

#include "core/error.hpp"
#include "nats/session/connect_options.hpp"

#include <memory>
#include <string>

namespace walrelay::nats {

/// Lives as long as the library's connection. Works on a thread of its own.
class request_tunnel {
public:
    /// Logs in to a server, blocking. Errors: those of open_session.
    [[nodiscard]] static result<std::unique_ptr<request_tunnel>> open(const connect_options& to);

    request_tunnel(const request_tunnel&) = delete;
    request_tunnel& operator=(const request_tunnel&) = delete;
    /// Ends both connections.
    ~request_tunnel();

    /// Where the library is to connect to.
    [[nodiscard]] const std::string& url() const { return url_; }
    /// Who does not know it is not let in: every user of this machine can reach the port.
    [[nodiscard]] const std::string& token() const { return token_; }

private:
    struct works;
    explicit request_tunnel(std::unique_ptr<works> running);

    std::unique_ptr<works> works_;
    std::string url_;
    std::string token_;
};

}  // namespace walrelay::nats
