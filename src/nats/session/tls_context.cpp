#include "nats/session/tls_context.hpp"

#include "files/ordinary_file.hpp"
#include "nats/session/secrets.hpp"

#include <openssl/ssl.h>

#include <string>

namespace walrelay::nats {
namespace {

namespace asio = boost::asio;
namespace ssl = asio::ssl;
using boost::system::error_code;

/// Of a bundle of authorities: that of Debian has a quarter of it.
constexpr std::size_t certificates_bytes_max = std::size_t{1} << 20U;

result<std::string> read_certificates(const std::string& key, const std::string& file) {
    auto text = files::read_ordinary(file, certificates_bytes_max);
    return text ? result<std::string>(std::move(*text))
                : unusable_file(key, file, text.error().why);
}

error encrypted_key(const std::string& file) {
    return {errc::file_unusable,
            "the key of nats.tls.key is encrypted: " + file +
                "; walrelay asks nobody for its passphrase",
            "write it without one, for walrelay's user alone to read: openssl pkey -in " + file +
                " -out <file>"};
}

/// Errors: as of make_tls_context.
result<void> use_key(ssl::context& into, const std::string& file) {
    auto text = read_secret_file("nats.tls.key", file);
    if (!text) {
        return text.error();
    }
    // OpenSSL would ask on the terminal.
    into.set_password_callback([](std::size_t, ssl::context::password_purpose) { return ""; });
    error_code failure;
    into.use_private_key(asio::buffer(*text), ssl::context::pem, failure);
    const bool is_encrypted = text->find("ENCRYPTED") != std::string::npos;
    wipe(*text);
    if (!failure) {
        return {};
    }
    return is_encrypted ? encrypted_key(file)
                        : unusable_file("nats.tls.key", file, failure.message());
}

/// Errors: as of make_tls_context.
result<void> use_certificate(ssl::context& into, const connect_options& from) {
    const auto chain = read_certificates("nats.tls.cert", from.tls_cert);
    if (!chain) {
        return chain.error();
    }
    error_code failure;
    into.use_certificate_chain(asio::buffer(*chain), failure);
    if (failure) {
        return unusable_file("nats.tls.cert", from.tls_cert, failure.message());
    }
    return use_key(into, from.tls_key);
}

/// Errors: as of make_tls_context.
result<void> use_authorities(ssl::context& into, const std::string& file) {
    const auto authorities = read_certificates("nats.tls.ca", file);
    if (!authorities) {
        return authorities.error();
    }
    error_code failure;
    into.add_certificate_authority(asio::buffer(*authorities), failure);
    return failure ? result<void>(unusable_file("nats.tls.ca", file, failure.message()))
                   : result<void>();
}

}  // namespace

result<std::shared_ptr<ssl::context>> make_tls_context(const connect_options& from) {
    auto made = std::make_shared<ssl::context>(ssl::context::tls_client);
    SSL_CTX_set_min_proto_version(made->native_handle(), TLS1_2_VERSION);
    error_code failure;
    if (from.tls_ca.empty()) {
        made->set_default_verify_paths(failure);
        if (failure) {
            return unusable_file("nats.tls.ca", from.tls_ca, failure.message());
        }
    } else if (const auto used = use_authorities(*made, from.tls_ca); !used) {
        return used.error();
    }
    if (!from.tls_cert.empty()) {
        if (const auto used = use_certificate(*made, from); !used) {
            return used.error();
        }
    }
    return made;
}

}  // namespace walrelay::nats
