// What a connection to the broker tells while it publishes.
#pragma once

#include "core/error.hpp"

#include <cstdint>
#include <functional>
#include <string_view>

namespace walrelay::nats {

/// The broker's answer to one publish.
struct reply {
    std::uint64_t epoch = 0;
    std::uint64_t index = 0;
    std::string_view body;  // valid during the call
};

struct connection_events {
    std::function<void(const reply&)> on_reply;
    /// All replies that had arrived have been told.
    std::function<void()> on_replies_end;
    /// The connection was full, and takes publishes again.
    std::function<void()> on_room;
    /// The connection is over, or nobody serves the subject any more. Called at most once.
    std::function<void(error)> on_lost;
    /// JetStream's answer to ask_stream: JSON, valid during the call. One of the replies: see
    /// on_replies_end.
    std::function<void(std::string_view)> on_stream_info = {};
};

}  // namespace walrelay::nats
