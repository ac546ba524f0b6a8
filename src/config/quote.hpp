// Text of a user inside a message: always one line, never endless.
#pragma once

#include <string>
#include <string_view>

namespace walrelay::config {

/// The text with control characters as `\xHH`, cut after 200 bytes.
[[nodiscard]] std::string printable(std::string_view text);

/// The same in double quotes. Not for values that may hold a secret.
[[nodiscard]] std::string in_quotes(std::string_view text);

}  // namespace walrelay::config
