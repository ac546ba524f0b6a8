// Rows for people: columns side by side on a terminal.
#pragma once

#include "postgres/session/row_set.hpp"

#include <string>

namespace walrelay::app {

/// A head with the names of the columns, then a line for each row; NULL is left empty.
[[nodiscard]] std::string text_table(const postgres::row_set& rows);

}  // namespace walrelay::app
