// Rows without a table: JSON objects that writers put into the WAL with
// pg_logical_emit_message(true, <prefix>, <object>). Pure.
//
// The keys are the columns. A string is text, a number numeric, true and false boolean, an object
// or array jsonb, byte for byte as it was written; null is NULL.
#pragma once

#include "core/change.hpp"
#include "core/error.hpp"
#include "core/outbox_table.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace walrelay::relay {

class message_rows {
public:
    /// `needed` are columns that a row has in any case: NULL where the object has no such key.
    message_rows(table_name source, std::vector<std::string> needed);
    message_rows(const message_rows&) = delete;
    message_rows& operator=(const message_rows&) = delete;
    message_rows(message_rows&&) noexcept;
    message_rows& operator=(message_rows&&) noexcept;
    ~message_rows();

    /// The row refers to this object and to nothing else, and is valid until the next call. Errors:
    /// row_unmappable for content that is no JSON object (RFC 8259), has a key twice, or is nested
    /// deeper than 512 levels.
    [[nodiscard]] result<row_insert> read(std::string_view content);

    /// What is kept of content that could not be read: a row of the one column `content`, which is
    /// text where the content is UTF-8, else bytea. Valid until the next call.
    [[nodiscard]] row_insert unreadable(std::string_view content);

private:
    // Hidden, so that the JSON library stays in one source: its types depend on how it is compiled.
    class reader;
    std::unique_ptr<reader> reader_;
};

}  // namespace walrelay::relay
