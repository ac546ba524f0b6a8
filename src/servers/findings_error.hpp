// Findings that stand in the way, as the error that stops the relay.
#pragma once

#include "core/error.hpp"
#include "preflight/preflight.hpp"

#include <optional>
#include <vector>

namespace walrelay::servers {

/// Logs every warning and all but the first error, each once in the life of the process; the first
/// error is returned, nothing if there is none. On the loop's thread.
[[nodiscard]] std::optional<error> to_error(const std::vector<finding>& findings, errc code);

}  // namespace walrelay::servers
