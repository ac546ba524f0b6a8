// What may stand in a subject. NATS neither refuses a subject with wildcards nor tells a malformed
// one from a missing stream, so nothing of that kind may leave this folder. Source of the rules:
// NATS documentation, "Subject-Based Messaging", and sublist.go of nats-server.
#pragma once

#include "core/error.hpp"
#include "outbox/text_template.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace walrelay::outbox {

/// Longest subject, in bytes. The server's limit is that of its protocol line (4 KiB, with the
/// reply subject); this leaves room for the reply and for what consumers put in front.
inline constexpr std::size_t subject_limit_bytes = 1024;

/// Appends `value` as one token or as part of one: blanks, control bytes, '.', '*', '>' and '%' are
/// percent-encoded, and a '$' at the very beginning of the subject. Reversible.
void append_subject_token(std::string& subject, std::string_view value);

/// Appends the value that ends a subject: its dots part tokens. One with an empty token, which NATS
/// does not take, is appended as one token. Reversible.
void append_subject_tail(std::string& subject, std::string_view value);

/// Checks the literal text of a subject. Errors: configuration_invalid.
[[nodiscard]] result<void> check_subject(const text_template& subject);

/// The text of a column of which it is known, by the name in the template.
using known_values = std::function<std::optional<std::string_view>(std::string_view name)>;

/// As below; but tokens whose names are all known are as a row of these values has them.
[[nodiscard]] std::string subject_pattern(const text_template& subject,
                                          const known_values& value_of);

/// The subject with `*` in place of each token that holds a name, and `>` in place of the last one
/// where a name ends it.
[[nodiscard]] std::string subject_pattern(const text_template& subject);

}  // namespace walrelay::outbox
