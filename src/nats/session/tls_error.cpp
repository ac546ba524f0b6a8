#include "nats/session/tls_error.hpp"

#include "nats/session/connect_error.hpp"

#include <boost/asio/ssl/error.hpp>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>

#include <utility>

namespace walrelay::nats {
namespace {

error not_taken(const std::string& server, const std::string& why, std::string remedy,
                std::string said) {
    return {errc::broker_unavailable,
            "the certificate of the broker at " + server + " is not taken: " + why,
            std::move(remedy), std::move(said)};
}

std::string authorities_of(const connect_options& options) {
    return options.tls_ca.empty() ? "the system (nats.tls.ca is not set)"
                                  : "nats.tls.ca (" + options.tls_ca + ")";
}

bool is_about_time(long verdict) {
    return verdict == X509_V_ERR_CERT_HAS_EXPIRED || verdict == X509_V_ERR_CERT_NOT_YET_VALID;
}

bool is_about_the_name(long verdict) {
    return verdict == X509_V_ERR_HOSTNAME_MISMATCH || verdict == X509_V_ERR_IP_ADDRESS_MISMATCH;
}

}  // namespace

error explain_tls(const connect_options& options, const std::string& server,
                  const boost::system::error_code& failure, long verdict) {
    if (is_about_time(verdict)) {
        return not_taken(
            server,
            verdict == X509_V_ERR_CERT_HAS_EXPIRED ? "it has expired" : "it is not valid yet",
            "give the server a certificate that is valid now, then: nats-server "
            "--signal reload; or correct the clock of this machine",
            failure.message());
    }
    if (is_about_the_name(verdict)) {
        return not_taken(server, "it is for another name",
                         "name the server in nats.urls as its certificate does, or give it a "
                         "certificate with this name",
                         failure.message());
    }
    if (verdict != X509_V_OK) {
        return not_taken(server,
                         "it is not of an authority that " + authorities_of(options) + " names (" +
                             X509_verify_cert_error_string(verdict) + ")",
                         "set nats.tls.ca to a file with the certificate of the authority that "
                         "signs the server's",
                         failure.message());
    }
    if (auto refused = client_certificate_refused(options, server, failure)) {
        return *std::move(refused);
    }
    return without_tls(options, server + ": " + failure.message());
}

std::optional<error> client_certificate_refused(const connect_options& options,
                                                const std::string& server,
                                                const boost::system::error_code& failure) {
    if (failure.category() != boost::asio::error::get_ssl_category()) {
        return std::nullopt;
    }
    const auto reason = ERR_GET_REASON(static_cast<unsigned long>(failure.value()));
    const bool is_missing =
        reason == SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED ||
        (reason == SSL_R_SSLV3_ALERT_BAD_CERTIFICATE && options.tls_cert.empty());
    if (is_missing) {
        return error{errc::broker_unavailable,
                     "the broker at " + server + " demands a certificate of the client",
                     "set nats.tls.cert and nats.tls.key to one that is of an authority which the "
                     "server's tls.ca_file names",
                     failure.message()};
    }
    if (reason != SSL_R_SSLV3_ALERT_BAD_CERTIFICATE &&
        reason != SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED && reason != SSL_R_TLSV1_ALERT_UNKNOWN_CA) {
        return std::nullopt;
    }
    return error{
        errc::broker_unavailable,
        "the broker at " + server + " does not take the client's certificate, " + options.tls_cert,
        "set nats.tls.cert to one that is valid now and of an authority which the "
        "server's tls.ca_file names",
        failure.message()};
}

}  // namespace walrelay::nats
