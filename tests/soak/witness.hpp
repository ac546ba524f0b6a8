// What must be in the stream, as PostgreSQL itself tells it: a slot of its own with test_decoding.
#pragma once

#include "chaos/arena.hpp"

#include <set>
#include <string>
#include <vector>

namespace walrelay::soak {

struct expectation {
    /// Of all messages, in the order of their commits; see published_again.
    std::vector<std::string> keys;
    /// "<table> <id>" of the rows that can only become dead letters.
    std::multiset<std::string> dead;
};

/// Makes the slot: what is committed from now on counts.
void call_witness(chaos::arena& where);
[[nodiscard]] expectation ask_witness(chaos::arena& where);
/// "<table> <id>" of the dead letters that there are; of a partition its root.
[[nodiscard]] std::multiset<std::string> dead_letters(chaos::arena& where);

}  // namespace walrelay::soak
