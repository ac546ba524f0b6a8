// What a running process has used so far, as the kernel counts it.
#pragma once

#include <sys/types.h>

namespace walrelay::bench {

/// User and system time of all its threads, in steps of 10 ms. Throws std::runtime_error if the
/// process is gone.
[[nodiscard]] double processor_seconds(pid_t process);

}  // namespace walrelay::bench
