// The flags of `walrelay replay`. Reads no file and no environment.
#pragma once

#include "tasks/replay/replay_request.hpp"

#include <CLI/CLI.hpp>

#include <functional>

namespace walrelay::app {

/// Adds the command, with the configuration's flags by `add_settings`.
[[nodiscard]] CLI::App* add_replay(CLI::App& program, tasks::replay_request& request,
                                   const std::function<void(CLI::App&)>& add_settings);

}  // namespace walrelay::app
