// What the WAL says, decoded: the same values from either output plugin.
//
// Everything here is a view. The bytes belong to the decoder or to the frame that it was given, and
// live until the decoder is called again.
#pragma once

#include "core/lsn.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace walrelay {

/// Wall-clock time as PostgreSQL counts it. Data, and never used in the control flow where a wrong
/// clock would do harm.
using wall_time = std::chrono::sys_time<std::chrono::microseconds>;

/// Identifies a data type: `pg_type.oid`.
using type_oid = std::uint32_t;

struct column {
    std::string name;
    type_oid type = 0;

    friend bool operator==(const column&, const column&) = default;
};

/// A table as a run of rows describes it. With pgoutput and publish_via_partition_root the root of
/// a partitioned table, with wal2json the leaf.
struct relation {
    std::string schema;
    std::string name;
    std::vector<column> columns;
    /// Differs between any two descriptions that a decoder gives out, so that what was derived from
    /// a description can be kept for as long as the number stays the same.
    std::uint64_t revision = 0;
    /// pg_class.oid: which table it was, whatever it is called. 0 with wal2json, which tells none.
    std::uint32_t oid = 0;
};

/// The text of a value as PostgreSQL's output function gives it, or nothing for NULL. One
/// exception: a bytea is its hex digits without the leading `\x`.
using field = std::optional<std::string_view>;

/// Numbers a transaction (xid). It wraps around: the low half of PostgreSQL's xid8.
using transaction_id = std::uint32_t;

struct transaction_begin {
    lsn commit;
    wall_time committed_at;
    /// Nothing where wal2json was not asked for it.
    std::optional<transaction_id> xid = {};
};

struct row_insert {
    const relation* table = nullptr;
    /// As many as `table->columns`, in the same order.
    std::span<const field> fields;
    /// Where the row is larger than the decoder may take, its bytes on the wire: its long values
    /// are left out, as nothing. 0 for any other.
    std::uint64_t too_large_bytes = 0;
};

/// A row of a table whose updates were asked for (wal/decoder.hpp).
struct row_update {
    const relation* table = nullptr;
    /// The row as it is now; as many as `table->columns`, in the same order.
    std::span<const field> fields;
    /// The row as it was, in the same order; nothing for NULL and for what the WAL does not say.
    /// All of it is known where the table has REPLICA IDENTITY FULL, else at most its key.
    std::span<const field> before;
    /// 1 for each field that the WAL does not hold, because the UPDATE left a large value where it
    /// was stored (TOAST); empty if there is none. wal2json says nothing of such a column: it is
    /// missing in `table->columns`.
    std::span<const std::uint8_t> missing;
    /// As of a row_insert.
    std::uint64_t too_large_bytes = 0;
    /// `before` is the whole row: what is nothing there is NULL.
    bool before_is_whole = false;
};

struct transaction_commit {
    lsn commit;
    /// Where the commit record ends: the position to confirm once the transaction is stored.
    lsn end;
};

/// Written by pg_logical_emit_message(true, prefix, content) within the open transaction.
struct logical_message {
    std::string_view prefix;
    std::string_view content;
    /// As of a row_insert; its content is left out then.
    std::uint64_t too_large_bytes = 0;
};

/// Something that is not relayed: a description, a DELETE, a message outside a transaction.
struct nothing_to_relay {};

using change = std::variant<nothing_to_relay, transaction_begin, row_insert, row_update,
                            logical_message, transaction_commit>;

}  // namespace walrelay
