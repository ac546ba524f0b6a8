// The one place where the program looks at its clocks.
#pragma once

#include "core/instant.hpp"

#include <chrono>

namespace walrelay::app {

[[nodiscard]] inline instant now() {
    return {
        std::chrono::steady_clock::now(),
        std::chrono::time_point_cast<std::chrono::microseconds>(std::chrono::system_clock::now())};
}

}  // namespace walrelay::app
