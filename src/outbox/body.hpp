// The bodies `event` and `payload`, and what the payload of the other formats is made of.
#pragma once

#include "core/error.hpp"
#include "outbox/row_view.hpp"

#include <string>
#include <string_view>

namespace walrelay::outbox {

/// Appends one JSON object: the roles that columns play, in a fixed order, NULL as null. Errors:
/// row_unmappable.
[[nodiscard]] result<void> append_event_body(const row_view& view, std::string& body);

/// Appends a column's bytes as they are, of bytea the raw bytes; nothing for NULL and for a role
/// that no column plays. Errors: row_unmappable.
[[nodiscard]] result<void> append_column(const row_view& view, column_role role,
                                         std::string& bytes);

/// Appends the payload column; nothing for NULL, where that is a tombstone. Errors: row_unmappable.
[[nodiscard]] result<void> append_payload_body(const row_view& view, std::string& body);

/// Whether the message is empty because the row has no payload.
[[nodiscard]] bool is_tombstone(const row_view& view);

/// The value of Content-Type; empty for a CloudEvent without data.
[[nodiscard]] std::string_view content_type_of(const row_view& view);

}  // namespace walrelay::outbox
