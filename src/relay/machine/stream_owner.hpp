// Whom a stream belongs to: the slot and the database that are relayed into it, as a mark in its
// description. Pure.
//
// A position does not name its database, so that two relays of different slots which write into one
// stream would each skip rows of the other. The system identifier tells a restored or upgraded
// server; it alone forbids nothing.
//
// The rest of the mark says under which rules the stream's last message is a checkpoint: which
// tables were relayed, by a sole writer or not, from which history. Where they have changed, the
// messages are compared with what the slot sends, one by one (relay/stored_rows). It says as well
// since when the id of a message stands for the row that it would stand for today.
#pragma once

#include "core/lineage.hpp"
#include "preflight/preflight.hpp"
#include "relay/checkpoint/evidence.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace walrelay::relay {

/// The ids of one table's messages.
struct id_rules {
    /// One of fingerprints_of_ids.
    std::string fingerprint;
    /// What was published by other rules was committed before it.
    lsn since = {};

    friend bool operator==(const id_rules&, const id_rules&) = default;
};

struct stream_owner {
    std::string slot;
    std::string database;
    std::uint64_t system_identifier = 0;  // 0 is not known
    /// As of core/lineage.hpp; 0 is not known.
    std::uint32_t timeline = 0;
    std::vector<timeline_end> ancestors = {};
    /// fingerprint_of what is relayed, or what is below in its place; empty is not known.
    std::string rules = {};
    /// Rows that committed before it need not have been relayed by these rules: the slot stood here
    /// when they came, or the witness told of all rows before. It can go back to before that.
    lsn since = {};
    /// Rows were published after later ones after the one sequence and until the other, which is
    /// nothing where that has not ended.
    std::uint64_t disordered_after = 0;
    std::optional<std::uint64_t> disordered_until = 0;
    /// No row of those committed from here on.
    lsn disordered_below = {};
    /// Of the tables that are relayed; empty in a mark of a version that did not know it.
    std::vector<id_rules> ids = {};

    friend bool operator==(const stream_owner&, const stream_owner&) = default;
};

/// Before a fingerprint, or in its place: walrelay is not the only writer.
inline constexpr std::string_view shared_rules = "shared";
/// In its place, or before that: the messages are being compared, so that the last one says
/// nothing.
inline constexpr std::string_view comparing_rules = "comparing";
/// The same, and their ids as well, because LSNs of another history may be used again.
inline constexpr std::string_view comparing_ids_rules = "comparing-ids";

/// After one of these two: see may_have_holes.
inline constexpr std::string_view holes_rules = "holes";

[[nodiscard]] inline bool is_shared(const stream_owner& owner) {
    return owner.rules.starts_with(shared_rules);
}
[[nodiscard]] inline bool is_being_compared(const stream_owner& owner) {
    return owner.rules.starts_with(comparing_rules);
}
[[nodiscard]] inline bool is_compared_with_ids(const stream_owner& owner) {
    return owner.rules.starts_with(comparing_ids_rules);
}
/// Others wrote beside walrelay, or tables were added, and not every row has been compared since:
/// each may be missing, also before later ones.
[[nodiscard]] inline bool may_have_holes(const stream_owner& owner) {
    return is_shared(owner) || owner.rules.find(holes_rules) != std::string::npos;
}
/// The rules of such a mark.
[[nodiscard]] std::string rules_of_comparison(std::string_view fingerprint, bool with_ids,
                                              bool has_holes);
/// What stands in the place of the mark `then` while it is not known to hold.
[[nodiscard]] stream_owner being_compared(stream_owner then, bool with_ids = false);
/// The fingerprint alone.
[[nodiscard]] std::string_view fingerprint_in(const stream_owner& owner);

/// From where on the stream is to be called disordered if another disorder begins after sequence
/// `known`: an earlier one counts as long as the slot sends rows of it, or can go back to them.
/// `known` is the last sequence that the stream has.
[[nodiscard]] std::uint64_t disordered_from(const std::optional<stream_owner>& mark,
                                            lsn slot_confirmed, std::uint64_t known);

/// Of everything in the configuration that decides which changes are events, and their message ids;
/// 16 hex digits.
[[nodiscard]] std::string fingerprint_of(const std::vector<outbox_table>& tables);

/// Of what decides which message stands for which row, one for each table. Those of many tables
/// are one and the same, of all of them: the mark has room for no more.
[[nodiscard]] std::vector<std::string> fingerprints_of_ids(const std::vector<outbox_table>& tables);
/// The same of one table by itself.
[[nodiscard]] std::string fingerprint_of_ids(const outbox_table& table);
/// Those of a mark that have this fingerprint.
[[nodiscard]] std::optional<id_rules> ids_in(const std::optional<stream_owner>& mark,
                                             std::string_view fingerprint);

/// The same of any texts, in whatever order.
[[nodiscard]] std::string fingerprint_of_texts(std::vector<std::string> parts);

/// The mark: `walrelay slot=<slot> database=<database> system=<identifier>`, and where they are
/// known ` timeline=<number> history=<switch points> rules=<rules>.<since>
/// disordered=<after>-<until>-<below> ids=<fingerprint>.<since>-...`. What is neither a letter, a
/// digit nor one of `-._` stands there as %XX.
[[nodiscard]] std::string to_string(const stream_owner& owner);

/// The mark in a description, wherever it stands there; nothing if there is none.
[[nodiscard]] std::optional<stream_owner> owner_in(std::string_view description);

/// The mark in a description, if it is that of this slot and database; an empty database is any.
[[nodiscard]] std::optional<stream_owner> own_mark(std::string_view description,
                                                   std::string_view slot,
                                                   std::string_view database);

/// Which messages may be of rows that were published late, where the mark says so.
[[nodiscard]] std::optional<disorder> late_rows_of(const std::optional<stream_owner>& mark);

/// What the description is to become, for this owner: the mark where it is empty, the same text
/// with the new mark where slot and database are the same. Nothing if it stays as it is.
[[nodiscard]] std::optional<std::string> description_to_claim(const stream_owner& owner,
                                                              std::string_view description);

/// An error where the stream is marked as another's, although walrelay is to be its only writer.
[[nodiscard]] std::vector<finding> owner_findings(const preflight::expectations& wanted,
                                                  const stream_owner& owner,
                                                  std::string_view description);

}  // namespace walrelay::relay
