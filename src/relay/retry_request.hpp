// A row that comes through the WAL a second time, because an operator asked for it.
//
// `walrelay dead-letter retry` writes it with pg_logical_emit_message(true, 'walrelay.retry', ...),
// so that it has a place in the order of commits like every other event:
//
//     {"table":{"schema":"public","name":"outbox"},"occasion":"retry-7-1",
//      "columns":[{"name":"id","type":2950,"value":"..."}, ...]}
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

inline constexpr std::string_view retry_prefix = "walrelay.retry";

class retry_request {
public:
    /// `revision` as for core/change.hpp's relation. Errors: row_unmappable, where the content is
    /// anything else than the above.
    [[nodiscard]] static result<retry_request> parse(std::string_view content,
                                                     std::uint64_t revision);

    [[nodiscard]] table_name table() const { return {table_->schema, table_->name}; }
    /// Follows the message id, after a semicolon.
    [[nodiscard]] const std::string& occasion() const { return occasion_; }
    /// Views into this object.
    [[nodiscard]] row_insert row() const { return {table_.get(), fields_}; }

private:
    // Behind a pointer, so that the views stay where they are when this object moves.
    std::unique_ptr<relation> table_;
    std::unique_ptr<std::vector<std::string>> values_;
    std::vector<field> fields_;
    std::string occasion_;
};

}  // namespace walrelay::relay
