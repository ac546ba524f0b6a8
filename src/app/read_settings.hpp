// Finds the configuration file and the environment, hands their texts to config/load, and has what
// only other parts can judge judged by them: the conninfo and the templates.
#pragma once

#include "app/command_line.hpp"
#include "config/settings.hpp"

#include <optional>
#include <string>

namespace walrelay::app {

/// The settings, or nothing after all problems have been printed on standard error.
/// `file_read` becomes the name of the file that was read, empty if there was none.
[[nodiscard]] std::optional<config::settings> read_settings(const command_line& line,
                                                            std::string* file_read = nullptr);

}  // namespace walrelay::app
