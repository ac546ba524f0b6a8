// The command line of the simulation: many seeds, or one of them with its trace.
#pragma once

namespace walrelay::sim {

/// Returns the exit code: 0 all held (or, with --expect-violation, something was caught), 1 not.
[[nodiscard]] int run(int argc, char** argv);

}  // namespace walrelay::sim
