// Text of others made fit for one line that people read.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <string_view>

namespace walrelay {

/// One line, whatever the text holds. Control characters become \n, \t or \x1b; bytes that are no
/// UTF-8 \xff; characters that turn or break lines (bidirectional controls, U+2028, C1 controls)
/// \u202e. What is longer than `bytes_max` loses its middle: what happened is said at the beginning
/// of a message, and what to do at its end.
[[nodiscard]] std::string one_line(std::string_view text,
                                   std::size_t bytes_max = std::numeric_limits<std::size_t>::max());

}  // namespace walrelay
