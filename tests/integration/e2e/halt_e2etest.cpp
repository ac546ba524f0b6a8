// A gap stops every relay of the slot until somebody decides: neither a restart nor a standby goes
// on past it.
#include "integration/e2e/relay_bench.hpp"
#include "support/eventually.hpp"

#include <csignal>

namespace walrelay::test {
namespace {

class Halt : public e2e_test {
protected:
    Halt() { bench.create_table(); }

    void advance_slot() {
        bench.execute("SELECT pg_replication_slot_advance(" + as_literal(bench.name()) +
                      ", pg_current_wal_lsn())");
    }

    /// The relay finds the slot past row 2 when it comes back to it.
    void advance_under_the_relay() {
        bench.execute(insert_event(1));
        ASSERT_TRUE(bench.confirmed_reaches(bench.wal_end()));
        bench.relay().process().signal(SIGSTOP);
        (void)bench.slot("pg_terminate_backend(active_pid)");
        ASSERT_TRUE(eventually(patience, [&] { return bench.slot("active") == "f"; }));
        bench.execute(insert_event(2));
        advance_slot();
        bench.relay().process().signal(SIGCONT);
    }

    void halt() {
        bench.start();
        advance_under_the_relay();
        ASSERT_EQ(bench.relay().process().wait_exit(patience), 3);
    }

    /// With the configuration that the bench wrote last.
    relay_process another(const std::string& name) {
        return relay_process(
            {.program = WALRELAY_BINARY,
             .arguments = {"run", "--config", (bench.folder() / "walrelay.toml").string()},
             .folder = bench.folder(),
             .name = name});
    }

    std::string kept(const std::string& what) {
        return bench.session().value_of("SELECT " + what + " FROM walrelay.halt");
    }

    bool is_forgotten() {
        return eventually(patience, [&] { return kept("count(*)") == "0"; });
    }

    static testing::AssertionResult says(const std::string& text, const std::string& wanted) {
        return text.find(wanted) == std::string::npos
                   ? testing::AssertionFailure() << "no '" << wanted << "' in: " << text
                   : testing::AssertionSuccess();
    }
};

TEST_P(Halt, OutlastsARestartAndEndsWithResume) {
    halt();
    EXPECT_TRUE(says(kept("reason"), "stands at LSN"));
    EXPECT_TRUE(says(kept("fix"), "walrelay resume"));
    const auto position = bench.slot("confirmed_flush_lsn");
    bench.execute(insert_event(3));
    for (int again = 0; again < 2; ++again) {
        const auto refused = bench.command({"run"});
        EXPECT_EQ(refused.exit_code, 3);
        EXPECT_TRUE(says(refused.errors, kept("reason")));
        EXPECT_TRUE(says(refused.errors, "fix: "));
    }
    EXPECT_EQ(bench.slot("confirmed_flush_lsn"), position);
    const auto checked = bench.command({"check"});
    EXPECT_EQ(checked.exit_code, 1);
    EXPECT_TRUE(says(checked.output, kept("reason")));
    EXPECT_TRUE(says(checked.output, "walrelay resume"));

    const auto resumed = bench.command({"resume"});
    EXPECT_EQ(resumed.exit_code, 0) << resumed.errors;
    EXPECT_TRUE(says(resumed.output, kept("reason")));
    EXPECT_TRUE(
        says(resumed.output, "Resumed slot " + bench.name() + ": the next `walrelay run` goes on"));
    EXPECT_EQ(bench.command({"check"}).exit_code, 0);
    bench.start();
    ASSERT_TRUE(bench.wait_for_messages(2));
    EXPECT_TRUE(is_forgotten());
    bench.stop();
    EXPECT_EQ(bench.events().back().id, event_id(3));
    EXPECT_TRUE(says(bench.command({"resume"}).output, "is not halted"));
}

TEST_P(Halt, KeepsAStandbyOut) {
    bench.start();
    auto standby = another("standby");
    ASSERT_TRUE(standby.wait_for_log("standing by", patience));
    standby.process().signal(SIGSTOP);
    advance_under_the_relay();
    EXPECT_EQ(bench.relay().process().wait_exit(patience), 3);
    const auto position = bench.slot("confirmed_flush_lsn");
    standby.process().signal(SIGCONT);
    EXPECT_EQ(standby.process().wait_exit(patience), 3);
    EXPECT_TRUE(says(standby.log(), kept("reason")));
    EXPECT_EQ(bench.slot("confirmed_flush_lsn"), position);
}

TEST_P(Halt, IsFoundByBothOfTwoRelaysThatStartBesideEachOther) {
    bench.start();
    bench.execute(insert_events(1, 5));
    ASSERT_TRUE(bench.wait_for_messages(5));
    bench.stop();
    bench.execute(insert_event(6));
    advance_slot();
    bench.launch();
    auto second = another("second");
    EXPECT_EQ(bench.relay().process().wait_exit(patience), 3);
    EXPECT_EQ(second.process().wait_exit(patience), 3);
    EXPECT_TRUE(says(bench.relay().log(), event_id(6)));
    EXPECT_TRUE(says(second.log(), event_id(6)));
    // The startup check would find the same again.
    EXPECT_EQ(bench.command({"resume"}).exit_code, 0);
    bench.start();
    bench.execute(insert_event(7));
    ASSERT_TRUE(bench.wait_for_messages(6));
    EXPECT_TRUE(is_forgotten());
    bench.stop();
}

TEST_P(Halt, IsRemovedByARunThatSkipsTheStartupCheck) {
    halt();
    bench.execute(insert_event(3));
    relay_process skipping({.program = WALRELAY_BINARY,
                            .arguments = {"run", "--skip-startup-check", "--config",
                                          (bench.folder() / "walrelay.toml").string()},
                            .folder = bench.folder(),
                            .name = "skipping"});
    ASSERT_TRUE(bench.wait_for_messages(2));
    EXPECT_TRUE(is_forgotten());
    EXPECT_TRUE(says(skipping.log(), "--skip-startup-check"));
    EXPECT_EQ(skipping.stop(patience), 0);
}

TEST_P(Halt, IsHealed) {
    halt();
    bench.execute(insert_event(3));
    bench.set_delivery("on_slot_loss = 'heal'");
    bench.start();
    bench.execute(insert_event(4));
    ASSERT_TRUE(bench.wait_for_messages(4));
    EXPECT_TRUE(is_forgotten());
    bench.stop();
    std::vector<std::string> ids;
    for (const auto& event : bench.events()) {
        ids.push_back(event.id);
    }
    EXPECT_EQ(ids, event_ids(1, 4));
}

TEST_P(Halt, StaysAndGoesOnOnceItIsResumed) {
    bench.set_delivery("on_halt = 'stay'");
    bench.start();
    advance_under_the_relay();
    ASSERT_TRUE(bench.relay().wait_for_log("staying", patience));
    EXPECT_TRUE(eventually(patience, [&] { return bench.slot("active") == "f"; }));
    bench.execute(insert_event(3));
    EXPECT_EQ(bench.messages().size(), 1U);
    ASSERT_EQ(bench.command({"resume"}).exit_code, 0);
    ASSERT_TRUE(bench.wait_for_messages(2));
    EXPECT_TRUE(is_forgotten());
    bench.stop();
}

TEST_P(Halt, StaysUntilItIsToldToStop) {
    bench.set_delivery("on_halt = 'stay'");
    bench.start();
    advance_under_the_relay();
    ASSERT_TRUE(bench.relay().wait_for_log("staying", patience));
    bench.stop();
    EXPECT_EQ(kept("resumed_at IS NULL"), "t");
}

TEST_P(Halt, AnswersASigHupAlsoWhileItStays) {
    bench.set_delivery("on_halt = 'stay'");
    bench.start();
    advance_under_the_relay();
    ASSERT_TRUE(bench.relay().wait_for_log("until walrelay resume", patience));
    bench.relay().process().signal(SIGHUP);
    EXPECT_TRUE(bench.relay().wait_for_log("SIGHUP: nothing is reopened", patience));
    bench.stop();
}

TEST_P(Halt, StaysUntilTheCauseThatItFindsByItselfIsGone) {
    bench.set_delivery("on_halt = 'stay'\nbackoff_max = '300ms'");
    bench.start();
    bench.execute(insert_event(1));
    ASSERT_TRUE(bench.wait_for_messages(1));
    bench.stop();
    bench.execute("ALTER TABLE outbox_events RENAME TO elsewhere");
    bench.launch();
    ASSERT_TRUE(bench.relay().wait_for_log("staying", patience));
    bench.execute("ALTER TABLE elsewhere RENAME TO outbox_events");
    ASSERT_TRUE(eventually(patience, [&] { return bench.streaming(); }));
    bench.execute(insert_event(2));
    bench.expect_relayed(event_ids(1, 2));
}

TEST_P(Halt, IsReportedAlsoWhereItCannotBeKept) {
    const auto role = "halting_" + bench.database();
    bench.execute("CREATE ROLE " + role + " LOGIN REPLICATION");
    bench.set_delivery("on_poison = 'halt'");
    ASSERT_EQ(bench.command({"init"}).exit_code, 0);
    bench.execute("DROP SCHEMA walrelay CASCADE");
    bench.set_conninfo(bench.conninfo() + " user=" + role);
    bench.start();
    advance_under_the_relay();
    EXPECT_EQ(bench.relay().process().wait_exit(patience), 3);
    EXPECT_TRUE(says(bench.relay().log(), "may not create the table walrelay.halt"));
    EXPECT_TRUE(says(bench.relay().log(), "walrelay init"));
}

INSTANTIATE_TEST_SUITE_P(, Halt, both_plugins(), plugin_name);

}  // namespace
}  // namespace walrelay::test
