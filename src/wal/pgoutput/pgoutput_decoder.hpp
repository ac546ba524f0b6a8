// Decodes what pgoutput writes, protocol version 1. It must not know frames, sockets or tables of
// the configuration: every table that the publication sends is decoded alike.
//
// Source: PostgreSQL documentation, "Logical Replication Message Formats";
// src/backend/replication/logical/proto.c. Integers are big-endian, a String ends with a zero byte.
//
//   Begin     'B' Int64 commit LSN, Int64 commit time, Int32 xid
//   Commit    'C' Int8 0, Int64 commit LSN, Int64 end LSN, Int64 commit time
//   Relation  'R' Int32 oid, String namespace ("" is pg_catalog), String name,
//                 Int8 replica identity (d n f i), Int16 count, then for each column
//                 Int8 flags (1: in the key), String name, Int32 type oid, Int32 type modifier
//   Insert    'I' Int32 oid, 'N' tuple
//   Update    'U' Int32 oid, ['K' tuple | 'O' tuple], 'N' tuple
//   Delete    'D' Int32 oid, 'K' tuple | 'O' tuple
//   Truncate  'T' Int32 count, Int8 options (1: cascade, 2: restart identity), Int32 oid each
//   Type      'Y' Int32 oid, String namespace, String name
//   Origin    'O' Int64 commit LSN there, String name
//   Message   'M' Int8 flags (1: transactional), Int64 LSN, String prefix, Int32 length, Byte[]
//   tuple     Int16 count, then for each column
//                 'n' (NULL) | 'u' (unchanged TOAST) | 't' Int32 length, text | 'b' Int32 length,
//                 bytes
//
// Times are microseconds since 2000-01-01. Streamed transactions (S E c A) and two-phase commit
// (b P K r p) are not asked for, so they are errors.
#pragma once

#include "core/first_revision.hpp"
#include "wal/byte_reader.hpp"
#include "wal/decoder.hpp"
#include "wal/transaction_state.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <unordered_map>
#include <vector>

namespace walrelay::wal {

class pgoutput_decoder final : public decoder {
public:
    /// A call that returns an error leaves the decoder as it was.
    [[nodiscard]] result<change> decode(std::string_view payload) override;

private:
    [[nodiscard]] result<change> begin(byte_reader& in);
    [[nodiscard]] result<change> commit(byte_reader& in);
    [[nodiscard]] result<change> describe(byte_reader& in);
    [[nodiscard]] result<change> insert(byte_reader& in);
    [[nodiscard]] result<change> update(byte_reader& in);
    [[nodiscard]] result<change> message(byte_reader& in);
    [[nodiscard]] result<change> skip(std::uint8_t type, byte_reader& in);

    [[nodiscard]] result<const relation*> read_table(byte_reader& in) const;
    [[nodiscard]] result<void> read_tuple(byte_reader& in, const relation& table,
                                          std::vector<field>& into);
    [[nodiscard]] result<void> read_new_tuple(byte_reader& in, const relation& table);
    void remember(std::uint32_t oid, relation&& described);
    [[nodiscard]] std::size_t longest_value() const {
        return too_large_bytes_ > 0 ? kept_value_bytes : std::numeric_limits<std::size_t>::max();
    }

    transaction_state transaction_;
    /// Rows point at the values, so they must not move: a node-based map.
    std::unordered_map<std::uint32_t, relation> relations_;
    std::vector<field> fields_;
    // Of an update; `missing_` is empty where nothing is missing.
    std::vector<field> before_;
    std::vector<std::uint8_t> missing_;
    std::uint64_t last_revision_ = first_revision::of_inserts;
    std::uint64_t too_large_bytes_ = 0;
};

}  // namespace walrelay::wal
