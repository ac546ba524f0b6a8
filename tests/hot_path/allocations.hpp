// Counts what a program takes from the heap through operator new, exactly. Linking this replaces
// the operators of the whole program; it knows nothing of what is measured.
#pragma once

#include <cstdint>

namespace walrelay::test {

struct allocations {
    std::uint64_t count = 0;
    std::uint64_t bytes = 0;

    friend allocations operator-(const allocations& later, const allocations& earlier) {
        return {later.count - earlier.count, later.bytes - earlier.bytes};
    }
};

/// Since the start of the program. For programs of one thread.
[[nodiscard]] allocations allocated_so_far();

}  // namespace walrelay::test
