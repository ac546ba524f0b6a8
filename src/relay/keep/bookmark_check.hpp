// Whether a bookmark can be made, and what it would cost: what is dangerous is refused unless the
// operator insists. Pure.
#pragma once

#include "core/error.hpp"
#include "core/kept_position.hpp"

#include <chrono>
#include <optional>
#include <string>

namespace walrelay::relay {

struct bookmark_wish {
    /// Of the relay.
    std::string slot = {};
    std::string name = {};
    /// Nothing is never.
    std::optional<std::chrono::milliseconds> expires_after = {};
    /// --force.
    bool insists = false;
};

/// How many replication slots stay free after one more is taken.
[[nodiscard]] std::int64_t slots_left_after(const kept_positions& found);

/// Nothing where it can be made. errc::configuration_invalid for a name that cannot be used or is
/// taken, else errc::postgres_unsuitable.
[[nodiscard]] std::optional<error> trouble_with_bookmark(const bookmark_wish& wanted,
                                                         const kept_positions& found);

}  // namespace walrelay::relay
