// What a connection to the broker is made from.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace walrelay::nats {

struct connect_options {
    std::vector<std::string> urls;
    std::string stream;
    /// What the subjects of replies begin with, before a dot.
    std::string inbox_prefix = "_INBOX";
    /// What the subjects of JetStream's API begin with: that of another domain has its own.
    std::string api = "$JS.API";
    /// Whether servers that the configured ones tell of are tried after these.
    bool discover = true;
    /// The name of the server that leads the stream: it is tried first where its address is known
    /// or is found among those of these servers. Empty where any will do.
    std::string leader = {};
    /// Files, each empty where not used. At most one way of authentication.
    std::string credentials;
    std::string nkey_seed;
    std::string user;
    std::string password_file;
    std::string token_file;
    /// Themselves, where no file holds them.
    std::string password = {};
    std::string token = {};
    std::string tls_ca;
    std::string tls_cert;
    std::string tls_key;
    /// TLS begins before the server says anything (nats-server: handshake_first).
    bool tls_handshake_first = false;
    std::chrono::milliseconds timeout{5000};
    /// How many of the stream's last messages are looked at; see read_broker.
    std::uint64_t look_back = 0;
    /// A sequence whose message is wanted as well; 0 for none.
    std::uint64_t asks_for = 0;
};

/// What a stream is made with: file storage, limits retention.
struct stream_definition {
    std::string name;
    std::vector<std::string> subjects;
    std::int64_t replicas = 1;
    std::optional<std::uint64_t> max_bytes = {};  // nothing is unlimited
};

/// The definition as `nats stream add --config` reads it, for `walrelay init --print`.
[[nodiscard]] std::string to_json(const stream_definition& definition);

}  // namespace walrelay::nats
