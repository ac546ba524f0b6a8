// The certificates of a connection through TLS, from the files of the configuration.
#pragma once

#include "core/error.hpp"
#include "nats/session/connect_options.hpp"

#include <boost/asio/ssl/context.hpp>

#include <memory>

namespace walrelay::nats {

/// TLS 1.2 or newer; believes the system's authorities where no other is configured. Errors:
/// broker_unsuitable, naming the file that cannot be used.
[[nodiscard]] result<std::shared_ptr<boost::asio::ssl::context>> make_tls_context(
    const connect_options& from);

}  // namespace walrelay::nats
