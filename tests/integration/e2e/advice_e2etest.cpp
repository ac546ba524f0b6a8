// What walrelay says to people is true, and the fix that it offers first destroys nothing and
// works.
#include "integration/e2e/relay_bench.hpp"
#include "support/child_process.hpp"
#include "support/eventually.hpp"

#include <gmock/gmock.h>

namespace walrelay::test {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;

class Advice : public testing::Test {
protected:
    relay_bench bench{shared_postgres(), shared_nats(), "pgoutput"};
};

TEST_F(Advice, OnAMissingPublicationKeepsWhatTheSlotHas) {
    bench.create_table();
    bench.start();
    bench.execute(insert_event(1));
    ASSERT_TRUE(bench.wait_for_messages(1));
    bench.stop();
    bench.execute("DROP PUBLICATION " + bench.name());
    bench.execute(insert_event(2));
    const auto checked = bench.command({"check"});
    EXPECT_EQ(checked.exit_code, 1);
    const auto safe = checked.output.find("walrelay init --switch-plugin");
    const auto unsafe = checked.output.find("pg_drop_replication_slot");
    ASSERT_NE(safe, std::string::npos) << checked.output;
    EXPECT_LT(safe, unsafe) << checked.output;
    EXPECT_THAT(checked.output, HasSubstr("which destroys what only the slot holds"));
    bench.set_plugin("wal2json");
    const auto switched = bench.command({"init", "--switch-plugin"});
    ASSERT_EQ(switched.exit_code, 0) << switched.errors;
    bench.start();
    bench.execute(insert_event(3));
    bench.expect_relayed(event_ids(1, 3));
}

TEST_F(Advice, OnAConditionNamesWhereItStands) {
    bench.create_table();
    ASSERT_EQ(bench.command({"init"}).exit_code, 0);
    bench.execute(insert_event(1));
    for (const auto* const wrong : {"version >", "version / 0 = 1", "nothing = 1"}) {
        const auto run = bench.command({"verify", "--where", wrong});
        EXPECT_EQ(run.exit_code, 3) << run.output << run.errors;
        EXPECT_THAT(run.errors, AllOf(HasSubstr("--where"), Not(HasSubstr("walrelay check"))))
            << wrong;
    }
}

TEST_F(Advice, OnRowSecurityIsNoGrantOfARightThatIsThere) {
    bench.create_table();
    ASSERT_EQ(bench.command({"init"}).exit_code, 0);
    const auto role = "reading_of_" + bench.database();
    bench.execute("CREATE ROLE " + role + " LOGIN REPLICATION; GRANT USAGE ON SCHEMA walrelay TO " +
                  role + "; GRANT SELECT ON ALL TABLES IN SCHEMA walrelay TO " + role +
                  "; GRANT SELECT ON outbox_events TO " + role +
                  "; ALTER TABLE outbox_events ENABLE ROW LEVEL SECURITY");
    bench.set_conninfo(bench.conninfo() + " user=" + role);
    const auto hidden = bench.command({"verify"});
    EXPECT_EQ(hidden.exit_code, 3) << hidden.output;
    const auto bypass = "ALTER ROLE \"" + role + "\" BYPASSRLS;";
    EXPECT_THAT(hidden.errors, AllOf(HasSubstr(bypass), Not(HasSubstr("GRANT SELECT"))));
    bench.execute(bypass);
    const auto seen = bench.command({"verify"});
    EXPECT_EQ(seen.exit_code, 0) << seen.output << seen.errors;
}

TEST(AdviceAtFirst, SaysNothingOfASlotThatIsNotThere) {
    nats_server nats;
    relay_bench bench(shared_postgres(), nats, "pgoutput");
    bench.create_table();
    nats.stop();
    bench.launch();
    ASSERT_TRUE(bench.relay().wait_for_log("trying again", patience));
    bench.stop();
    EXPECT_THAT(bench.relay().log(),
                Not(AnyOf(HasSubstr("in the slot"), HasSubstr("is lost"), HasSubstr("0/0"))));
}

#ifndef WALRELAY_SANITIZED
TEST_F(Advice, OnTooLittleMemoryDoesNotBlameTheBroker) {
    bench.create_table();
    ASSERT_EQ(bench.command({"init"}).exit_code, 0);
    constexpr int first = 60;
    constexpr int last = 300;
    constexpr int step = 20;
    for (int megabytes = first; megabytes <= last; megabytes += step) {
        const auto run = run_to_end(
            {.program = "prlimit",
             .arguments = {"--as=" + std::to_string(megabytes * 1024 * 1024), WALRELAY_BINARY,
                           "check", "--config", (bench.folder() / "walrelay.toml").string()},
             .folder = bench.folder(),
             .environment = {},
             .name = "limited" + std::to_string(megabytes)},
            patience);
        EXPECT_THAT(run.output + run.errors,
                    Not(AnyOf(HasSubstr("the broker at"), HasSubstr("nats.urls"))))
            << megabytes;
    }
}
#endif

}  // namespace
}  // namespace walrelay::test
