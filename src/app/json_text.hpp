// A string as JSON text, for log lines and --json output.
#pragma once

#include <string>
#include <string_view>

namespace walrelay::app {

/// With its quotes. Takes UTF-8.
[[nodiscard]] std::string json_string(std::string_view text);

}  // namespace walrelay::app
