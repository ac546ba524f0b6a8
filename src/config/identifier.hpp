// The name of a table as SQL writes it, turned into the name in the catalog.
#pragma once

#include "config/read.hpp"
#include "core/outbox_table.hpp"

#include <string_view>

namespace walrelay::config {

/// Reads `table`, `schema.table` or quoted parts, `"Odd Schema"."My ""T"""`. The schema is `public`
/// where there is none. Parts without quotes are folded to lower case (A to Z, as PostgreSQL does
/// in UTF-8). Source: PostgreSQL documentation, "Identifiers and Key Words".
[[nodiscard]] read_result<table_name> read_table_name(std::string_view text);

}  // namespace walrelay::config
