// All that is shown of a running relay, at one moment. Plain data: whoever has it fills it in, and
// the writers of this folder make text of it.
#pragma once

#include "core/byte_size.hpp"
#include "core/change.hpp"
#include "core/cleanup_counts.hpp"
#include "core/finding.hpp"
#include "core/kept_position.hpp"
#include "core/latency_histogram.hpp"
#include "core/log_line.hpp"
#include "core/relay_counts.hpp"
#include "core/relay_status.hpp"
#include "core/trace_counts.hpp"
#include "core/usage.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace walrelay::http {

/// Something that was asked for in the background, and how long ago that was. It is nothing while
/// the server is away; the age of the last answer goes on.
template <class Facts>
struct polled {
    std::optional<Facts> facts = {};
    std::optional<std::chrono::milliseconds> age = {};
};

/// One second of the relay. What is not known is negative.
struct sample {
    wall_time at;
    float rows_per_second = 0;
    float messages_per_second = 0;
    float lag_seconds = -1;
    float p50_seconds = -1;
    float p99_seconds = -1;
    /// From 0 to 1.
    float window_share = 0;
    float slot_lag_bytes = -1;
    float retained_bytes = -1;
};

/// Of the last minute, or of as much of it as there was.
struct recent_rates {
    double rows_per_second = 0;
    double messages_per_second = 0;
    std::optional<std::chrono::microseconds> p50 = {};
    std::optional<std::chrono::microseconds> p99 = {};
};

/// A kept position that the relay gave up before its time.
struct kept_loss {
    wall_time at;
    kept_kind what = kept_kind::trail;
    giving_way why = giving_way::max_wal;
};

/// From /proc/self and getrusage.
struct process_report {
    double cpu_seconds = 0;
    std::uint64_t resident_bytes = 0;
    std::uint64_t open_files = 0;
    std::uint64_t most_files = 0;
};

struct relay_report {
    wall_time now;
    wall_time started;
    std::string version;
    std::string slot;
    std::string database;  // empty before it is known
    std::string stream;
    std::string plugin;  // empty before it is known
    /// In the order of relay_counts::tables.
    std::vector<std::string> tables;
    relay_status status;
    /// When that state began, to the second.
    wall_time since;
    relay_counts counts;
    /// In the same order.
    std::vector<cleanup_counts> cleanup;
    recent_rates recent;
    /// Of the last whole second.
    std::optional<sample> last_second = {};
    polled<slot_usage> slot_facts;
    /// Until PostgreSQL may take the slot's WAL away, at the pace of the last minutes.
    std::optional<std::chrono::seconds> slot_danger_in = {};
    /// Of a standby: who holds the slot.
    polled<slot_holder> holder;
    polled<stream_usage> stream_facts;
    polled<open_letters> letters;
    /// What the relay has found looking at both servers, as walrelay check does.
    polled<std::vector<finding>> findings;
    /// Of the relay that holds the slot.
    polled<kept_positions> kept;
    walrelay::kept_counts kept_counts;
    /// The last one of this process.
    std::optional<kept_loss> last_given_up = {};
    /// Since replays that are not finished wrote a row, as far as the relay has watched them.
    std::optional<std::chrono::microseconds> replays_still_for = {};
    /// replay.max_wal.
    byte_size kept_max_wal;
    /// replay.keep is set.
    bool keeps_trail = false;
    /// PostgreSQL's clock minus the relay's, when it was asked last.
    std::optional<std::chrono::microseconds> clock_offset;
    /// How late a timer of the relay's one thread was.
    latency_histogram loop_lag;
    /// Nothing where there are no traces.
    std::optional<trace_counts> traces;
    process_report process;
    std::vector<log_line> log;
    /// The last warning or error of the log.
    std::optional<log_line> last_trouble;
};

}  // namespace walrelay::http
