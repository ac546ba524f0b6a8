// The value of output_plugin_libraries, as the server splits it. Pure.
#pragma once

#include <string_view>

namespace walrelay::postgres {

/// Whether the list names the library exactly: a comma-separated list, white space around entries
/// ignored, quoted entries taken as they are. There is no wild card, and case matters.
/// Source: PostgreSQL documentation, "output_plugin_libraries".
[[nodiscard]] bool lists_library(std::string_view list, std::string_view library);

}  // namespace walrelay::postgres
