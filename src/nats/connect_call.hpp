// Connections of nats.c with its blocking calls, for all that is not a publish. Only for the .cpp
// files of this folder.
#pragma once

#include "core/error.hpp"
#include "nats/connect_options.hpp"
#include "nats/handles.hpp"

#include <optional>
#include <string>

namespace walrelay::nats {

/// Connects, on the calling thread. The library never reconnects, and prints nothing. Errors:
/// broker_unavailable; broker_unsuitable, naming the key that cannot be used.
[[nodiscard]] result<connection_handle> connect_blocking(const connect_options& to);

/// What the broker said of a request that is not permitted: it is not answered, the refusal is an
/// event of the connection.
[[nodiscard]] std::optional<std::string> refusal_of(natsConnection* connection);

/// broker_unavailable with the library's words.
[[nodiscard]] error unavailable(std::string what, natsStatus status);

}  // namespace walrelay::nats
