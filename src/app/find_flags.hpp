// The flags of walrelay find.
#pragma once

#include "tasks/find/find_options.hpp"

#include <CLI/CLI.hpp>

#include <functional>

namespace walrelay::app {

/// Adds the command, which fills `options`.
CLI::App* add_find(CLI::App& program, tasks::find_options& options,
                   const std::function<void(CLI::App&)>& add_settings);

}  // namespace walrelay::app
