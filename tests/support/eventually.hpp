// Waiting for something that another process does and that cannot be waited for in any other way.
#pragma once

#include <chrono>
#include <functional>

namespace walrelay::test {

/// Asks again and again until `condition` holds. False if it still does not after `patience`.
[[nodiscard]] bool eventually(std::chrono::milliseconds patience,
                              const std::function<bool()>& condition);

/// Keeps looking for the whole of `duration`: false as soon as `condition` no longer holds. For
/// what must not happen.
[[nodiscard]] bool throughout(std::chrono::milliseconds duration,
                              const std::function<bool()>& condition);

}  // namespace walrelay::test
