// What the command line asks of walrelay verify.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace walrelay::tasks {

struct verify_options {
    bool json = false;
    /// Also where standard error is no terminal.
    bool progress = false;
    /// How many findings of each kind are named.
    std::size_t named_limit = 20;
    /// How long rows that are not in the stream are waited for while a relay runs.
    std::chrono::milliseconds wait{30000};
    /// An SQL condition on the rows that are compared, or empty.
    std::string where;
    /// Leaves out what was there before the slot.
    bool since_slot = false;
    /// Leaves out what can have been in messages that are gone from the stream's beginning.
    bool excuses_removed = false;
};

}  // namespace walrelay::tasks
