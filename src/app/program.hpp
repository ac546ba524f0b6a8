// The program from its arguments to its exit code.
#pragma once

#include <filesystem>

namespace walrelay::app {

/// `root` stands before /proc and /sys, where a relay looks for the limits of its control group.
[[nodiscard]] int run_program(int argc, const char* const* argv,
                              const std::filesystem::path& root = "/");

}  // namespace walrelay::app
