// The history of the server that a connection reaches: its timeline, and where its ancestors ended.
//
// A promotion begins a timeline with a greater number and leaves the LSNs as they were: what lies
// before the switch point is common to both, what lies after it on the old one is a dead branch.
// The number alone says too little, because two standbys can be promoted to the same one; the
// switch points tell them apart.
// Source: PostgreSQL documentation, "Continuous Archiving", section "Timelines", and "Streaming
// Replication Protocol", TIMELINE_HISTORY.
#pragma once

#include "core/lsn.hpp"
#include "core/position.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace walrelay {

/// A timeline that ended, and the switch point: the first byte that is no longer its own.
struct timeline_end {
    std::uint32_t timeline = 0;
    lsn at;

    friend constexpr bool operator==(const timeline_end&, const timeline_end&) = default;
};

/// One history from its beginning to the server's own timeline.
struct lineage {
    history origin;
    /// From the oldest to the parent of `origin.timeline`; empty on the first timeline, and where
    /// the server no longer has the file.
    std::vector<timeline_end> ancestors = {};

    /// Where `timeline` ended on the way to this server: nothing for its own, which goes on, and
    /// for one that is no ancestor.
    [[nodiscard]] std::optional<lsn> end_of(std::uint32_t timeline) const;
    /// Whether `timeline` is this server's own or one that it descends from.
    [[nodiscard]] bool includes(std::uint32_t timeline) const;
    /// The timeline that wrote this place; the server's own also where its ancestors are not known.
    [[nodiscard]] std::uint32_t timeline_of(lsn place) const;
    /// Whether a transaction of this position is a part of this history, so that its LSNs can be
    /// compared with the server's own.
    [[nodiscard]] bool shares(const position& where) const;
    /// Whether a message of this position is of a branch that this server has left, or never went:
    /// its row is not in the database, and one of the same id is another row. A position of another
    /// system tells nothing (data are dumped and loaded), nor does an older timeline where the
    /// server has no history file any more.
    [[nodiscard]] bool has_left(const position& where) const;
    /// The history as it was when this timeline, one of it, was the newest.
    [[nodiscard]] lineage as_of(std::uint32_t timeline) const;

    friend bool operator==(const lineage&, const lineage&) = default;
};

/// How far a standby had replayed the WAL when `timeline` was still the one that it followed.
struct replay_place {
    lsn up_to;
    std::uint32_t timeline = 0;
};

/// What a connection reaches.
struct server_identity {
    lineage line;
    /// The end of the WAL that the server had flushed (a standby: received or replayed).
    lsn wal_end;

    friend bool operator==(const server_identity&, const server_identity&) = default;
};

/// Reads the content of a timeline history file: lines of timeline, switch point and reason, apart
/// by blanks. Nothing if a line is anything else; empty lines and comments (#) count for nothing.
[[nodiscard]] std::optional<std::vector<timeline_end>> parse_timeline_history(
    std::string_view content);

/// The switch points as text, "1@0/3000000,2@0/5000000"; empty if there are none.
[[nodiscard]] std::string to_string(const std::vector<timeline_end>& ends);
[[nodiscard]] std::optional<std::vector<timeline_end>> parse_timeline_ends(std::string_view text);

}  // namespace walrelay
