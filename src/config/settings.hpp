// Every setting of walrelay: one plain struct, documented, with its one default.
//
// The units are in the types. Where the values come from (file, environment, flags) is the business
// of config/load; docs/configuration.md is checked against the table in config/keys.
#pragma once

#include "core/byte_size.hpp"
#include "core/facts.hpp"
#include "core/outbox_table.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace walrelay::config {

/// Which rows that were in the tables before the slot was created are published first.
enum class snapshot_mode { none, pending, all };

struct postgres_settings {
    /// libpq connection string or URI; PG* variables and the password file are honoured by libpq.
    std::string conninfo;
    std::string password_file;     // file
    std::string password_command;  // of /bin/sh
    /// What replaces values of `conninfo` where rows of outboxes are changed; empty: nothing.
    std::string writer;
    std::string writer_password_file;     // file
    std::string writer_password_command;  // of /bin/sh
    std::string slot = "walrelay";
    /// Nothing is `auto`: the slot's own plugin, else wal2json where the server accepts it, else
    /// pgoutput.
    std::optional<output_plugin> plugin;
    std::string publication = "walrelay";
    snapshot_mode snapshot = snapshot_mode::none;
    /// Whether standbys may keep a copy of the slot. Nothing is `auto`: where the server can.
    std::optional<bool> failover;
};

struct tls_settings {
    std::string ca;    // file of PEM certificates
    std::string cert;  // file of the client's PEM certificate
    std::string key;   // file of its key
    bool handshake_first = false;
};

struct nats_settings {
    std::vector<std::string> urls = {"nats://127.0.0.1:4222"};
    std::string stream = "OUTBOX";
    /// These three are used only where walrelay creates the stream.
    std::vector<std::string> subjects = {"events.>"};
    std::int64_t replicas = 1;
    std::optional<byte_size> max_bytes;
    bool sole_writer = true;
    /// Of the nats command; what it holds was filled in where a key was not set.
    std::string context;
    bool discover = true;
    /// At most one of the two: the JetStream domain, or what its API's subjects begin with.
    std::string domain;
    std::string api_prefix;
    std::string inbox_prefix = "_INBOX";
    std::string credentials;  // file
    std::string nkey_seed;    // file
    std::string user;
    std::string password_file;
    std::string token_file;
    /// Of `context` alone, no keys: secrets stand in no configuration.
    std::string password = {};
    std::string token = {};
    tls_settings tls;
};

/// What happens to a row that can never be published.
enum class poison_policy { dead_letter, halt };

/// What happens where the slot no longer has what the stream lacks.
enum class slot_loss_policy { halt, heal };

/// What the process does where an operator must decide.
enum class halt_policy { exit, stay };

struct delivery_settings {
    std::uint64_t window_messages = 4096;
    byte_size window_bytes{32ULL << 20U};
    byte_size max_row_bytes{64ULL << 20U};
    std::chrono::milliseconds ack_timeout{5000};
    std::chrono::milliseconds confirm_delay{0};
    std::uint32_t max_attempts = 5;
    std::chrono::milliseconds backoff_initial{100};
    std::chrono::milliseconds backoff_max{30000};
    poison_policy on_poison = poison_policy::dead_letter;
    slot_loss_policy on_slot_loss = slot_loss_policy::halt;
    halt_policy on_halt = halt_policy::exit;
};

struct replay_settings {
    /// How far back the trail reaches; nothing keeps none.
    std::optional<std::chrono::milliseconds> keep;
    byte_size max_wal{10ULL << 30U};
};

enum class log_level { trace, debug, info, warn, error };
enum class log_format { text, json };

struct log_settings {
    log_level level = log_level::info;
    log_format format = log_format::text;
    /// How often the log says that all is well; 0 for never.
    std::chrono::milliseconds heartbeat{60000};
    /// A message that takes longer from commit to ack is told; 0 for none.
    std::chrono::milliseconds slow{30000};
};

struct http_settings {
    /// An IP address and a port, or "off".
    std::string listen = "127.0.0.1:8460";
    /// Names of this machine, besides its IP addresses and localhost.
    std::vector<std::string> hosts;
};

struct traces_settings {
    /// URL of a collector (OTLP over HTTP); empty: no traces.
    std::string endpoint;
    /// Of each request to it. Values may be secrets: nothing shows them.
    std::vector<std::pair<std::string, std::string>> headers;
    std::string service_name = "walrelay";
};

struct settings {
    postgres_settings postgres;
    nats_settings nats;
    delivery_settings delivery;
    std::vector<outbox_table> outbox;
    replay_settings replay;
    http_settings http;
    log_settings log;
    traces_settings traces;
};

}  // namespace walrelay::config
