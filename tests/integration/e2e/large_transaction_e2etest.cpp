// A transaction larger than any memory the relay may use: rows are published as they arrive.
#include "integration/e2e/relay_bench.hpp"
#include "support/eventually.hpp"

namespace walrelay::test {
namespace {

class LargeTransaction : public e2e_test {};

TEST_P(LargeTransaction, OfRowsBeyondTheMemoryNeedsLessThan64MebibytesAndComesInOrder) {
    // A relay that kept them until the commit would need about 100 MiB; the benchmark of one
    // transaction takes a million.
    constexpr std::uint64_t rows = 300000;
    constexpr std::uint64_t memory_limit_bytes = 64ULL << 20U;
    bench.create_table();
    bench.start();
    bench.execute(insert_events(1, rows));

    EXPECT_TRUE(eventually(std::chrono::minutes(4), [&] {
        return bench.broker().message_count(bench.stream_name()) >= rows;
    }));
    EXPECT_TRUE(bench.confirmed_reaches(bench.wal_end()));
    EXPECT_LT(bench.relay().process().resident_peak_bytes(), memory_limit_bytes);
    bench.expect_relayed(event_ids(1, rows));
}

INSTANTIATE_TEST_SUITE_P(, LargeTransaction, both_plugins(), plugin_name);

}  // namespace
}  // namespace walrelay::test
