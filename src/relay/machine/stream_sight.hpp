// What this process has seen of the stream, over all its connections. Pure; a part of the relay
// machine, and of a replay into another stream.
#pragma once

#include "core/instant.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace walrelay::relay {

class stream_sight {
public:
    /// Whether it was looked at.
    [[nodiscard]] bool is_known() const { return created_ != wall_time{}; }
    /// When the stream was made that was looked at last.
    [[nodiscard]] wall_time created() const { return created_; }
    /// Whether one that was made then is another one of this name.
    [[nodiscard]] bool was_made_again(wall_time created) const {
        return is_known() && created != created_;
    }
    void seen(wall_time created) {
        if (std::exchange(created_, created) != created) {
            stranger_told_ = 0;
        }
    }
    /// The last message of somebody else's. Returns whether nobody was told of it yet.
    [[nodiscard]] bool tells_of_stranger(std::uint64_t sequence) {
        const auto before = std::exchange(stranger_told_, std::max(stranger_told_, sequence));
        return sequence > before;
    }

private:
    wall_time created_;
    std::uint64_t stranger_told_ = 0;
};

}  // namespace walrelay::relay
