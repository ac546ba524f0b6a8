// A bytea's hexadecimal digits turned into its bytes, or into their base64 form.
#pragma once

#include <string>
#include <string_view>

namespace walrelay::outbox {

/// Appends the bytes that `digits` stand for. False, and nothing appended, if these are not pairs
/// of hexadecimal digits.
[[nodiscard]] bool append_bytes(std::string& bytes, std::string_view digits);

/// Appends the same bytes in base64 (RFC 4648, section 4, with padding). False, and nothing
/// appended, as above.
[[nodiscard]] bool append_base64(std::string& text, std::string_view digits);

}  // namespace walrelay::outbox
