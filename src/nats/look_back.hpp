// Who wrote the last messages of a stream. Through the library's blocking calls, on the worker
// thread.
#pragma once

#include "core/error.hpp"
#include "core/facts.hpp"
#include "nats/handles.hpp"

#include <chrono>
#include <cstdint>
#include <string>

namespace walrelay::nats {

/// Reads the headers of the last `count` messages, through a consumer that the server forgets soon
/// afterwards, and fills `last_sequence`, `last_position`, `final_position`, `final_id`,
/// `safe_position`, `shared` and `looked_back`: what the stream ends with comes from the last of
/// them. broker_unavailable also where that lies before the last message that is known. `incoming`
/// must live until the connection is closed: nats.c 3.4.1 frees a subscription under the hands of
/// the thread that reads the socket. Errors: broker_unavailable.
[[nodiscard]] result<void> look_back(natsConnection* connection, const std::string& stream,
                                     std::uint64_t count, std::chrono::milliseconds timeout,
                                     stream_facts& facts, subscription_handle& incoming);

}  // namespace walrelay::nats
