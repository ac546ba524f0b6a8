// Finds the file of a context of the nats command and reads it.
#pragma once

#include "config/nats_context.hpp"
#include "config/read.hpp"

#include <optional>
#include <string>

namespace walrelay::app {

/// `$XDG_CONFIG_HOME/nats/context/<name>.json`, or below `$HOME/.config` where that is not set. The
/// error names the path, and a context that may have been meant.
[[nodiscard]] config::read_result<config::context_file> read_nats_context(
    const std::string& name, const std::optional<std::string>& config_home,
    const std::optional<std::string>& home);

}  // namespace walrelay::app
