// A server of `nats.urls`, taken apart.
#pragma once

#include "core/error.hpp"

#include <string>
#include <string_view>

namespace walrelay::nats {

struct server_address {
    std::string host = {};  // a name or an address, IPv6 without brackets
    std::string port = {};
    /// tls:// asks for it; a server can ask for it too.
    bool tls = false;
    /// From the address; a user without a password is a token. Empty where it names none.
    std::string user = {};
    std::string password = {};
    std::string token = {};
};

/// Takes nats:// and tls://, with 4222 as the port where none is given. Errors: broker_unsuitable,
/// without the password.
[[nodiscard]] result<server_address> parse_server_address(std::string_view url);

/// "host:port", as logs may show it.
[[nodiscard]] std::string to_string(const server_address& server);

/// The same of an address as it was configured: without what stands before an "@".
[[nodiscard]] std::string without_password(std::string_view url);

}  // namespace walrelay::nats
