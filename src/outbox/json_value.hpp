// A column's value as JSON.
#pragma once

#include "outbox/type_kind.hpp"

#include <string>
#include <string_view>

namespace walrelay::outbox {

/// Appends a JSON string. Escapes '"', '\' and what is below 0x20; leaves everything else as it is.
void append_json_string(std::string& json, std::string_view text);

/// Appends a value that is not NULL: json byte for byte, numbers and booleans as such (NaN and the
/// infinities as strings), bytea as a base64 string, timestamps as RFC 3339 strings, everything
/// else as a string. Returns what is wrong with the value, to follow the name of its column in a
/// sentence; empty if nothing is.
[[nodiscard]] std::string_view append_json_value(std::string& json, std::string_view text,
                                                 type_kind kind);

}  // namespace walrelay::outbox
