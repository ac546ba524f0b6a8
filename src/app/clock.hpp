// The one place where the program looks at its clocks.
#pragma once

#include "core/instant.hpp"

#include <chrono>

namespace walrelay::app {

/// As this machine's clocks say.
[[nodiscard]] inline instant own_now() {
    return {
        std::chrono::steady_clock::now(),
        std::chrono::time_point_cast<std::chrono::microseconds>(std::chrono::system_clock::now())};
}

/// The wall clock is PostgreSQL's, which commit times are of, from when its difference is known.
[[nodiscard]] instant now();

/// By the wall clock of now: it may have been corrected since.
[[nodiscard]] inline wall_time wall_time_of(const instant& then, const instant& now) {
    return now.wall -
           std::chrono::duration_cast<std::chrono::microseconds>(now.monotonic - then.monotonic);
}

/// What PostgreSQL's clock says now. Less than a second is left alone: to ask takes time as well.
void take_server_time(wall_time server);

}  // namespace walrelay::app
