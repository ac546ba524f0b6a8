// Text made fit for the value of a header. nats-server up to 2.12.1 finds its own headers by
// searching the whole block for their names (getHeader in client.go), so the text "Nats-" must not
// be in a value either, or a row could switch off the duplicate check of its own message.
#pragma once

#include <string>
#include <string_view>

namespace walrelay::outbox {

/// Appends `value`. An ordinary value stays as it is. One with control bytes, with blanks at its
/// ends, or with "Nats-" in any case is percent-encoded at those places ('-' for "Nats-") and at
/// each '%'.
void append_header_value(std::string& text, std::string_view value);

/// The same for Nats-Msg-Id. Where the value ends like the id of a row that was published again
/// (core/occasion.hpp) that mark is encoded too: who writes a row chooses its id, and would else
/// choose another row that its message stands for.
void append_message_id(std::string& text, std::string_view value);

/// Appends `value` percent-encoded as the NATS binding of CloudEvents 1.0 asks (section "NATS
/// Header Values"): everything but U+0021 to U+007E, and '"' and '%'. "Nats-" as above.
void append_cloudevents_value(std::string& text, std::string_view value);

}  // namespace walrelay::outbox
