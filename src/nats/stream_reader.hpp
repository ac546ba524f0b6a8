// What the broker says of a stream, through the library's blocking calls. On the worker thread.
#pragma once

#include "core/error.hpp"
#include "core/facts.hpp"
#include "nats/connect_options.hpp"
#include "nats/handles.hpp"

#include <chrono>
#include <string>

namespace walrelay::nats {

/// Errors: broker_unavailable (JetStream is not ready, no answer), broker_unsuitable (no
/// permission).
[[nodiscard]] result<broker_facts> read_broker(natsConnection* connection,
                                               const std::string& stream,
                                               std::chrono::milliseconds timeout);

/// Errors as above; broker_unsuitable with the server's words where the definition is refused.
[[nodiscard]] result<void> make_stream(natsConnection* connection,
                                       const stream_definition& definition,
                                       std::chrono::milliseconds timeout);

/// The library's last error on this thread, or the text of the status.
[[nodiscard]] std::string last_error_text(natsStatus status);

}  // namespace walrelay::nats
