// What is said of a look at the kept positions that failed. Pure.
#pragma once

#include "core/error.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace walrelay::tasks {

/// Whether the slot has kept positions, as of the last look that was answered.
enum class kept_sight : std::uint8_t { unknown, none, some };

struct failed_look {
    std::string text = {};
    /// Else it usually passes, or nobody may have a position that is not looked after.
    bool is_warning = false;
};

/// Nothing where there are no positions to look after. `failures` are the looks in a row that
/// failed, with this one.
[[nodiscard]] std::optional<failed_look> say_of_failed_look(kept_sight sight, bool is_wanted,
                                                            int failures, const error& why);

}  // namespace walrelay::tasks
