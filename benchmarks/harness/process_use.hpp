// What processes have used so far, as the kernel counts it.
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace walrelay::bench {

/// User and system time of all its threads, in steps of 10 ms. Throws std::runtime_error if the
/// process is gone.
[[nodiscard]] double processor_seconds(pid_t process);

/// User and system time of all processes that this one has started and that have ended.
[[nodiscard]] double processor_seconds_of_ended();

/// The most memory that it ever had resident. Throws std::runtime_error if the process is gone.
[[nodiscard]] std::uint64_t peak_resident_bytes(pid_t process);

}  // namespace walrelay::bench
