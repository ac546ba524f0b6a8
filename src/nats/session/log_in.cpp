#include "nats/session/log_in.hpp"

#include "core/json_string.hpp"

#include <simdjson.h>

#include <algorithm>
#include <array>

namespace walrelay::nats {
namespace {

namespace dom = simdjson::dom;

bool flag(const dom::object& of, std::string_view name) {
    bool set = false;
    return of[name].get(set) == simdjson::SUCCESS && set;
}

void add(std::string& members, std::string_view name, const std::string& value) {
    if (!value.empty()) {
        members += '"';
        members += name;
        members += "\":" + json_string(value) + ",";
    }
}

void add_flag(std::string& members, std::string_view name, bool set) {
    members += '"';
    members += name;
    members += set ? "\":true," : "\":false,";
}

std::string without_log_in(const dom::object& info) {
    constexpr std::array left_out{"auth_required", "tls_required", "tls_available",  "tls_verify",
                                  "nonce",         "connect_urls", "ws_connect_urls"};
    std::string members;
    for (const auto& [name, value] : info) {
        if (std::ranges::find(left_out, name) == left_out.end()) {
            members += (members.empty() ? "" : ",") + json_string(name) + ":";
            members += simdjson::minify(value);
        }
    }
    return "{" + members + "}";
}

/// Who we are. Errors: broker_unsuitable.
result<void> add_secrets(std::string& members, const greeting& met, const server_address& server,
                         const secrets& known) {
    if (!server.user.empty() || !server.token.empty()) {
        add(members, "user", server.user);
        add(members, "pass", server.password);
        add(members, "auth_token", server.token);
        return {};
    }
    add(members, "user", known.user);
    add(members, "pass", known.password);
    add(members, "auth_token", known.token);
    add(members, "nkey", known.nkey);
    add(members, "jwt", known.jwt);
    if (known.seed.empty()) {
        return {};
    }
    const auto signature = nkey_sign(known.seed, met.nonce);
    if (!signature) {
        return signature.error();
    }
    add(members, "sig", *signature);
    return {};
}

}  // namespace

result<greeting> parse_greeting(std::string_view json) {
    dom::parser parser;
    dom::object info;
    if (parser.parse(json.data(), json.size()).get(info) != simdjson::SUCCESS) {
        return error{errc::broker_unavailable,
                     "the server does not introduce itself as a NATS server"};
    }
    greeting met;
    std::string_view name;
    if (info["server_name"].get(name) == simdjson::SUCCESS) {
        met.name = name;
    }
    std::string_view nonce;
    if (info["nonce"].get(nonce) == simdjson::SUCCESS) {
        met.nonce = nonce;
    }
    std::uint64_t limit = 0;
    if (info["max_payload"].get(limit) == simdjson::SUCCESS) {
        met.max_payload_bytes = limit;
    }
    met.tls_required = flag(info, "tls_required");
    met.tls_available = flag(info, "tls_available");
    dom::array others;
    if (info["connect_urls"].get(others) == simdjson::SUCCESS) {
        for (const auto other : others) {
            std::string_view address;
            if (other.get(address) == simdjson::SUCCESS) {
                met.others.emplace_back(address);
            }
        }
    }
    met.without_log_in = without_log_in(info);
    return met;
}

result<std::string> connect_line(const greeting& met, const server_address& server,
                                 const secrets& known, bool tls) {
    std::string members;
    add_flag(members, "verbose", false);
    add_flag(members, "pedantic", false);
    if (const auto added = add_secrets(members, met, server, known); !added) {
        return added.error();
    }
    add_flag(members, "tls_required", tls);
    add(members, "name", "walrelay");
    add(members, "lang", "C++");
    add(members, "version", WALRELAY_VERSION);
    add_flag(members, "headers", true);
    // An answer at once where nobody serves a subject.
    add_flag(members, "no_responders", true);
    return "CONNECT {" + members + "\"protocol\":1}\r\n";
}

}  // namespace walrelay::nats
