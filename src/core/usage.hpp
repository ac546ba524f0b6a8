// What the servers say of slot, stream and dead letters while a relay runs. Plain values, for
// people and alerts; nothing is decided by them.
#pragma once

#include "core/instant.hpp"
#include "core/relay_counts.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace walrelay {

/// From pg_replication_slots.
struct slot_usage {
    /// From what the slot has confirmed, and from the oldest WAL that it keeps, to the end of the
    /// WAL.
    std::uint64_t lag_bytes = 0;
    std::uint64_t retained_bytes = 0;
    /// How much may be written before the slot can be lost; nothing where there is no limit.
    std::optional<std::int64_t> safe_wal_bytes = {};
    std::string wal_status = {};  // reserved | extended | unreserved | lost
    /// Transactions since the oldest one whose catalog rows the slot keeps.
    std::uint64_t catalog_xmin_age = 0;
    /// The server's clock.
    std::chrono::sys_time<std::chrono::microseconds> server_time = {};
};

/// Who streams from a slot, from pg_stat_replication. What the role may not see is absent.
struct slot_holder {
    int process = 0;
    std::string address = {};  // empty for a socket of the server's machine
    std::string application = {};
    /// Since it connected, and since it reported last.
    std::optional<std::chrono::microseconds> connected_for = {};
    std::optional<std::chrono::microseconds> heard_ago = {};
};

/// From JetStream's STREAM.INFO.
struct stream_usage {
    std::uint64_t messages = 0;
    std::uint64_t bytes = 0;
    std::uint64_t last_sequence = 0;
};

/// From the same.
struct stream_limits {
    std::int64_t messages = -1;  // -1 is unlimited, as for the next one
    std::int64_t bytes = -1;
    /// At a limit it refuses new messages; else it drops the oldest ones.
    bool refuses_new = false;
};

/// A row that was set aside and is still to become a message. Its texts are cut for a screen.
struct open_letter {
    std::int64_t number = 0;
    std::string table = {};
    std::string message_id = {};
    std::string reason = {};
    wall_time dead_at = {};
};

struct open_letters {
    /// By letter_reason.
    std::array<std::uint64_t, letter_reason_count> counted = {};
    /// The newest few, newest first.
    std::vector<open_letter> newest = {};
};

}  // namespace walrelay
