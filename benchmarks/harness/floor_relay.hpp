// The least that a relay could be: reads rows from a replication connection and publishes a message
// of the same bytes for each at once. It checks nothing, keeps nothing and survives nothing; what
// it takes is what the two servers take.
#pragma once

#include "harness/contender.hpp"

#include <chrono>
#include <cstdint>
#include <vector>

namespace walrelay::bench {

/// By row number, index 0 is not used. The clock's epoch where nothing was seen.
struct floor_moments {
    std::vector<std::chrono::steady_clock::time_point> row_seen;
    std::vector<std::chrono::steady_clock::time_point> acked;
};

/// Notes in `into`, which must outlive it, when each row came and when its ack did, for as many
/// rows as there is room.
[[nodiscard]] contender floor_contender(const std::string& plugin, floor_moments& into);

}  // namespace walrelay::bench
