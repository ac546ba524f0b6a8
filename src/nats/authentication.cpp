#include "nats/authentication.hpp"

#include "nats/secrets.hpp"
#include "nats/stream_reader.hpp"

#include <string>

namespace walrelay::nats {
namespace {

result<void> done(natsStatus status, const std::string& key, const std::string& file) {
    if (status != NATS_OK) {
        return unusable_file(key, file, last_error_text(status));
    }
    return {};
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
    const auto known = read_secrets(from);
    if (!known) {
        return known.error();
    }
    if (!known->jwt.empty()) {
        return done(
            natsOptions_SetUserCredentialsFromFiles(into, from.credentials.c_str(), nullptr),
            "nats.credentials", from.credentials);
    }
    if (!known->nkey.empty()) {
        return done(natsOptions_SetNKeyFromSeed(into, known->nkey.c_str(), from.nkey_seed.c_str()),
                    "nats.nkey_seed", from.nkey_seed);
    }
    if (!known->user.empty()) {
        return done(natsOptions_SetUserInfo(into, known->user.c_str(), known->password.c_str()),
                    "nats.user", from.password_file);
    }
    if (!known->token.empty()) {
        return done(natsOptions_SetToken(into, known->token.c_str()), "nats.token_file",
                    from.token_file);
    }
    return {};
}

}  // namespace walrelay::nats
