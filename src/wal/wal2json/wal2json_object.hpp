// Takes one JSON object of wal2json's format version 2 apart: members to views, columns to fields.
// It must not know transactions or what a table looked like before.
#pragma once

#include "core/change.hpp"
#include "core/error.hpp"
#include "wal/decoder.hpp"

#include <simdjson.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace walrelay::wal {

struct wal2json_text {
    std::string_view text;
    /// Where its value stands in the object, for errors.
    std::size_t offset_bytes = 0;
};

struct wal2json_column {
    std::string_view name;
    type_oid type = 0;
};

/// The members that mean something here. One that is missing, or null, is nothing.
struct wal2json_object {
    std::optional<wal2json_text> action;
    std::optional<wal2json_text> schema;
    std::optional<wal2json_text> table;
    std::optional<wal2json_text> timestamp;
    std::optional<wal2json_text> commit;  // "lsn"
    std::optional<wal2json_text> end;     // "nextlsn"
    std::optional<transaction_id> xid;
    std::optional<wal2json_text> prefix;
    std::optional<wal2json_text> content;
    std::optional<bool> transactional;
    bool has_columns = false;
    std::vector<wal2json_column> columns;
    /// As many as `columns`, in the same order.
    std::vector<field> fields;
    /// Of the old row, "identity".
    std::vector<wal2json_column> old_columns;
    std::vector<field> old_fields;

    /// Makes it empty but keeps the memory of the vectors.
    void clear();
};

class wal2json_parser {
public:
    wal2json_parser();

    /// Rows of updates are read where this says so; the schema and the name stand in front of them.
    /// Must outlive the parser's calls; null for none.
    void want_updates(const update_filter* wanted) { wants_update_ = wanted; }

    /// The object, and every view in it, lives until the next call. Members may come in any order.
    /// Errors: frame_truncated, frame_malformed, both with the offset.
    [[nodiscard]] result<const wal2json_object*> parse(std::string_view json);

    /// What was parsed is not needed any more: gives back the memory of a large object.
    void let_go() { static_cast<void>(load("")); }

private:
    /// Copies the bytes to where simdjson may read past their end.
    [[nodiscard]] std::string_view load(std::string_view json);
    void reserve(std::size_t json_bytes);
    [[nodiscard]] result<void> read_members(simdjson::ondemand::document& document,
                                            std::string_view text);
    [[nodiscard]] result<void> read_member(simdjson::ondemand::field& member,
                                           std::string_view text);

    [[nodiscard]] bool wants_row() const;

    simdjson::ondemand::parser parser_;
    const update_filter* wants_update_ = nullptr;
    std::unique_ptr<char[]> padded_;
    std::size_t capacity_bytes_ = 0;
    wal2json_object object_;
};

}  // namespace walrelay::wal
