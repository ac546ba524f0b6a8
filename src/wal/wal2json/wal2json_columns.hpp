// Reads the array "columns" of a row, one of the members of wal2json's objects.
#pragma once

#include "core/error.hpp"
#include "wal/json_text.hpp"
#include "wal/wal2json/wal2json_object.hpp"

namespace walrelay::wal {

struct wal2json_row {
    std::vector<wal2json_column>& columns;
    std::vector<field>& fields;
};

/// Adds to the columns and the fields of `row`. Views are into the JSON or into the parser's
/// memory. Errors: frame_truncated, frame_malformed.
[[nodiscard]] result<void> read_columns(simdjson::ondemand::value& columns, const json_text& json,
                                        wal2json_row row);

}  // namespace walrelay::wal
