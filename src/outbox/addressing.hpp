// Where a message goes and by what the broker recognizes it: subject and message id, neither of
// which can be made without the columns that its template names.
#pragma once

#include "core/error.hpp"
#include "outbox/row_view.hpp"

#include <string>

namespace walrelay::outbox {

/// Replaces `subject`. Errors: row_unmappable for a NULL or empty column and for one too long.
[[nodiscard]] result<void> render_subject(const row_view& view, std::string& subject);

/// Replaces `id` with the text as the columns have it, not yet fit for a header. Errors:
/// row_unmappable for a NULL or empty column.
[[nodiscard]] result<void> render_message_id(const row_view& view, std::string& id);

}  // namespace walrelay::outbox
