// Positions that are kept for a replay: bookmarks and the trail. Each is a replication slot that
// stands still while the relay's own slot goes on. Plain data and the names of the slots.
#pragma once

#include "core/change.hpp"
#include "core/error.hpp"
#include "core/lsn.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace walrelay {

enum class kept_kind {
    /// `<slot>_at_<name>`: made by a person, with an expiry.
    bookmark,
    /// `<slot>_trail`: moved along by the relay, replay.keep behind its slot.
    trail,
};

enum class kept_state {
    /// It can be replayed from.
    kept,
    /// The slot is there, and PostgreSQL has removed its WAL or invalidated it otherwise.
    lost,
    /// walrelay.bookmark has it, and there is no such slot: dropped by somebody, left behind by a
    /// failover, or never finished.
    gone,
};

[[nodiscard]] constexpr const char* to_string(kept_state state) {
    switch (state) {
        case kept_state::lost:
            return "lost";
        case kept_state::gone:
            return "gone";
        default:
            return "kept";
    }
}

struct kept_position {
    /// Of the replication slot.
    std::string slot = {};
    kept_kind kind = kept_kind::bookmark;
    /// Of the bookmark, as it was given; empty for the trail.
    std::string name = {};
    /// walrelay.bookmark has it; else it was made by hand, and merely has such a name.
    bool is_ours = false;
    /// Where the bookmark of that name was made, if the slot stands elsewhere: somebody has moved
    /// the slot or made it again, and rows from between are not in it.
    std::optional<lsn> made_at_lsn = {};
    kept_state state = kept_state::kept;
    /// Why it is lost, in PostgreSQL's word; empty where that does not say.
    std::string lost_for = {};
    std::string plugin = {};
    bool failover = false;
    /// A session uses the slot at this moment.
    bool active = false;
    /// What is sent is what committed after it: confirmed_flush_lsn.
    std::optional<lsn> confirmed = {};
    /// From where PostgreSQL keeps WAL for it; nothing where it keeps none.
    std::optional<lsn> restart = {};
    /// Every transaction that committed at or after this time can be replayed. Nothing where that
    /// is not known: of slots that were made by hand.
    std::optional<wall_time> covers_from = {};
    std::optional<wall_time> made_at = {};
    /// Nothing is never.
    std::optional<wall_time> expires_at = {};
    std::string comment = {};
    /// WAL from `restart` to its end.
    std::uint64_t held_bytes = 0;
    /// Transactions since the oldest one whose catalog rows the slot keeps.
    std::uint64_t catalog_age_transactions = 0;
    /// Since when no session has used the slot; from PostgreSQL 17 on.
    std::optional<wall_time> idle_since = {};
};

/// The relay's own slot, of which kept positions are copies.
struct kept_source {
    std::string plugin = {};
    lsn confirmed = {};
    std::optional<lsn> restart = {};
    std::string wal_status = {};  // reserved | extended | unreserved | lost
    bool failover = false;
};

/// A replay that has not come to its end (walrelay.replay): what it reads from must stay.
struct unfinished_replay {
    /// Empty where it reads rows from their table.
    std::string kept_slot = {};
    /// How far it has come; before its first row where it begins, if that is known.
    std::optional<lsn> at = {};
    std::int64_t number = 0;
    std::uint64_t rows_planned = 0;
    std::uint64_t rows_written = 0;
};

/// All that the server says of the kept positions of one slot, at one moment.
struct kept_positions {
    /// The server's clock.
    wall_time read_at = {};
    bool in_recovery = false;
    /// pg_current_wal_lsn(), on a standby what is replayed.
    lsn wal_end = {};
    /// Nothing where the relay's slot is not there.
    std::optional<kept_source> source = {};
    /// Of max_replication_slots; temporary ones are counted as free.
    std::int64_t slots_free = 0;
    /// idle_replication_slot_timeout, 0 is never.
    std::chrono::seconds idle_timeout{0};
    /// max_slot_wal_keep_size; nothing where it sets no limit.
    std::optional<std::uint64_t> wal_limit_bytes = {};
    /// walrelay.bookmark is there and can be read. Without, every kept slot counts as made by hand.
    bool is_register_readable = false;
    /// The oldest first.
    std::vector<kept_position> all = {};
    std::vector<unfinished_replay> replays = {};
};

/// Why a relay gives a kept position up, or moves the trail on before its time.
enum class giving_way {
    expired,
    /// replay.max_wal.
    max_wal,
    /// The relay's slot is about to lose its WAL.
    slot_in_danger,
    /// No replication slot is free.
    no_free_slot,
    /// PostgreSQL has removed the WAL of the trail, so that it keeps nothing any more.
    lost,
    /// replay.keep is not set any more.
    unwanted,
};
inline constexpr std::size_t giving_way_count = 6;
[[nodiscard]] const char* to_string(giving_way why);
/// Neither its expiry nor the configuration has asked for it.
[[nodiscard]] constexpr bool is_before_its_time(giving_way why) {
    return why != giving_way::expired && why != giving_way::unwanted;
}

/// What a relay gave up. Never taken back.
struct kept_counts {
    std::array<std::uint64_t, giving_way_count> bookmarks{};
    std::array<std::uint64_t, giving_way_count> trails{};
    /// Moves of the trail for lack of room, not those that replay.keep asks for.
    std::array<std::uint64_t, giving_way_count> moved_on{};
};

/// What they hold together: they share their WAL.
[[nodiscard]] std::uint64_t held_bytes_of(const kept_positions& of);

/// That unfinished replays have still to write.
[[nodiscard]] std::uint64_t remaining_rows_of(const kept_positions& of);

/// Null where there is none, or none of that name.
[[nodiscard]] const kept_position* find_bookmark(const kept_positions& in, std::string_view name);
[[nodiscard]] const kept_position* find_trail(const kept_positions& in);

/// What was kept can be read from it. errc::position_not_kept where PostgreSQL has removed its WAL,
/// or the slot is not where the bookmark was made.
[[nodiscard]] result<void> require_as_kept(const kept_position& one);

/// `<slot>_trail`.
[[nodiscard]] std::string trail_slot_name(std::string_view slot);
/// `<slot>_at_<name>`, with `_` in the place of `-`.
[[nodiscard]] std::string bookmark_slot_name(std::string_view slot, std::string_view name);
/// What a name of a bookmark of this slot must be changed in; nothing where it can be used.
[[nodiscard]] std::optional<std::string> trouble_with_bookmark_name(std::string_view slot,
                                                                    std::string_view name);

}  // namespace walrelay
