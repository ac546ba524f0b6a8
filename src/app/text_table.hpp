// Rows for people: columns side by side on a terminal.
#pragma once

#include "postgres/session/row_set.hpp"

#include <cstddef>
#include <optional>
#include <string>

namespace walrelay::app {

/// A head with the names of the columns, then a line for each row; NULL is left empty. Where that
/// is wider than `width`, the widest columns are shortened, down to eight characters, and end in
/// "…".
[[nodiscard]] std::string text_table(const postgres::row_set& rows,
                                     std::optional<std::size_t> width = {});

}  // namespace walrelay::app
