// See summary.hpp.
#include "demo/summary.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <string_view>

namespace walrelay::demo {
namespace {

void print_row(std::string_view name, std::size_t count, const std::string& note = {}) {
    fmt::print("  {:<28}{:>10}{}{}\n", name, count, note.empty() ? "" : "   ", note);
}

}  // namespace

bool print_summary(const written& rows, const std::vector<test::seen_event>& stream,
                   const latencies& taken) {
    const auto result = test::compare(rows.ids, stream);
    fmt::print("\n");
    print_row("rows committed", rows.ids.size(),
              fmt::format("in {} transactions", rows.transactions));
    print_row("rows rolled back", rows.rows_rolled_back,
              fmt::format("in {} transactions", rows.transactions_rolled_back));
    print_row("messages in the stream", stream.size());
    print_row("missing", result.missing.size());
    print_row("twice", result.twice.size());
    print_row("never committed", result.unexpected.size());
    print_row("out of order", result.out_of_order.size());
    fmt::print("  {:<28}{:>10.2f}   p50, from COMMIT to the consumer\n", "milliseconds",
               taken.median.count());
    fmt::print("  {:<28}{:>10.2f}   p99\n", "", taken.slowest_of_a_hundred.count());
    fmt::print("  {:<28}{:>10.2f}   slowest\n\n", "", taken.slowest.count());
    if (result.flawless()) {
        fmt::print("Every committed row is in the stream once, in the order of commit.\n");
    } else {
        fmt::print("NOT every committed row is in the stream once and in order:\n{}",
                   to_string(result));
    }
    std::fflush(stdout);
    return result.flawless();
}

}  // namespace walrelay::demo
