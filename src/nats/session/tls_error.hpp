// The words for a certificate that one side shows and the other does not take.
#pragma once

#include "core/error.hpp"
#include "nats/session/connect_options.hpp"

#include <boost/system/error_code.hpp>

#include <optional>
#include <string>

namespace walrelay::nats {

/// TLS with `server` ("host:port") did not come about; `verdict` is OpenSSL's on the server's
/// certificate (X509_V_OK where that is not the reason). broker_unavailable: certificates are
/// changed while walrelay waits.
[[nodiscard]] error explain_tls(const connect_options& options, const std::string& server,
                                const boost::system::error_code& failure, long verdict);

/// The server has ended the connection because of the client's certificate, which with TLS 1.3 it
/// looks at only after the handshake; nothing where it was for another reason.
[[nodiscard]] std::optional<error> client_certificate_refused(
    const connect_options& options, const std::string& server,
    const boost::system::error_code& failure);

}  // namespace walrelay::nats
