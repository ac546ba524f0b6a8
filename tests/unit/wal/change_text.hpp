// Changes in words, one line each, so that they can be compared and a failure can be read.
#pragma once

#include "core/change.hpp"

#include <string>

namespace walrelay::testing {

/// `begin 0/1A2 at 2026-01-31 12:34:56.789`, `commit 0/1A2 end 0/1B0`, `nothing to relay`, or
/// `insert schema.table column:type=value ...`. A NULL is `null`, any other value stands in quotes
/// with everything unprintable escaped; a value of more than 200 bytes is cut and hashed. The
/// revision of the table is left out.
[[nodiscard]] std::string to_text(const change& decoded);

}  // namespace walrelay::testing
