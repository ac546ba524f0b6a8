// What the relay that holds a slot does about the positions that are kept behind it: where the
// trail goes, and what gives way where room is short. Pure: from what the server says to a list of
// steps.
//
// Three rules stand above all others. A kept position never stands after the relay's slot; what a
// replay still reads is left alone as long as the relay's slot is not in danger; and what walrelay
// did not make is never touched.
#pragma once

#include "core/byte_size.hpp"
#include "core/kept_position.hpp"
#include "core/lsn.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace walrelay::relay {

/// From the configuration.
struct keep_rules {
    /// replay.keep; nothing keeps no trail.
    std::optional<std::chrono::milliseconds> keep = {};
    /// replay.max_wal.
    byte_size max_wal = {};
};

/// The relay's slot had confirmed `position` at `seen_at`: what committed later comes after it.
struct trail_mark {
    lsn position = {};
    wall_time seen_at = {};
};

struct kept_drop {
    kept_position what = {};
    giving_way why = giving_way::expired;
};

struct trail_move {
    lsn to = {};
    /// Nothing where replay.keep asks for it.
    std::optional<giving_way> early = {};
    /// A replay that has not come to its end loses rows by it.
    bool cuts_replay = false;
};

/// Why there is no trail although replay.keep is set.
enum class trail_trouble {
    none,
    /// A slot of that name is there which walrelay did not make.
    foreign_slot,
    /// Making it would take the last free replication slot.
    no_free_slot,
};

/// In the order in which it is to be done.
struct keep_plan {
    std::vector<kept_drop> drops = {};
    /// To be remembered, with the server's clock.
    std::optional<lsn> mark = {};
    bool make_trail = false;
    trail_trouble trouble = trail_trouble::none;
    std::optional<trail_move> move = {};
    /// Use it, so that idle_replication_slot_timeout does not end it.
    bool touch_trail = false;
    /// Slots that standbys are to keep a copy of, as they do of the relay's.
    std::vector<std::string> to_fail_over = {};
};

/// How often a mark is made: some 1,440 of them reach back for `keep`.
[[nodiscard]] std::chrono::milliseconds time_between_marks(std::chrono::milliseconds keep);
/// How often the server is to be looked at.
[[nodiscard]] std::chrono::milliseconds time_between_looks(const keep_rules& rules);

/// Nothing where the relay's slot is not there, or on a standby. `marks` in the order of their
/// positions.
[[nodiscard]] keep_plan plan_keeping(const keep_rules& rules, const kept_positions& found,
                                     const std::vector<trail_mark>& marks);

}  // namespace walrelay::relay
