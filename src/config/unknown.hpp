// Names that stand for nothing, told with the name that was probably meant.
#pragma once

#include "config/problem.hpp"

#include <string>
#include <string_view>

namespace walrelay::config {

/// `section.name`, where the section is known but has no such key.
[[nodiscard]] problem unknown_key(std::string_view section, const std::string& name,
                                  const std::string& where);
/// A name at the top of the file: a table (a section) or a value (a key without its section).
[[nodiscard]] problem unknown_at_top(const std::string& name, bool is_table,
                                     const std::string& where);
[[nodiscard]] problem unknown_variable(const std::string& name);

}  // namespace walrelay::config
