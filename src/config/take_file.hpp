// The values of a file go into the draft.
#pragma once

#include "config/draft.hpp"

#include <string_view>

namespace walrelay::config {

/// Notes every unknown name. A syntax error is one problem, leaves the draft as it is and gives
/// false: nothing is known of the file then.
[[nodiscard]] bool take_file(std::string_view text, draft& to);

}  // namespace walrelay::config
