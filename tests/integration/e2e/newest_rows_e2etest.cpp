// What the newest rows of the tables tell of a slot whose place nobody can account for: where they
// cannot be seen, nothing is taken for proved; where they are only changed, nothing is missing.
#include "integration/e2e/relay_bench.hpp"
#include "support/eventually.hpp"

#include <gmock/gmock.h>

#include <string>

namespace walrelay::test {
namespace {

using testing::HasSubstr;
using testing::Not;

class NewestRows : public e2e_test {
protected:
    NewestRows() { bench.create_table(); }

    /// Rows that are stored, and a slot that was told so.
    void run_with(std::uint64_t first, std::uint64_t last) {
        bench.start();
        bench.execute(insert_events(first, last));
        ASSERT_TRUE(bench.confirmed_reaches(bench.wal_end()));
        bench.stop();
    }
    /// Rows that the slot is moved past.
    void lose(std::uint64_t first, std::uint64_t last) {
        bench.execute(insert_events(first, last));
        bench.execute("SELECT pg_replication_slot_advance(" + as_literal(bench.name()) +
                      ", pg_current_wal_lsn())");
    }
    std::string told() {
        return bench.session().value_of("SELECT told FROM walrelay.witness WHERE slot = " +
                                        as_literal(bench.name()));
    }
    void expect_halt() {
        EXPECT_EQ(bench.relay().process().wait_exit(patience), 3) << bench.relay().log();
        EXPECT_THAT(bench.relay().log(), HasSubstr("of the newest in the outbox tables"));
    }
};

TEST_P(NewestRows, ThatPoliciesHideProveNothing) {
    const auto role = "hidden_from_" + bench.database();
    const auto made = bench.command({"init"});
    ASSERT_EQ(made.exit_code, 0) << made.errors;
    bench.execute("CREATE ROLE " + role + " LOGIN REPLICATION; GRANT USAGE ON SCHEMA walrelay TO " +
                  role + "; GRANT SELECT ON outbox_events TO " + role +
                  "; GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA walrelay TO " +
                  role + "; ALTER TABLE outbox_events ENABLE ROW LEVEL SECURITY");
    bench.set_conninfo(bench.conninfo() + " user=" + role);
    run_with(1, 20);
    lose(21, 25);
    bench.start();
    EXPECT_TRUE(bench.relay().wait_for_log("that is not noticed", patience)) << bench.relay().log();
    EXPECT_THAT(bench.relay().log(), HasSubstr("row-level security can hide rows of"));
    bench.stop();
}

TEST_P(NewestRows, ThatAreLockedForTheMomentAreWaitedFor) {
    run_with(1, 20);
    lose(21, 25);
    const auto before = told();
    auto holder = bench.session();
    holder.execute("BEGIN; LOCK TABLE outbox_events");
    bench.launch();
    EXPECT_TRUE(bench.relay().wait_for_log("somebody else holds a lock", patience));
    EXPECT_TRUE(bench.relay().wait_for_log("trying again", patience)) << bench.relay().log();
    EXPECT_EQ(told(), before) << "the next start must find it as it is";
    holder.execute("COMMIT");
    expect_halt();
}

TEST_P(NewestRows, ThatAreOldAndOnlyChangedAreNotMissedWhereTheStreamHasRemovedSome) {
    bench.broker().create(
        {.name = bench.stream_name(), .subjects = {bench.name() + ".>"}, .max_messages = 10});
    run_with(1, 20);
    bench.execute("UPDATE outbox_events SET status = status WHERE version = 1");
    bench.start();
    bench.execute(insert_event(21));
    ASSERT_TRUE(bench.confirmed_reaches(bench.wal_end())) << bench.relay().log();
    bench.stop();
    EXPECT_THAT(bench.relay().log(), Not(HasSubstr("startup check: looking")));
}

TEST_P(NewestRows, ThatAreNewAreMissedWhereTheStreamHasRemovedSome) {
    bench.broker().create(
        {.name = bench.stream_name(), .subjects = {bench.name() + ".>"}, .max_messages = 10});
    run_with(1, 20);
    lose(21, 25);
    bench.launch();
    expect_halt();
}

INSTANTIATE_TEST_SUITE_P(Plugins, NewestRows, both_plugins(), plugin_name);

}  // namespace
}  // namespace walrelay::test
