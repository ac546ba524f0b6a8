// Figures as people read them.
#pragma once

#include <string>

namespace walrelay {

/// "48.2 MB".
[[nodiscard]] std::string show_bytes(double bytes);

/// "1.5 s", "3.0 min".
[[nodiscard]] std::string show_seconds(double seconds);

}  // namespace walrelay
