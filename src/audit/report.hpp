// What a comparison found. Plain values; app gives them their words.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace walrelay::audit {

enum class finding_kind : std::uint8_t {
    /// A row that is in neither the stream nor the dead letters, and that no slot will bring.
    missing,
    /// The same, but the slot may still bring it.
    undelivered,
    /// A message id that is in the stream more often than in the tables.
    twice,
    /// A message whose position is not after that of the one before it in its history.
    out_of_order,
    /// A message that walrelay did not write, and that no row stands for.
    foreign,
    /// A message of a history that the database does not have (any more), without a row.
    orphaned,
};

inline constexpr std::array all_finding_kinds = {finding_kind::missing, finding_kind::undelivered,
                                                 finding_kind::twice,   finding_kind::out_of_order,
                                                 finding_kind::foreign, finding_kind::orphaned};

[[nodiscard]] constexpr std::string_view to_string(finding_kind kind) {
    constexpr std::array<std::string_view, all_finding_kinds.size()> names = {
        "missing", "undelivered", "twice", "out_of_order", "foreign", "orphaned"};
    return names[static_cast<std::size_t>(kind)];
}

/// What a kind of finding does not have stays empty or 0. Texts are printable, but for the last.
struct finding {
    std::string table = {};
    std::string id = {};
    std::uint64_t sequence = 0;
    std::string position = {};
    std::string detail = {};
    /// Of a row: its message id as it is, however long.
    std::string message_id = {};
    /// So many rows: more than one where they have no message id to be told apart by.
    std::uint64_t rows = 1;
};

struct findings {
    std::uint64_t count = 0;
    /// The first of them: rows in the order of the reading, messages in the order of the stream.
    std::vector<finding> named = {};
};

struct report {
    std::uint64_t rows = 0;
    std::uint64_t messages = 0;
    std::uint64_t dead_lettered = 0;
    /// Messages that publish a row again on purpose.
    std::uint64_t republished = 0;
    /// Messages whose row is not in a table any more, or never was.
    std::uint64_t without_row = 0;
    /// Messages with the id of a row that walrelay did not write: a poller's, for instance.
    std::uint64_t by_others = 0;
    /// The same without a row, where not all rows were compared: theirs may have been left out.
    std::uint64_t not_judged = 0;
    /// Messages from before what was compared.
    std::uint64_t earlier = 0;
    /// The first message's, 0 if there is none.
    std::uint64_t first_sequence = 0;
    /// Rows in no message that no finding counts: they can have been in one of those that were
    /// removed from the stream's beginning (auditor::expect_removed).
    std::uint64_t removed_rows = 0;
    /// Sequence numbers between the first and the last message without a message.
    std::uint64_t deleted_messages = 0;
    /// The least and the greatest sequence of those that are orphaned, 0 if there are none.
    std::uint64_t first_orphan = 0;
    std::uint64_t last_orphan = 0;
    /// Whether the database's history was known, so that orphans could be told.
    bool history_known = false;
    std::array<findings, all_finding_kinds.size()> by_kind = {};

    [[nodiscard]] const findings& of(finding_kind kind) const {
        return by_kind[static_cast<std::size_t>(kind)];
    }
    [[nodiscard]] findings& of(finding_kind kind) {
        return by_kind[static_cast<std::size_t>(kind)];
    }
    [[nodiscard]] bool clean() const {
        for (const auto kind : all_finding_kinds) {
            if (of(kind).count > 0) {
                return false;
            }
        }
        return true;
    }
};

}  // namespace walrelay::audit
