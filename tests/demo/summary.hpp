// What came of it, in a few lines.
#pragma once

#include "demo/demo_writer.hpp"
#include "demo/latency_book.hpp"
#include "support/comparison.hpp"

#include <cstdint>
#include <vector>

namespace walrelay::demo {

/// Prints counts, latencies and the verdict. True if nothing is missing, twice or out of order.
[[nodiscard]] bool print_summary(const written& rows, const std::vector<test::seen_event>& stream,
                                 const latencies& taken);

}  // namespace walrelay::demo
