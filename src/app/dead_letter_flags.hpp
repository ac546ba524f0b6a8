// The part of the command line that says what `walrelay dead-letter` is asked for.
#pragma once

#include "tasks/dead_letter/dead_letter_request.hpp"

#include <CLI/CLI.hpp>

#include <cstdint>
#include <functional>
#include <string>

namespace walrelay::app {

/// Adds `dead-letter` and what stands below it to the program, and gives it. `request` must outlive
/// the program; `add_settings` adds the flags of the configuration to each action.
CLI::App* add_dead_letter(CLI::App& program, tasks::dead_letter_request& request,
                          const std::function<void(CLI::App&)>& add_settings);

/// A number from 1 on. Throws CLI::ValidationError, which names the argument.
[[nodiscard]] std::int64_t read_number(const std::string& name, const std::string& text);

}  // namespace walrelay::app
