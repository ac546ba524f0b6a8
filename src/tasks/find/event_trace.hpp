// What is known of one event, wherever it has left a trace.
#pragma once

#include "core/change.hpp"
#include "core/error.hpp"
#include "core/lsn.hpp"
#include "core/outbox_table.hpp"
#include "core/waiting_slot.hpp"
#include "nats/requests/stream_scan.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace walrelay::tasks {

/// The id that the row's first message has, of that of any of its messages: without
/// `;retry-7-1`, `;republish-...` and `;replay-3-...`.
[[nodiscard]] std::string_view first_id_of(std::string_view message_id);

/// A row that is in its table now.
struct traced_row {
    table_name table = {};
    std::string id = {};
    /// What its column of the role created_at holds; empty where there is none.
    std::string created_at = {};
    /// xmin: the transaction that wrote or last changed it.
    std::string transaction = {};
    /// As the configuration makes its message today; empty where it makes none.
    std::string message_id = {};
    std::string subject = {};
    std::string unmappable = {};
    /// The slot was made before it, and so sends it; nothing where that is not known.
    std::optional<bool> is_of_the_slot = {};
    /// It was written, or changed, after all that is known to have been stored; nothing where that
    /// is not known.
    std::optional<bool> is_after_witness = {};
};

struct traced_message {
    std::uint64_t sequence = 0;
    wall_time stored = {};
    std::string subject = {};
    std::string id = {};        // Nats-Msg-Id
    std::string position = {};  // Walrelay-Position; empty: somebody else's
    /// Of a branch that the server left at a promotion: it stands for no row, as one that came
    /// since can have the id.
    bool of_left_branch = false;

    /// `retry-7-1`, `replay-3-...`; empty for the first publication.
    [[nodiscard]] std::string occasion() const;
};

/// Of one event; those that come after are left out.
inline constexpr std::size_t messages_kept = 1000;

struct traced_letter {
    std::int64_t id = 0;
    std::string state = {};  // as walrelay dead-letter list shows it, "dropped" or "given up"
    std::string dead_at = {};
    std::string table = {};
    std::string reason = {};
    /// Of the row's first message, not of one that publishes it again.
    bool is_of_the_first = false;
    /// Where its message would have been; empty where it was not made, or the letter was dropped.
    std::string subject = {};
    /// When its row was, in PostgreSQL's text.
    std::string committed_at = {};
};

enum class verdict : std::uint8_t {
    /// One message, and none that was asked for again.
    once,
    /// As `once`, and again because somebody asked for that.
    again,
    /// The stream has several messages of this id.
    twice,
    /// Its dead letter is open, or its retry was not seen stored.
    set_aside,
    /// An operator went on without it.
    given_up,
    /// An operator has dropped its dead letter.
    dropped,
    /// The slot has not come to the end of the WAL, and may still bring it.
    awaited,
    halted,
    /// There is no slot, or the slot was made after the row.
    not_sent,
    /// The slot is past it, and the stream does not have it.
    missing,
    /// There is no trace of it; or no message that can be seen now, where it can have had one.
    unknown,
};

struct event_trace {
    std::string id = {};  // its Nats-Msg-Id
    std::vector<traced_row> rows = {};
    std::vector<traced_message> messages = {};
    std::vector<traced_letter> letters = {};
    verdict what = verdict::unknown;
};

/// How far somebody has come, for all events together.
struct surroundings {
    std::string slot = {};
    bool slot_exists = false;
    /// It does not, and its copy has all that it had.
    std::optional<slot_wait> slot_waits = {};
    bool slot_active = false;
    lsn confirmed = {};
    /// Where the WAL ended once the rows were read; 0 where the server does not tell.
    lsn wal_end = {};
    /// Why the relay is halted.
    std::optional<std::string> halted = {};
    std::string stream = {};
    std::uint64_t first_sequence = 0;
    std::uint64_t last_sequence = 0;
    /// Messages that the stream does not have any more: its limits, or somebody, removed them.
    std::uint64_t gone_messages = 0;
    /// Messages were looked at from here on; all of them, or those of these subjects.
    std::uint64_t looked_from = 0;
    std::vector<std::string> subjects = {};
    /// Of an aggregate: its subjects tell its messages from those of others.
    bool is_told_by_subject = false;
    std::string consumer = {};
    std::optional<nats::consumer_place> place = {};

    /// Those before it may hold what was not found.
    [[nodiscard]] bool looked_at_a_part() const { return looked_from > first_sequence; }
    /// All messages that the stream has were looked at.
    [[nodiscard]] bool is_whole() const { return !looked_at_a_part() && subjects.empty(); }
};

/// From all of `trace` but `what`. What was not found is absent only where it was looked for in all
/// messages, and none of those that are gone can have been it.
[[nodiscard]] verdict judge(const event_trace& trace, const surroundings& around);

/// Its letter is open, and so tells what became of it, whatever the stream has.
[[nodiscard]] bool is_told_by_letter(const event_trace& trace);

/// When an id was made that tells it: a UUID of version 7.
[[nodiscard]] std::optional<wall_time> time_in_id(std::string_view id);

/// In the stream, or set aside: nobody need do anything.
[[nodiscard]] bool is_settled(verdict what);

}  // namespace walrelay::tasks
