// Business rows and events belong together: both or neither, whatever the system.
#include "systems/system_test.hpp"

namespace walrelay::test {
namespace {

using Transactions = system_test;

TEST_P(Transactions, CommitPublishesEveryEventOfTheBusinessRow) {
    bench.start();
    bench.write(3);
    const auto rows = static_cast<std::size_t>(3 * facts().rows_per_write);
    auto ids = ids_of(bench.messages(rows));
    std::sort(ids.begin(), ids.end());
    EXPECT_EQ(ids, row_ids());
    EXPECT_EQ(bench.value_of("SELECT count(*) FROM " + facts().business_table),
              std::to_string(3 * facts().business_rows_per_write));
    bench.stop();
    EXPECT_TRUE(bench.verified());
}

TEST_P(Transactions, RollbackPublishesNothing) {
    bench.start();
    auto rolled_back = bench.example_file("writer.sql");
    const auto commit = rolled_back.rfind("COMMIT;");
    ASSERT_NE(commit, std::string::npos);
    rolled_back.replace(commit, std::string::npos, "ROLLBACK;");
    bench.execute(rolled_back);
    ASSERT_EQ(row_ids().size(), 0U);
    bench.write();

    auto ids = ids_of(bench.messages(static_cast<std::size_t>(facts().rows_per_write)));
    std::sort(ids.begin(), ids.end());
    EXPECT_EQ(ids, row_ids());
    bench.stop();
}

INSTANTIATE_TEST_SUITE_P(, Transactions, all_systems_with_both_plugins(), system_name);

}  // namespace
}  // namespace walrelay::test
