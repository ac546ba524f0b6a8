// Bytes from a server, made fit for a line of text and for JSON.
#pragma once

#include <string>
#include <string_view>

namespace walrelay::audit {

/// Control bytes, and every byte beyond ASCII where the whole is not UTF-8, as `%XY`; cut after 200
/// bytes with "...".
[[nodiscard]] std::string printable(std::string_view bytes);

}  // namespace walrelay::audit
