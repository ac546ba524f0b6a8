// What a relay counts while it works. Plain data: the relay adds to it, whoever shows it reads it.
// Nothing here is ever taken back; docs/monitoring.md says what each means.
#pragma once

#include "core/change.hpp"
#include "core/error.hpp"
#include "core/latency_histogram.hpp"
#include "core/message.hpp"
#include "core/position.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace walrelay {

/// Why a connection was given up, or a try for one.
enum class lost_reason { unavailable, ended, refused, unsuitable, other };
inline constexpr std::size_t lost_reason_count = 5;
[[nodiscard]] const char* to_string(lost_reason why);
/// Of a connection, or of what was asked over it.
[[nodiscard]] lost_reason reason_of(const error& why);

/// What the broker answered to a publish that it did not store.
enum class publish_trouble { transient, doubt, refused, unsuitable };
inline constexpr std::size_t publish_trouble_count = 4;
[[nodiscard]] const char* to_string(publish_trouble what);

/// Who made a dead letter of a row: the row itself, of which no message can be made, or the broker,
/// which takes no such message.
enum class letter_reason { row, broker };
inline constexpr std::size_t letter_reason_count = 2;
[[nodiscard]] const char* to_string(letter_reason what);

struct table_counts {
    std::uint64_t rows_received = 0;
    /// Commit of the row that was received last; 0 before the first, and of rows before the slot.
    wall_time last_row;
    std::uint64_t rows_written_back = 0;
    std::array<std::uint64_t, letter_reason_count> dead_letters{};
};

/// The message whose way from the commit to the ack took longest. Its strings keep their memory.
struct slow_message {
    std::chrono::microseconds took{0};
    wall_time stored_at;
    position where;
    std::string id;
    std::string subject;
    /// Of the header `traceparent`; empty where it has none.
    std::string trace;
};

struct relay_counts {
    std::uint64_t wal_received_bytes = 0;
    std::uint64_t transactions_received = 0;
    std::uint64_t messages_stored = 0;
    /// The same by why they were published, as far as the broker's ack came itself; the rest is
    /// live.
    std::array<std::uint64_t, message_cause_count> stored_by_cause{};
    /// Of the bodies of those whose ack came itself.
    std::uint64_t stored_body_bytes = 0;
    /// Rows that the slot sent again although the stream has them.
    std::uint64_t skipped_already_stored = 0;
    /// Publishes that the broker knew by their Nats-Msg-Id.
    std::uint64_t skipped_duplicate_id = 0;
    std::array<std::uint64_t, publish_trouble_count> publish_failures{};
    std::array<std::uint64_t, lost_reason_count> postgres_losses{};
    std::array<std::uint64_t, lost_reason_count> broker_losses{};
    /// In the order of the configuration.
    std::vector<table_counts> tables;
    /// From the commit to the ack. Not of rows that were there before the slot.
    latency_histogram commit_to_ack;
    /// From the publish to the ack.
    latency_histogram publish_to_ack;
    /// Of the message that was stored last; 0 before the first.
    wall_time last_commit;
    wall_time last_stored;
    /// When PostgreSQL said something last.
    wall_time last_frame;
    /// How long the window was full, so that the slot was not read.
    std::chrono::microseconds reading_paused{0};
    /// When the startup check ended last; 0 before. How many rows it missed.
    wall_time startup_checked;
    std::uint64_t startup_check_missing = 0;
};

}  // namespace walrelay
