// Rows that are larger than memory is to hold.
#include "integration/e2e/relay_bench.hpp"

#include <fstream>
#include <string>

namespace walrelay::test {
namespace {

class LargeRow : public e2e_test {
protected:
    LargeRow() { bench.create_table(); }

    /// One event with a text of so many bytes in its payload.
    void insert_of(std::size_t bytes) {
        bench.execute(
            "INSERT INTO outbox_events (id, aggregate_id, aggregate_type, event_type, event_data, "
            "status, version, created_at) SELECT '00000000-0000-0000-0000-0000000000ff', "
            "'order-1', 'order', 'placed', to_jsonb(repeat('x', " +
            std::to_string(bytes) + ")), 'pending', 999, clock_timestamp()");
    }
    /// The most memory that the relay ever had.
    [[nodiscard]] std::uint64_t peak_bytes() {
        std::ifstream status("/proc/" + std::to_string(bench.relay().process().pid()) + "/status");
        for (std::string line; std::getline(status, line);) {
            if (line.starts_with("VmHWM:")) {
                return std::stoull(line.substr(6)) * 1024;
            }
        }
        return 0;
    }
    [[nodiscard]] std::string letter(const std::string& column) const {
        return bench.session().value_of("SELECT " + column + " FROM walrelay.dead_letter");
    }
};

TEST_P(LargeRow, IsSetAsideWithoutItsContentAndTheOthersGoOn) {
    bench.set_delivery("max_row_bytes = '1MiB'\n");
    bench.start();
    bench.execute(insert_events(1, 1));
    insert_of(std::size_t{3} << 20U);
    bench.execute(insert_events(2, 2));
    ASSERT_TRUE(bench.wait_for_messages(2)) << bench.relay().log();
    bench.stop();
    EXPECT_EQ(letter("event IS NULL"), "t");
    EXPECT_EQ(letter("message_id"), "00000000-0000-0000-0000-0000000000ff");
    EXPECT_NE(letter("reason").find("delivery.max_row_bytes = 1048576"), std::string::npos)
        << letter("reason");
    EXPECT_EQ(bench.command({"verify"}).exit_code, 0);
}

TEST_P(LargeRow, TakesThreeTimesItsSizeOfMemoryAtMost) {
    constexpr std::size_t size = std::size_t{128} << 20U;
    constexpr std::uint64_t for_all_else = std::uint64_t{96} << 20U;
    bench.start();
    insert_of(size);
    bench.execute(insert_events(1, 1));
    ASSERT_TRUE(bench.wait_for_messages(1)) << bench.relay().log();
    // libpq holds a message in a buffer that doubles, and hands out a copy.
    EXPECT_LT(peak_bytes(), 3 * size + for_all_else);
    bench.stop();
    EXPECT_EQ(letter("event IS NULL"), "t");
}

/// One that delivery.max_row_bytes lets pass, and that no broker takes: its letter holds all of it.
/// docs/sizing.md and app/memory_limit have these figures.
TEST_P(LargeRow, IsHeldAFewTimesWhereItIsKept) {
    constexpr std::size_t size = std::size_t{60} << 20U;
    constexpr std::uint64_t for_all_else = std::uint64_t{64} << 20U;
    const std::uint64_t times = bench.plugin() == "wal2json" ? 8 : 6;
    bench.start();
    insert_of(size);
    bench.execute(insert_events(1, 1));
    ASSERT_TRUE(bench.wait_for_messages(1)) << bench.relay().log();
    EXPECT_LT(peak_bytes(), times * size + for_all_else);
    bench.stop();
    EXPECT_EQ(letter("length(event::text) > " + std::to_string(size)), "t");
}

INSTANTIATE_TEST_SUITE_P(BothPlugins, LargeRow, both_plugins(), plugin_name);

}  // namespace
}  // namespace walrelay::test
