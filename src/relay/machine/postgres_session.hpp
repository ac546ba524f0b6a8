// What the relay machine is told of a connection to PostgreSQL. Plain data.
#pragma once

#include "core/change.hpp"
#include "core/error.hpp"
#include "core/facts.hpp"
#include "core/lineage.hpp"
#include "core/position.hpp"
#include "core/witness.hpp"
#include "relay/intake/table_catalog.hpp"
#include "relay/machine/roll_call.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace walrelay::relay {

/// When the newest rows of the tables are read with a connection: always, or where the slot stands
/// after `told` or the server is of another history.
struct newest_rows_wanted {
    bool always = true;
    /// What this process has told the slot at most; 0 where nothing is known.
    lsn told = {};
    history origin = {};

    [[nodiscard]] bool are_due(lsn slot_confirmed, const history& now) const {
        return always || slot_confirmed > told || now != origin;
    }
};

/// Rows of the tables that come before anything that the slot sends.
struct backfill {
    /// Where the slot begins.
    lsn consistent_point = {};
    /// The stream's messages up to this sequence were looked at to tell which rows it has.
    std::uint64_t stream_sequence = 0;
    /// For the log.
    std::string why = {};
    std::uint64_t row_count = 0;
};

/// A replication connection that has begun to stream, or whose slot waits for a backfill.
struct postgres_session {
    history origin;
    table_catalog catalog;
    output_plugin plugin = output_plugin::pgoutput;
    std::chrono::milliseconds sender_timeout{0};
    /// Where the slot stood when streaming began.
    lsn slot_confirmed = {};
    std::string database = {};
    /// Rows come first (row_arrived, rows_ended), frames only after another connection.
    std::optional<backfill> rows_first = {};
    /// Rows that must be accounted for, where they were read.
    std::optional<roll> newest_rows = {};
    /// Why they were not, where another connection may read them.
    std::optional<error> newest_rows_unread = {};
    /// An operator has decided to go on without those that are missing: the halt that is passed
    /// with this connection says so.
    bool goes_on_without = false;
    /// The server of `origin` with its ancestors and the end of its WAL; only the origin is known
    /// where it is left out.
    server_identity server = {};
    /// Of rows that the slot may send again although they are dead letters.
    std::vector<position> dead_letters = {};
    /// What was stored before, as this database knows it.
    witness_reading witness = {};
    /// Where the slot began, where that was kept.
    std::optional<lsn> slot_began = {};
    /// The stream can have rows that it was never to bring: of a snapshot, or of a slot before it.
    bool slot_has_earlier_rows = true;
    /// The server is a standby: its timeline may change under the connection.
    bool on_standby = false;
};

}  // namespace walrelay::relay
