// A TCP port of the loopback interface that nobody uses at the moment.
#pragma once

#include <cstdint>

namespace walrelay::test {

/// Bound and released: another process may take it before its user does, which is rare enough, as
/// the kernel goes round the whole range before it gives out the same port again. Throws
/// std::system_error.
[[nodiscard]] std::uint16_t free_port();

}  // namespace walrelay::test
