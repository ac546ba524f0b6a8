// Where an outbox event stands in the history of its database.
//
// A row LSN is neither unique nor in commit order, so a Position is made of the commit LSN of the
// event's transaction and the event's ordinal in it. LSNs of two histories (another system
// identifier, another timeline) cannot be compared; `same_history` asks first.
#pragma once

#include "core/lsn.hpp"

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace walrelay {

/// Which history of which database cluster; from IDENTIFY_SYSTEM.
struct history {
    std::uint64_t system_identifier = 0;
    std::uint32_t timeline = 0;

    friend constexpr bool operator==(const history&, const history&) = default;
};

/// Where an event stands within one history. Orders events as they were committed.
struct commit_position {
    lsn commit;
    /// Counts the outbox events of the transaction, from 0.
    std::uint64_t ordinal = 0;

    friend constexpr auto operator<=>(const commit_position&, const commit_position&) = default;
};

/// The place of rows that were there before the slot began at `consistent_point`: in front of
/// everything that the slot sends, behind everything that was committed before. It is never that of
/// a transaction, because WAL records begin at multiples of 8 (MAXALIGN; PostgreSQL source,
/// src/backend/access/transam/README).
[[nodiscard]] constexpr lsn before_slot(lsn consistent_point) {
    return lsn{consistent_point.value - 1};
}
[[nodiscard]] constexpr bool is_of_a_snapshot(const commit_position& where) {
    constexpr std::uint64_t record_alignment = 8;
    return where.commit.value % record_alignment != 0;
}

struct position {
    history origin;
    commit_position at;

    friend constexpr bool operator==(const position&, const position&) = default;
};

/// The text of the header `Walrelay-Position`:
/// `<system identifier>.<timeline>.<commit LSN, 16 hex digits>.<ordinal>`.
[[nodiscard]] std::string to_string(const position& where);

/// Appends the same text; allocates only where `text` has to grow.
void append_to(std::string& text, const position& where);

/// The same in two parts: what all events of one transaction have in common, and the rest.
void append_transaction(std::string& text, const position& where);
void append_ordinal(std::string& text, const position& where);

/// Reads the text of `Walrelay-Position`; nothing if it is anything else.
[[nodiscard]] std::optional<position> parse_position(std::string_view text);

}  // namespace walrelay
