// What is told of a message when the broker's ack for it has come: for traces. Nothing here decides
// anything, and a relay without an observer does not look at it.
#pragma once

#include "core/change.hpp"
#include "core/message.hpp"

#include <cstdint>

namespace walrelay {

struct acked_message {
    /// Lives until the call returns.
    const message& content;
    /// When it was handed to the connection that the ack came over.
    wall_time published_at;
    wall_time acked_at;
    /// Of the stream.
    std::uint64_t sequence = 0;
};

class ack_observer {
public:
    /// On the relay's thread, once for each ack, before anything else is done with it: it must
    /// neither wait nor throw.
    virtual void acked(const acked_message& what) noexcept = 0;

protected:
    ack_observer() = default;
    ack_observer(const ack_observer&) = default;
    ack_observer& operator=(const ack_observer&) = default;
    ~ack_observer() = default;
};

}  // namespace walrelay
