// A string as JSON text: for log lines, --json output and what goes to a server.
#pragma once

#include <string>
#include <string_view>

namespace walrelay {

/// With its quotes. Control characters, and those that turn the direction of a text or break its
/// lines, are escaped; a byte that is no UTF-8 becomes U+FFFD.
[[nodiscard]] std::string json_string(std::string_view text);

/// JSON of somebody else, the same value, as a terminal may show it: its strings hold none of those
/// characters any more.
[[nodiscard]] std::string printable_json(std::string_view json);

}  // namespace walrelay
