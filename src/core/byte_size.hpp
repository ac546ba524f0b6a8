// A number of bytes, so that it is not mistaken for a count of messages.
#pragma once

#include <compare>
#include <cstdint>

namespace walrelay {

struct byte_size {
    std::uint64_t bytes = 0;

    friend constexpr auto operator<=>(byte_size, byte_size) = default;
};

}  // namespace walrelay
