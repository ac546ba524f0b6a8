// The part of the command line that says what `walrelay dead-letter` is asked for.
#pragma once

#include "tasks/dead_letter/dead_letter_request.hpp"

#include <CLI/CLI.hpp>

#include <functional>

namespace walrelay::app {

/// Adds `dead-letter` and what stands below it to the program, and gives it. `request` must outlive
/// the program; `add_settings` adds the flags of the configuration to each action.
CLI::App* add_dead_letter(CLI::App& program, tasks::dead_letter_request& request,
                          const std::function<void(CLI::App&)>& add_settings);

}  // namespace walrelay::app
