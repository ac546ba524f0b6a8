// The part of the command line that says what `walrelay bookmark` is asked for.
#pragma once

#include "app/command_line.hpp"

#include <CLI/CLI.hpp>

#include <functional>

namespace walrelay::app {

/// Adds `bookmark` and what stands below it to the program, and gives it. `request` must outlive
/// the program; `add_settings` adds the flags of the configuration to each action.
CLI::App* add_bookmark(CLI::App& program, bookmark_request& request,
                       const std::function<void(CLI::App&)>& add_settings);

}  // namespace walrelay::app
