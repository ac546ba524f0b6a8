// What a slot begins with, kept in walrelay.slot_start: which transactions were committed before,
// so that rows which only the table can have are told from those that the slot had to bring.
#pragma once

#include "core/error.hpp"
#include "core/lsn.hpp"
#include "core/outbox_table.hpp"
#include "postgres/catalog/snapshot_slot.hpp"
#include "postgres/session/connection.hpp"

#include <boost/asio/awaitable.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace walrelay::postgres {

struct slot_start {
    lsn consistent_point = {};
    /// Which rows from before were published, see sql/slot_start.sql; empty where it is not known.
    std::string published = {};
    /// An SQL condition: true of rows that the stream must have, or get from the slot. Those are
    /// the rows whose last change the snapshot of the slot does not have, and all rows where all
    /// were published before it.
    std::string is_later = {};

    /// The same of a table whose rows to be sent `pending`, an SQL condition, tells: those of
    /// before were published with the slot.
    [[nodiscard]] std::string is_expected(const std::string& pending) const {
        return published == "pending" && !pending.empty()
                   ? "(" + is_later + ") OR (" + pending + ")"
                   : is_later;
    }
    /// Whether the stream can have rows that the slot was never to bring.
    [[nodiscard]] bool has_earlier_rows() const { return published != "none"; }
};

/// An SQL condition: true of rows whose last change the snapshot, in PostgreSQL's text, does not
/// have; empty where xmin cannot tell any more, 2^32 transactions later. `next` is the first number
/// of no transaction yet.
[[nodiscard]] std::string later_than(const std::string& snapshot, std::uint64_t next);

/// Keeps what `from` begins with as that of `slot`, while the exported snapshot is still there:
/// outside of a transaction through a connection of connection_kind::sql, which is not the one that
/// made the slot. `published` is which of the rows from before are in the stream: none, pending,
/// all or unknown; the first and the last take nothing back that an earlier slot of this name has
/// published. Makes the table where it is missing. Errors: those of own_tables.hpp.
[[nodiscard]] boost::asio::awaitable<result<void>> keep_slot_start(
    connection& sql, snapshot_slot from, std::string slot, std::string published,
    std::vector<table_name> outboxes);

/// Nothing where it was not kept, on another server than this, or too long ago to tell rows by it.
/// Within the transaction whose rows are to be judged.
[[nodiscard]] boost::asio::awaitable<result<std::optional<slot_start>>> read_slot_start(
    connection& sql, std::string slot);

}  // namespace walrelay::postgres
