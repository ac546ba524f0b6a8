// What the consumers among the test support share: handles of nats.c that free themselves, errors,
// and what a delivered message says.
#pragma once

#include "support/stream_reader.hpp"

#include <nats/nats.h>

#include <chrono>
#include <memory>
#include <string>

namespace walrelay::test {

template <class Handle, void (*Destroy)(Handle*)>
struct destroy_with {
    void operator()(Handle* handle) const { Destroy(handle); }
};

template <class Handle, void (*Destroy)(Handle*)>
using owned = std::unique_ptr<Handle, destroy_with<Handle, Destroy>>;

using connection_handle = owned<natsConnection, natsConnection_Destroy>;
using jetstream_handle = owned<jsCtx, jsCtx_Destroy>;
using message_handle = owned<natsMsg, natsMsg_Destroy>;
using subscription_handle = owned<natsSubscription, natsSubscription_Destroy>;

/// Throws std::runtime_error with the library's words unless the status is NATS_OK.
void require(natsStatus status, const std::string& what);

/// `url` may be several with commas in between.
[[nodiscard]] connection_handle connect_to(const std::string& url);
[[nodiscard]] jetstream_handle jetstream_of(
    natsConnection* connection, std::chrono::milliseconds patience = std::chrono::seconds(5));

struct delivery {
    stored_message content;
    /// Nothing is left in the stream behind it.
    bool last = false;
};

/// Of a message that was read from a stream without a consumer.
[[nodiscard]] stored_message stored_content_of(natsMsg* message);

/// Of a message that a JetStream consumer delivered.
[[nodiscard]] delivery delivery_of(natsMsg* message);

}  // namespace walrelay::test
