// Where an outbox event stands in the history of its database.
//
// A row LSN alone orders nothing, because transactions interleave in the WAL. The commit LSN of the
// transaction and the row LSN together do: within a transaction PostgreSQL sends changes in the
// order of their LSNs (src/backend/replication/logical/reorderbuffer.c). So a position depends on
// the WAL alone: not on the output plugin, nor on which tables are relayed.
//
// LSNs of two histories (another system identifier, another timeline) are compared only where one
// is a part of the other: core/lineage.hpp.
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
    /// Where the WAL record of the row begins: the start of its XLogData frame. 0 in positions of
    /// the first version, which counted the outbox events of the transaction instead.
    lsn row = {};
    /// Counts the rows of one WAL record, from 0 (a multi-insert holds several).
    std::uint64_t index = 0;

    friend constexpr auto operator<=>(const commit_position&, const commit_position&) = default;
};

/// Of the first version: comparable with others of the same commit only if those are so, too.
[[nodiscard]] constexpr bool counts_events(const commit_position& where) {
    return where.row == lsn{};
}

/// The place of rows that were there before the slot began at `consistent_point`: in front of
/// everything that the slot sends, after everything that was committed before. It is never that of
/// a transaction, because WAL records begin at multiples of 8 (MAXALIGN; PostgreSQL source,
/// src/backend/access/transam/README).
[[nodiscard]] constexpr lsn before_slot(lsn consistent_point) {
    return lsn{consistent_point.value - 1};
}
[[nodiscard]] constexpr bool is_of_a_snapshot(const commit_position& where) {
    constexpr std::uint64_t record_alignment = 8;
    return where.commit.value % record_alignment != 0;
}
/// Whether a message that was published of a table's row, as a snapshot or where a gap was healed,
/// can be of the row that was committed at `row`: its table had all that were committed before the
/// message's place. It is, if it has the row's id.
[[nodiscard]] constexpr bool can_stand_for(const commit_position& message,
                                           const commit_position& row) {
    return is_of_a_snapshot(message) && !is_of_a_snapshot(row) && row.commit < message.commit;
}

struct position {
    history origin;
    commit_position at;

    friend constexpr bool operator==(const position&, const position&) = default;
};

/// The text of the header `Walrelay-Position`:
/// `<system identifier>.<timeline>.<commit LSN, 16 hex digits>.<row LSN, 16 hex digits>.<index>`;
/// without the row LSN where that is 0.
[[nodiscard]] std::string to_string(const position& where);

/// Appends the same text; allocates only where `text` has to grow.
void append_to(std::string& text, const position& where);

/// The same in two parts: what all events of one transaction have in common, and the rest.
void append_transaction(std::string& text, const position& where);
void append_row(std::string& text, const position& where);

/// Reads the text of `Walrelay-Position`; nothing if it is anything else.
[[nodiscard]] std::optional<position> parse_position(std::string_view text);

}  // namespace walrelay
