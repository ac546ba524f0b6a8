// Decodes what wal2json writes in format version 2. It must not know frames, sockets or tables of
// the configuration: every table that the stream carries is decoded alike.
//
// Source: wal2json 2.5 and 2.6, wal2json.c (pg_decode_*_v2, pg_decode_write_value). One JSON object
// in each frame; the members that matter here:
//
//   begin     {"action":"B","timestamp":T,"lsn":L,"nextlsn":L}   lsn is the commit LSN, nextlsn
//   commit    {"action":"C","timestamp":T,"lsn":L,"nextlsn":L}   the end LSN, in both
//   insert    {"action":"I","schema":S,"table":S,"columns":[{"name":S,"typeoid":N,"value":V},...]}
//   update    {"action":"U","schema":S,"table":S,"columns":[...],"identity":[...]}   without the
//             columns whose large values were left alone; identity is the old row as far as
//             REPLICA IDENTITY has it, without what was NULL
//   message   {"action":"M","transactional":B,"prefix":S,"content":S}   with lsn and timestamp,
//             both null outside a transaction
//   others    "D" delete, "T" truncate
//
// T is "2026-01-31 12:34:56.789+00" where the session's time zone is UTC; L is "0/16B3748"; the
// typeoid is printed as a signed number. V is null, true or false for boolean, digits for int2,
// int4, int8, oid, float4, float8 and numeric (NaN and the infinities become null there, which
// cannot be seen from here), hex digits without \x for bytea, a string for every other type.
//
// Needs the options format-version 2, include-lsn, include-timestamp, include-type-oids and
// include-transaction. Of a partitioned table the leaf is named.
#pragma once

#include "core/first_revision.hpp"
#include "wal/decoder.hpp"
#include "wal/transaction_state.hpp"
#include "wal/wal2json/wal2json_exact_reader.hpp"
#include "wal/wal2json/wal2json_object.hpp"
#include "wal/wal2json/wal2json_relations.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace walrelay::wal {

class wal2json_decoder final : public decoder {
public:
    /// A call that returns an error leaves the decoder as it was.
    [[nodiscard]] result<change> decode(std::string_view payload) override;
    /// Of a large payload.
    [[nodiscard]] bool outlives_payload() const override { return is_apart_; }
    void let_go() override;

private:
    void describe_table_of(std::string_view payload);
    [[nodiscard]] result<change> decode_any(std::string_view payload);
    [[nodiscard]] result<change> decode_object(const wal2json_object& object);
    [[nodiscard]] result<change> begin(const wal2json_object& object);
    [[nodiscard]] result<change> commit(const wal2json_object& object);
    [[nodiscard]] result<change> insert(const wal2json_object& object);
    [[nodiscard]] result<change> update(const wal2json_object& object);
    [[nodiscard]] result<void> require_row(const wal2json_object& object) const;
    [[nodiscard]] result<change> message(const wal2json_object& object);
    [[nodiscard]] result<change> skip(const wal2json_object& object);

    /// A message's content may be any bytes, which wal2json puts into its JSON as they are. Each
    /// byte that is not ASCII becomes a control character and two digits: the message can be told,
    /// and its content is JSON to nobody.
    void mark_other_bytes(std::string_view payload);
    void merge_rows(const wal2json_object& object);

    wal2json_exact_reader exact_;
    wal2json_parser parser_;
    wal2json_relations relations_;
    /// Apart, because an update that leaves large values alone does not name their columns.
    wal2json_relations updated_{first_revision::of_updates};
    // The two rows of an update as one description.
    std::vector<wal2json_column> columns_;
    std::vector<field> fields_;
    std::vector<field> before_;
    transaction_state transaction_;
    std::string marked_;
    /// Of a payload that is too large, what is decoded in its place.
    std::string shortened_;
    std::uint64_t too_large_bytes_ = 0;
    bool is_apart_ = false;
};

}  // namespace walrelay::wal
