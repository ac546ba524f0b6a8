// What the broker says of a stream, through the library's blocking calls. On the worker thread.
#pragma once

#include "core/error.hpp"
#include "core/facts.hpp"
#include "nats/requests/handles.hpp"
#include "nats/session/connect_options.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace walrelay::nats {

/// What the stream ends with (sequence, position and id) comes from one message, because two
/// requests can be answered by two servers. Of the options, these count: the stream, the timeout,
/// the prefix of the inbox; `look_back`, how many of the stream's last messages are to be looked
/// at, 0 for the last one, and more only if that is not walrelay's; `asks_for`, the sequence of a
/// message that is wanted as well, 0 for none. Errors: broker_unavailable (JetStream is not ready,
/// no answer), broker_unsuitable (no permission). `incoming` as for nats/look_back.
/// `domain` becomes the JetStream domain of the stream, empty where that has none.
[[nodiscard]] result<broker_facts> read_broker(natsConnection* connection,
                                               const connect_options& options,
                                               subscription_handle& incoming,
                                               std::string* domain = nullptr);

/// Errors as above; broker_unsuitable with the server's words where the definition is refused.
[[nodiscard]] result<void> make_stream(natsConnection* connection, const connect_options& options,
                                       const stream_definition& definition);

/// The library's last error on this thread, without the place in its sources; else the text of the
/// status.
[[nodiscard]] std::string last_error_text(natsStatus status);

/// `failure` with those words: as the server's where it has answered, else after `what`.
[[nodiscard]] error with_last_error(error failure, natsStatus status);

}  // namespace walrelay::nats
