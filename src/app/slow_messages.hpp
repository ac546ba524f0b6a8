// What the log says of a message that took long from commit to ack: the slowest of the last minute,
// once a minute at most.
#pragma once

#include "core/instant.hpp"
#include "core/log_entry.hpp"
#include "core/relay_status.hpp"

#include <chrono>
#include <optional>

namespace walrelay::app {

class slow_messages {
public:
    /// `threshold`: 0 for none. What was committed before `started` says nothing of this relay.
    slow_messages(std::chrono::milliseconds threshold, wall_time started)
        : threshold_(threshold), started_(started) {}

    /// Called with each sample. Gives the line that is due, if there is one.
    [[nodiscard]] std::optional<log_entry> line_at(const relay_status& status, instant now);

private:
    std::chrono::milliseconds threshold_;
    wall_time started_;
    std::optional<monotonic_time> said_at_;
    /// When the message was stored that was told last.
    wall_time said_of_;
};

}  // namespace walrelay::app
