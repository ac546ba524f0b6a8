// The program from its arguments to its exit code.
#pragma once

namespace walrelay::app {

[[nodiscard]] int run_program(int argc, const char* const* argv);

}  // namespace walrelay::app
