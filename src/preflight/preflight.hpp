// What stands in the way of relaying: the two servers' facts against what is asked for. Pure.
//
// A finding says what is, and the exact command that fixes it. The same findings are printed by
// `walrelay check` and stop `walrelay run`.
#pragma once

#include "core/facts.hpp"
#include "core/finding.hpp"
#include "core/outbox_table.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace walrelay::preflight {

/// What the configuration asks of the servers.
struct expectations {
    std::string slot;
    std::string publication;
    std::optional<output_plugin> plugin;  // nothing is auto
    std::string stream;
    std::vector<outbox_table> tables;
    /// Rows that are there before the slot are published, too.
    bool snapshot = false;
    /// What a lost slot leaves out is published from the table.
    bool heals = false;
    bool sole_writer = true;
    /// Whether standbys may keep a copy of the slot; nothing is auto.
    std::optional<bool> failover = {};
    /// Rows that cannot be delivered become dead letters.
    bool dead_letters = true;
    /// What the subjects of JetStream's API begin with.
    std::string api = "$JS.API";
    /// Of the stream where walrelay makes it; nothing is unlimited.
    std::optional<std::uint64_t> stream_max_bytes = {};
    /// The subjects that it has then.
    std::vector<std::string> stream_subjects = {};
    /// After which a message that was not acked is sent again.
    std::chrono::milliseconds ack_timeout{0};
};

/// How it is known that walrelay has run before on a stream.
struct earlier_run {
    std::string evidence;
    /// The stream ends within the rows that were there before the slot.
    bool in_snapshot = false;
    /// The stream still has all that it ever had.
    bool stream_is_whole = false;
    /// Not the stream, the database tells.
    bool in_database = false;

    friend bool operator==(const earlier_run&, const earlier_run&) = default;
};

/// Why rows are read from the tables before anything is streamed from the slot.
enum class backfill_reason {
    /// There is neither a slot nor a sign of an earlier run.
    first_start,
    /// The same, broken off.
    interrupted,
    /// The slot is gone, or does not have all that the stream lacks.
    slot_lost,
};

/// Nothing where the slot has all that is to be published, or where an operator must decide. `gap`:
/// the slot is there, and is known to have moved past events that the stream lacks.
[[nodiscard]] std::optional<backfill_reason> choose_backfill(
    const expectations& wanted, const postgres_facts& facts,
    const std::optional<earlier_run>& earlier, bool gap);

/// The plugin to stream with: the one asked for, else the slot's, else wal2json where the server
/// accepts it and no outbox is partitioned, else pgoutput.
[[nodiscard]] output_plugin choose_plugin(const expectations& wanted, const postgres_facts& facts);

/// Whether a new slot is to be a failover slot.
[[nodiscard]] bool choose_failover(const expectations& wanted, const postgres_facts& facts);

/// `earlier` is nothing if walrelay is not known to have run before on this stream. A slot that is
/// missing otherwise is a gap, not a first start.
[[nodiscard]] std::vector<finding> postgres_findings(const expectations& wanted,
                                                     const postgres_facts& facts,
                                                     const std::optional<earlier_run>& earlier);

/// Of tables with rows that a slot which is made now begins after, so that it never sends them: a
/// warning for each. Part of the above where there is no slot and no sign of an earlier one.
[[nodiscard]] std::vector<finding> rows_before_slot(const expectations& wanted,
                                                    const postgres_facts& facts);

/// What keeps PostgreSQL from making what a first start needs, and ends by itself or once the
/// server is put right: nothing is made before. postgres_lost; nothing where there is a slot.
[[nodiscard]] std::optional<error> waits_to_make(const expectations& wanted,
                                                 const postgres_facts& facts);

/// Where the stream is still to be made and other streams have some of its subjects: the server
/// would refuse it.
[[nodiscard]] finding subjects_are_taken(const expectations& wanted,
                                         const std::vector<std::string>& streams);

/// Whether the stream shows an earlier run: what `postgres_findings` wants to know.
[[nodiscard]] std::optional<earlier_run> earlier_run_of(const std::optional<stream_facts>& stream);

/// Subjects as walrelay run publishes to them, one for each table, and what init asks for where
/// there is no stream yet: for nats/publish_probe.
[[nodiscard]] std::vector<std::string> subjects_to_try(const expectations& wanted,
                                                       const broker_facts& facts);

[[nodiscard]] std::vector<finding> broker_findings(const expectations& wanted,
                                                   const broker_facts& facts);

/// Whether every subject that `pattern` stands for is captured by `filter`. Both use NATS's
/// wildcards (NATS documentation, "Subject-Based Messaging").
[[nodiscard]] bool subject_covers(std::string_view filter, std::string_view pattern);

}  // namespace walrelay::preflight
