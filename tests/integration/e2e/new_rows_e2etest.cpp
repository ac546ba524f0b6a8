// Rows that pass while the relay runs, and leave no sign that anybody could look at: the change
// that let them pass is over when its transaction is.
#include "integration/e2e/answering_relay.hpp"
#include "integration/e2e/relay_bench.hpp"
#include "support/eventually.hpp"

#include <gmock/gmock.h>

namespace walrelay::test {
namespace {

using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;

class NewRows : public e2e_test {
protected:
    void SetUp() override { bench.create_table(); }
    /// A row that the output plugin does not take for one of the outbox.
    void let_a_row_pass() {
        const bool by_publication = std::string(GetParam()) == "pgoutput";
        const auto publication = "ALTER PUBLICATION " + bench.name();
        const auto before = by_publication ? publication + " DROP TABLE public.outbox_events"
                                           : "ALTER TABLE outbox_events RENAME TO renamed";
        const auto after = by_publication ? publication + " ADD TABLE public.outbox_events"
                                          : "ALTER TABLE renamed RENAME TO outbox_events";
        bench.execute(
            "BEGIN; " + before + "; " +
            insert_event(++last_, "order-1", by_publication ? "outbox_events" : "renamed") + "; " +
            after + "; COMMIT");
    }
    std::uint64_t last_ = 1;
};

TEST_P(NewRows, ThatPassHaltTheRelay) {
    bench.start();
    bench.execute(insert_event(last_));
    ASSERT_TRUE(bench.wait_for_messages(1));
    EXPECT_TRUE(eventually(patience, [&] {
        let_a_row_pass();
        return bench.relay().log().find("[halted ") != std::string::npos;
    })) << bench.relay().log();
    // What was done to a publication shows in its catalog, and is known sooner.
    EXPECT_THAT(bench.relay().log(),
                AnyOf(HasSubstr("of the newest in the outbox tables"),
                      HasSubstr("taken out of publication " + bench.name() + " and put in again")));
    EXPECT_EQ(bench.relay().process().wait_exit(patience), 3);
}

TEST_P(NewRows, ThatAreRelayedAndChangedAreNotLookedFor) {
    answering_relay relay(bench, "relay");
    ASSERT_TRUE(relay.is("streaming", true, true));
    EXPECT_TRUE(eventually(patience, [&] {
        bench.execute(insert_event(++last_) + "; UPDATE outbox_events SET status = status");
        return relay.says("/metrics", "\nwalrelay_startup_check_timestamp_seconds ");
    })) << relay.process().log();
    EXPECT_THAT(relay.process().log(), Not(HasSubstr("startup check: looking")));
    EXPECT_THAT(relay.process().log(), Not(HasSubstr("are not compared")));
}

INSTANTIATE_TEST_SUITE_P(Plugins, NewRows, both_plugins(), plugin_name);

}  // namespace
}  // namespace walrelay::test
