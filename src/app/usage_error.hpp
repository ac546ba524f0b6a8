// What is said of a command line that cannot be used.
#pragma once

#include <CLI/CLI.hpp>

#include <string>

namespace walrelay::app {

/// What is wrong with the command line that `program` refused with `problem`, which argument it is,
/// and what was probably meant. One line, without the program's name.
[[nodiscard]] std::string usage_error(const CLI::App& program, const CLI::ParseError& problem);

}  // namespace walrelay::app
