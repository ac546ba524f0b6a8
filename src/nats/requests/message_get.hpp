// One message of a stream, from the server that leads it: without a consumer, in one answer. On the
// worker thread.
#pragma once

#include "core/error.hpp"
#include "nats/requests/handles.hpp"
#include "nats/session/connect_options.hpp"

#include <cstdint>
#include <string>

namespace walrelay::nats {

/// Nothing where the stream has no message of that sequence. Errors: broker_unavailable.
[[nodiscard]] result<message_handle> message_at(jsCtx* jetstream, const std::string& stream,
                                                std::uint64_t sequence);

/// The sequence of the first message that does not come before `sequence` and has a subject like
/// this; 0 if there is none. Errors: broker_unavailable.
[[nodiscard]] result<std::uint64_t> next_from(natsConnection* connection,
                                              const connect_options& options,
                                              std::uint64_t sequence,
                                              const std::string& subject = ">");

}  // namespace walrelay::nats
