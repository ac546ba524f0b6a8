// Reads the objects that make up nearly all of a stream (begin, commit, and rows of tables that are
// known) where they are byte for byte as wal2json writes them with walrelay's options. Everything
// else is left to wal2json_parser: this takes nothing that the parser would not take, and has no
// errors. It must not know transactions.
//
// Source: wal2json 2.5 and 2.6, wal2json.c (pg_decode_begin_txn_v2, pg_decode_commit_txn_v2,
// pg_decode_write_change, pg_decode_write_tuple).
#pragma once

#include "core/change.hpp"
#include "wal/wal2json/wal2json_cursor.hpp"
#include "wal/wal2json/wal2json_object.hpp"
#include "wal/wal2json/wal2json_relations.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace walrelay::wal {

class wal2json_exact_reader {
public:
    /// The table whose row the text is, or null: it is something else, or not as it was described
    /// last. `fields` are the row's then, valid until the next call and as long as the text is.
    [[nodiscard]] const relation* read_row(std::string_view json, wal2json_relations& tables);
    [[nodiscard]] std::span<const field> fields() const { return fields_; }
    /// The same without a view into the text, which `read_row` has read last.
    [[nodiscard]] std::span<const field> fields_apart(std::string_view json);
    /// They are not needed any more: gives back the memory of a large row.
    void let_go() { static_cast<void>(start("")); }

    /// A begin or a commit with the members that these have, or null. The object lives until the
    /// next call.
    [[nodiscard]] const wal2json_object* read_edge(std::string_view json);

private:
    [[nodiscard]] wal2json_cursor start(std::string_view json);
    [[nodiscard]] const wal2json_table* take_row(const wal2json_cursor& row,
                                                 wal2json_relations& tables);

    std::unique_ptr<char[]> room_;
    std::size_t room_bytes_ = 0;
    std::vector<field> fields_;
    std::string numbers_;
    wal2json_object edge_;
};

}  // namespace walrelay::wal
