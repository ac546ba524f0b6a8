// What a NATS server says of itself at first, and what it is answered. Pure: text in, text out.
// Source of the members: docs.nats.io, "NATS Protocol", INFO and CONNECT.
#pragma once

#include "core/error.hpp"
#include "nats/session/secrets.hpp"
#include "nats/session/server_address.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace walrelay::nats {

/// Of an INFO.
struct greeting {
    /// What the server calls itself, as JetStream names it too; empty where it does not say.
    std::string name = {};
    /// To be signed where an NKey or a JWT proves who we are.
    std::string nonce = {};
    std::uint64_t max_payload_bytes = 0;  // 0 where it does not say
    bool tls_required = false;
    bool tls_available = false;
    /// Other servers of its cluster, "host:port"; empty where it tells of none.
    std::vector<std::string> others = {};
    /// The same JSON without what asks for TLS or a log-in, or names other servers.
    std::string without_log_in = {};
};

/// Takes the JSON of an INFO. Errors: broker_unavailable.
[[nodiscard]] result<greeting> parse_greeting(std::string_view json);

/// The CONNECT line. What the server's address names goes before `known`, as in all of NATS's
/// clients. Errors: broker_unsuitable (a seed that cannot sign).
[[nodiscard]] result<std::string> connect_line(const greeting& met, const server_address& server,
                                               const secrets& known, bool tls);

}  // namespace walrelay::nats
