// Systems whose runbook deletes old rows: walrelay does it, and never by age alone.
#include "systems/system_test.hpp"

namespace walrelay::test {
namespace {

class CleanUp : public system_test {
protected:
    [[nodiscard]] std::string count() const { return "SELECT count(*) FROM " + facts().table; }
};

TEST_P(CleanUp, DeletesAtOnceWhatTheStreamHas) {
    bench.set("WALRELAY_OUTBOX_DELETE_AFTER", "0s");
    bench.start();
    bench.write(5);
    EXPECT_TRUE(bench.becomes(count(), "0"));
    const auto rows = static_cast<std::size_t>(5 * facts().rows_per_write);
    EXPECT_EQ(bench.messages(rows).size(), rows);
    bench.stop();
}

TEST_P(CleanUp, DeletesAfterAWhileAndKeepsWhatIsNotInTheStream) {
    // Of the old poller: never in this stream, however old it is.
    bench.write();
    bench.execute("UPDATE " + facts().table + " SET " + facts().poller_mark +
                  ", created_at = created_at - interval '30 days'");
    bench.set("WALRELAY_OUTBOX_DELETE_AFTER", "1s");
    bench.start();
    const auto dead = bench.value_of(facts().poison);
    bench.write(5);
    EXPECT_TRUE(bench.becomes(count(), std::to_string(facts().rows_per_write + 1)));
    EXPECT_EQ(bench.value_of(state_of(dead)), facts().dead);
    const auto rows = static_cast<std::size_t>(5 * facts().rows_per_write);
    EXPECT_EQ(bench.messages(rows).size(), rows);
    bench.stop();
}

TEST_P(CleanUp, OfTheExampleLeavesYoungRowsAlone) {
    bench.start();
    bench.write(3);
    const auto rows = std::to_string(3 * facts().rows_per_write);
    ASSERT_TRUE(bench.becomes(count_of(facts().published), rows));
    EXPECT_TRUE(throughout(500ms, [&] { return bench.value_of(count()) == rows; }));
    bench.stop();
}

INSTANTIATE_TEST_SUITE_P(, CleanUp,
                         testing::Combine(testing::Values("clinic", "bento"), both_plugins()),
                         system_name);

}  // namespace
}  // namespace walrelay::test
