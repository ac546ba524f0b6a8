// Colour where a terminal is and nobody has asked for none (NO_COLOR, see no-color.org).
#pragma once

#include <string>
#include <string_view>

namespace walrelay::demo {

enum class hue { good, bad, faint };

/// `text` as standard output is to show it.
[[nodiscard]] std::string painted(hue how, std::string_view text);

}  // namespace walrelay::demo
