// A string as JSON text: for log lines, --json output and what goes to a server.
#pragma once

#include <string>
#include <string_view>

namespace walrelay {

/// With its quotes. Takes UTF-8.
[[nodiscard]] std::string json_string(std::string_view text);

}  // namespace walrelay
