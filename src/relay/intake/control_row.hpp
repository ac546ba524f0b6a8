// A row of walrelay.control (sql/control.sql): what walrelay says to its relays through the WAL, so
// that it has a place in the order of commits like every event. It can be written only by roles
// that were granted the table; all the same each of its values is checked.
#pragma once

#include "core/change.hpp"
#include "core/error.hpp"
#include "core/outbox_table.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace walrelay::relay {

/// A row as the table has it. Views into the row it was read from.
struct control_row {
    field kind;
    field slot;
    field dead_letter;
    field retry;
    field source_schema;
    field source_table;
    field event;
};

/// What is missing in the row, or no text, is nothing.
[[nodiscard]] control_row read_control(const row_insert& row);

/// The row of a dead letter that is to be published again.
class retry_request {
public:
    /// `revision` as for core/change.hpp's relation. Errors: row_unmappable, where the table, the
    /// numbers or the event, `[{"name": ..., "type": pg_type.oid, "value": text or null}, ...]`,
    /// are anything else than `walrelay dead-letter retry` writes.
    [[nodiscard]] static result<retry_request> parse(const control_row& row,
                                                     std::uint64_t revision);

    [[nodiscard]] table_name table() const { return {table_->schema, table_->name}; }
    /// Follows the message id, after a semicolon: `retry-<dead letter>-<count>`.
    [[nodiscard]] const std::string& occasion() const { return occasion_; }
    /// Views into this object.
    [[nodiscard]] row_insert row() const { return {table_.get(), fields_}; }

private:
    result<void> take_event(std::string_view event);

    // Behind a pointer, so that the views stay where they are when this object moves.
    std::unique_ptr<relation> table_;
    std::unique_ptr<std::vector<std::string>> values_;
    std::vector<field> fields_;
    std::string occasion_;
};

}  // namespace walrelay::relay
