#include "nats/authentication.hpp"

#include "nats/stream_reader.hpp"

#include <fstream>
#include <iterator>
#include <string>
#include <utility>

namespace walrelay::nats {
namespace {

error unusable(const std::string& key, const std::string& file, std::string said) {
    return {errc::broker_unsuitable, "the file of " + key + " cannot be used: " + file,
            "check that it exists, that walrelay's user may read it, and what it holds",
            std::move(said)};
}

/// The file's first line.
result<std::string> read_secret(const std::string& key, const std::string& file) {
    std::ifstream stream(file);
    std::string line;
    if (!std::getline(stream, line) || line.empty()) {
        return unusable(key, file, "");
    }
    if (line.back() == '\r') {
        line.pop_back();
    }
    return line;
}

result<void> done(natsStatus status, const std::string& key, const std::string& file) {
    if (status != NATS_OK) {
        return unusable(key, file, last_error_text(status));
    }
    return {};
}

/// The seed's line of a seed file, which may be decorated like a credentials file.
result<std::string> read_seed(const std::string& file) {
    std::ifstream stream(file);
    for (std::string line; std::getline(stream, line);) {
        if (line.starts_with("SU")) {
            return line.substr(0, line.find_last_not_of(" \r\t") + 1);
        }
    }
    return unusable("nats.nkey_seed", file, "");
}

result<void> use_nkey(natsOptions* into, const std::string& file) {
    const auto seed = read_seed(file);
    if (!seed) {
        return seed.error();
    }
    const auto key = nkey_public(*seed);
    if (!key) {
        return key.error();
    }
    return done(natsOptions_SetNKeyFromSeed(into, key->c_str(), file.c_str()), "nats.nkey_seed",
                file);
}

result<void> use_password(natsOptions* into, const connect_options& from) {
    std::string password;
    if (!from.password_file.empty()) {
        auto read = read_secret("nats.password_file", from.password_file);
        if (!read) {
            return read.error();
        }
        password = std::move(*read);
    }
    return done(natsOptions_SetUserInfo(into, from.user.c_str(), password.c_str()), "nats.user",
                from.password_file);
}

result<void> use_token(natsOptions* into, const std::string& file) {
    const auto token = read_secret("nats.token_file", file);
    if (!token) {
        return token.error();
    }
    return done(natsOptions_SetToken(into, token->c_str()), "nats.token_file", file);
}

result<void> use_tls(natsOptions* into, const connect_options& from) {
    if (!from.tls_ca.empty()) {
        const auto loaded = done(natsOptions_LoadCATrustedCertificates(into, from.tls_ca.c_str()),
                                 "nats.tls.ca", from.tls_ca);
        if (!loaded) {
            return loaded;
        }
    }
    if (!from.tls_cert.empty()) {
        return done(
            natsOptions_LoadCertificatesChain(into, from.tls_cert.c_str(), from.tls_key.c_str()),
            "nats.tls.cert", from.tls_cert);
    }
    return {};
}

}  // namespace

result<void> authenticate(natsOptions* into, const connect_options& from) {
    if (!from.tls_ca.empty() || !from.tls_cert.empty()) {
        natsOptions_SetSecure(into, true);
        if (auto secured = use_tls(into, from); !secured) {
            return secured;
        }
    }
    if (!from.credentials.empty()) {
        return done(
            natsOptions_SetUserCredentialsFromFiles(into, from.credentials.c_str(), nullptr),
            "nats.credentials", from.credentials);
    }
    if (!from.nkey_seed.empty()) {
        return use_nkey(into, from.nkey_seed);
    }
    if (!from.user.empty()) {
        return use_password(into, from);
    }
    if (!from.token_file.empty()) {
        return use_token(into, from.token_file);
    }
    return {};
}

}  // namespace walrelay::nats
