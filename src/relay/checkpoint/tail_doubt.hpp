// Whether a look at the stream's end is believed that shows less than is known to be stored. Pure;
// a part of the relay machine.
//
// A server that has just started or been elected may say less than it is about to know. One that
// was cut off goes on leading for up to twenty seconds (lostQuorumInterval, looked at every
// lostQuorumCheck, server/raft.go), and does not know what the others have stored since.
#pragma once

#include "core/instant.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

namespace walrelay::relay {

class tail_doubt {
public:
    /// A look shows all that is known, or more.
    void settled() { *this = {}; }
    /// A look shows less. Whether it is to be doubted still, and the stream looked at again; false
    /// where it has said so long enough, and often enough. Between two looks that are far apart
    /// another server can have gone: of such a time only a part counts.
    [[nodiscard]] bool doubts(bool in_a_cluster, monotonic_time now) {
        constexpr std::uint32_t looks = 3;
        constexpr std::chrono::seconds alone{1};
        constexpr std::chrono::seconds of_cluster{25};
        constexpr monotonic_time::duration apart = std::chrono::seconds(10);
        watched_ += std::min(now - last_look_.value_or(now), apart);
        last_look_ = now;
        if (++count_ >= looks && watched_ >= (in_a_cluster ? of_cluster : alone)) {
            settled();
            return false;
        }
        return true;
    }

private:
    std::optional<monotonic_time> last_look_;
    monotonic_time::duration watched_{0};
    std::uint32_t count_ = 0;
};

}  // namespace walrelay::relay
