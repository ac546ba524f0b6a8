// See summary.hpp.
#include "demo/summary.hpp"

#include "demo/paint.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <string>

namespace walrelay::demo {
namespace {

std::string milliseconds(duration taken) {
    return fmt::format("{:.1f} ms", taken.count());
}

}  // namespace

bool print_summary(const written& rows, const std::vector<test::seen_event>& stream,
                   const latencies& taken) {
    const auto result = test::compare(rows.ids, stream);
    fmt::print("\n{} rows committed in {} transactions; {} rows in {} more were rolled back\n",
               rows.ids.size(), rows.transactions, rows.rows_rolled_back,
               rows.transactions_rolled_back);
    fmt::print(
        "{} messages in the stream: {} missing, {} twice, {} out of order, {} never committed\n",
        stream.size(), result.missing.size(), result.twice.size(), result.out_of_order.size(),
        result.unexpected.size());
    fmt::print(
        "from COMMIT to the consumer: {} for half of them; the slowest, which waited for the\n"
        "broker, {}\n",
        milliseconds(taken.median), milliseconds(taken.slowest));
    if (result.flawless()) {
        fmt::print("{}\n", painted(hue::good,
                                   "Every committed row is in the stream once, in the order of "
                                   "commit."));
    } else {
        fmt::print("{}\n{}",
                   painted(hue::bad, "NOT every committed row is in the stream once and in order:"),
                   to_string(result));
    }
    std::fflush(stdout);
    return result.flawless();
}

}  // namespace walrelay::demo
