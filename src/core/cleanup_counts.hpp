// What the clean-up of one table has done, and how far it is behind. Plain data, for those who
// watch it.
#pragma once

#include "core/change.hpp"
#include "core/relay_counts.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <optional>

namespace walrelay {

struct cleanup_counts {
    std::uint64_t rows_deleted = 0;
    /// Tries that failed, each followed by another one.
    std::array<std::uint64_t, lost_reason_count> failures{};
    /// Whether it was looked what is due.
    bool is_known = false;
    /// Since when the oldest row is due that is not deleted; nothing where none is.
    std::optional<wall_time> owed_since = {};

    /// Rows are due since then. What was owed before is owed still.
    void owes_since(wall_time due) {
        is_known = true;
        owed_since = owed_since ? std::min(*owed_since, due) : due;
    }
    void owes_nothing() {
        is_known = true;
        owed_since.reset();
    }
    void failed(const error& why) { ++failures[static_cast<std::size_t>(reason_of(why))]; }
    /// Nothing before it is known.
    [[nodiscard]] std::optional<std::chrono::microseconds> lag(wall_time now) const {
        constexpr std::chrono::microseconds none{0};
        if (!is_known) {
            return std::nullopt;
        }
        return owed_since ? std::max(none, now - *owed_since) : none;
    }
};

}  // namespace walrelay
