#include "nats/session/tls_context.hpp"

#include "nats/session/secrets.hpp"

#include <openssl/ssl.h>

#include <string>

namespace walrelay::nats {
namespace {

namespace ssl = boost::asio::ssl;
using boost::system::error_code;

/// Errors: as of make_tls_context.
result<void> use_certificate(ssl::context& into, const connect_options& from) {
    if (auto is_private = require_private("nats.tls.key", from.tls_key); !is_private) {
        return is_private;
    }
    error_code failure;
    into.use_certificate_chain_file(from.tls_cert, failure);
    if (failure) {
        return unusable_file("nats.tls.cert", from.tls_cert, failure.message());
    }
    into.use_private_key_file(from.tls_key, ssl::context::pem, failure);
    if (failure) {
        return unusable_file("nats.tls.key", from.tls_key, failure.message());
    }
    return {};
}

}  // namespace

result<std::shared_ptr<ssl::context>> make_tls_context(const connect_options& from) {
    auto made = std::make_shared<ssl::context>(ssl::context::tls_client);
    SSL_CTX_set_min_proto_version(made->native_handle(), TLS1_2_VERSION);
    error_code failure;
    if (from.tls_ca.empty()) {
        made->set_default_verify_paths(failure);
    } else {
        made->load_verify_file(from.tls_ca, failure);
    }
    if (failure) {
        return unusable_file("nats.tls.ca", from.tls_ca, failure.message());
    }
    if (!from.tls_cert.empty()) {
        if (const auto used = use_certificate(*made, from); !used) {
            return used.error();
        }
    }
    return made;
}

}  // namespace walrelay::nats
