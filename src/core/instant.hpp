// Now, as an argument: the pure part never asks a clock.
#pragma once

#include "core/change.hpp"

#include <chrono>

namespace walrelay {

/// A point on the monotonic clock: all deadlines and delays.
using monotonic_time = std::chrono::steady_clock::time_point;

struct instant {
    monotonic_time monotonic;
    /// Only for what people and servers read: the client's clock in a status update, latencies.
    wall_time wall;
};

}  // namespace walrelay
