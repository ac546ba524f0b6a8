// Who wrote the last messages of a stream. Through the library's blocking calls, on the worker
// thread.
#pragma once

#include "core/error.hpp"
#include "core/facts.hpp"
#include "nats/requests/handles.hpp"
#include "nats/session/connect_options.hpp"

#include <cstdint>

namespace walrelay::nats {

/// Reads the headers of the last `count` messages (see stream_reading), and fills `last_position`,
/// `safe_position`, `shared`, `placed`, `recent` and `looked_back`. `facts` has what the stream's
/// leader says of its last message: what a replica has after that does not count. Errors:
/// broker_unavailable, also where the replica lacks that message or has another one. `incoming`
/// must live until the connection is closed: nats.c 3.4.1 frees a subscription under the hands of
/// the thread that reads the socket. Of the options, the stream, the timeout and the prefix of the
/// inbox count.
[[nodiscard]] result<void> look_back(natsConnection* connection, const connect_options& options,
                                     std::uint64_t count, stream_facts& facts,
                                     subscription_handle& incoming);

}  // namespace walrelay::nats
