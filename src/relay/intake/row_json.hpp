// A row as walrelay keeps it outside of its table, in walrelay.dead_letter and walrelay.control:
// `[{"name": ..., "type": pg_type.oid, "value": text or null}, ...]`. Pure.
#pragma once

#include "core/change.hpp"
#include "core/error.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace walrelay::relay {

[[nodiscard]] std::string row_as_json(const row_insert& row);

/// A row that was kept so.
class kept_json_row {
public:
    /// `table` and `revision` as for core/change.hpp's relation. Nothing where the text is anything
    /// else than what row_as_json writes; `what` says how.
    [[nodiscard]] static std::optional<kept_json_row> parse(std::string_view schema,
                                                            std::string_view table,
                                                            std::string_view json,
                                                            std::uint64_t revision,
                                                            std::string_view& what);

    [[nodiscard]] const relation& table() const { return *table_; }
    /// Views into this object.
    [[nodiscard]] row_insert row() const { return {table_.get(), fields_}; }

private:
    bool take(std::string_view json, std::string_view& what);

    // Behind a pointer, so that the views stay where they are when this object moves.
    std::unique_ptr<relation> table_;
    std::unique_ptr<std::vector<std::string>> values_;
    std::vector<field> fields_;
};

}  // namespace walrelay::relay
