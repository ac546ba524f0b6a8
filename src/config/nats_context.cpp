// A context of the nats command, as its file holds it.
#include "config/nats_context.hpp"

#include <simdjson.h>

#include <optional>

namespace walrelay::config {
namespace {

using members = simdjson::dom::object;

/// Empty where there is none.
std::string text_in(const members& of, std::string_view name) {
    std::string_view text;
    return of[name].get(text) == simdjson::SUCCESS ? std::string(text) : std::string();
}

std::string without_tilde(const std::string& path, const std::string& home) {
    return path == "~" || path.starts_with("~/") ? home + path.substr(1) : path;
}

/// What a connection would lack without it, and walrelay has no key for.
std::optional<complaint> check_needs(const members& of, const std::string& path) {
    for (const auto* name : {"nsc", "socks_proxy", "user_jwt", "user_seed", "windows_cert_store"}) {
        if (!text_in(of, name).empty()) {
            return complaint{
                "the context in " + path + " has " + name + ", which walrelay cannot use",
                "set the keys of [nats] themselves, such as nats.credentials, or name "
                "a context without it"};
        }
    }
    return std::nullopt;
}

/// One way alone, chosen as the nats command chooses.
void take_sign_in(const members& of, const std::string& home, nats_context& into) {
    if (auto user = text_in(of, "user"); !user.empty()) {
        into.values.emplace_back("user", std::move(user));
        into.password = text_in(of, "password");
    } else if (const auto creds = text_in(of, "creds"); !creds.empty()) {
        into.values.emplace_back("credentials", without_tilde(creds, home));
    } else if (const auto nkey = text_in(of, "nkey"); !nkey.empty()) {
        into.values.emplace_back("nkey_seed", without_tilde(nkey, home));
    } else {
        into.token = text_in(of, "token");
    }
}

void take_paths(const members& of, const std::string& home, nats_context& into) {
    for (const auto& [name, key] :
         {std::pair("ca", "tls.ca"), {"cert", "tls.cert"}, {"key", "tls.key"}}) {
        if (const auto path = text_in(of, name); !path.empty()) {
            into.values.emplace_back(key, without_tilde(path, home));
        }
    }
}

/// The domain where there are both, as for the nats command.
void take_subjects(const members& of, nats_context& into) {
    if (auto domain = text_in(of, "jetstream_domain"); !domain.empty()) {
        into.values.emplace_back("domain", std::move(domain));
    } else if (auto prefix = text_in(of, "jetstream_api_prefix"); !prefix.empty()) {
        into.values.emplace_back("api_prefix", std::move(prefix));
    }
    if (auto prefix = text_in(of, "inbox_prefix"); !prefix.empty()) {
        into.values.emplace_back("inbox_prefix", std::move(prefix));
    }
}

}  // namespace

read_result<nats_context> parse_nats_context(const context_file& from) {
    simdjson::dom::parser parser;
    members of;
    if (parser.parse(from.text).get(of) != simdjson::SUCCESS) {
        return complaint{from.path + " is no context of the nats command: it is not a JSON object",
                         "write it anew: nats context edit"};
    }
    if (const auto wrong = check_needs(of, from.path)) {
        return *wrong;
    }
    nats_context read;
    read.url = text_in(of, "url");
    take_sign_in(of, from.home, read);
    take_paths(of, from.home, read);
    take_subjects(of, read);
    bool tls_first = false;
    read.tls_first = of["tls_first"].get(tls_first) == simdjson::SUCCESS && tls_first;
    if (from.is_public && !(read.password.empty() && read.token.empty())) {
        return complaint{
            "every user of this machine can read the context in " + from.path + ", which holds a " +
                (read.token.empty() ? "password" : "token"),
            "chmod o= " + from.path + " (walrelay's user must still be able to read it)"};
    }
    return read;
}

}  // namespace walrelay::config
