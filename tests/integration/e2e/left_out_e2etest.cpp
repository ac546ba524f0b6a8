// Rows that an operator has decided not to deliver: nobody misses them again.
#include "integration/e2e/relay_bench.hpp"
#include "support/eventually.hpp"

namespace walrelay::test {
namespace {

class LeftOut : public e2e_test {
protected:
    LeftOut() { bench.create_table(); }

    /// A row of which the configured subject cannot be made.
    void insert_poison() {
        bench.execute(
            "INSERT INTO outbox_events (id, aggregate_type, aggregate_id, event_type, event_data, "
            "metadata, status, version, created_at) VALUES ('" +
            event_id(9999) + "', '', 'a', 'e', '{}', '{}', 'pending', 9999, clock_timestamp())");
    }

    /// The row of a dead letter stands between others, all of them among the newest.
    void relay_around_a_dead_letter() {
        bench.start();
        bench.execute(insert_events(1, 5));
        // Only rows that are younger than a message are asked for.
        ASSERT_TRUE(bench.wait_for_messages(5));
        insert_poison();
        bench.execute(insert_events(6, 10));
        ASSERT_TRUE(bench.wait_for_messages(10));
        ASSERT_TRUE(bench.confirmed_reaches(bench.wal_end()));
        bench.stop();
    }

    /// Starts twice: neither the first nor the second start misses anything. As after an upgrade,
    /// without a witness that says how far all is known to be stored.
    void expect_that_nobody_is_missed() {
        for (int start = 0; start < 2; ++start) {
            bench.execute("DELETE FROM walrelay.witness");
            bench.start();
            bench.execute(insert_events(next_, next_ + 2));
            next_ += 3;
            ASSERT_TRUE(bench.confirmed_reaches(bench.wal_end())) << bench.relay().log();
            ASSERT_TRUE(looked_everywhere()) << bench.relay().log();
            bench.stop();
        }
        const auto verified = bench.command({"verify"});
        EXPECT_EQ(verified.exit_code, 0) << verified.output;
    }

    /// The startup check looks for the row in the whole stream.
    [[nodiscard]] bool looked_everywhere() {
        return eventually(patience, [&] {
            return bench.relay().log().find("startup check: all of them are there") !=
                   std::string::npos;
        });
    }

    /// Somebody moves the slot past rows 6 to 10 while no relay runs.
    void halt_at_skipped_rows() {
        bench.start();
        bench.execute(insert_events(1, 5));
        ASSERT_TRUE(bench.wait_for_messages(5));
        bench.stop();
        bench.execute(insert_events(6, 10));
        bench.execute("SELECT pg_replication_slot_advance(" + as_literal(bench.name()) +
                      ", pg_current_wal_lsn())");
        ASSERT_EQ(bench.command({"run"}).exit_code, 3);
    }

    [[nodiscard]] bool are_kept() {
        auto session = bench.session();
        return eventually(patience, [&] {
            return session.value_of(
                       "SELECT count(*) FROM pg_tables WHERE schemaname = 'walrelay' "
                       "AND tablename = 'dead_letter'") == "1" &&
                   session.value_of(
                       "SELECT count(*) FROM walrelay.dead_letter WHERE retries = -1") == "5";
        });
    }

private:
    std::uint64_t next_ = 11;
};

TEST_P(LeftOut, DroppedDeadLetterIsNotMissed) {
    relay_around_a_dead_letter();
    EXPECT_EQ(bench.command({"dead-letter", "drop", "--all", "--yes"}).output, "dropped 1\n");
    expect_that_nobody_is_missed();
    EXPECT_EQ(bench.command({"dead-letter", "list", "--json"}).output, "{\"dead_letters\":[]}\n");
}

TEST_P(LeftOut, RetriedAndDeletedDeadLetterIsNotMissed) {
    relay_around_a_dead_letter();
    bench.set_outbox("[[outbox]]\ntable = 'public.outbox_events'\nsubject = '%.all'");
    const auto retried = bench.command({"dead-letter", "retry", "--all"});
    EXPECT_EQ(retried.exit_code, 0) << retried.errors;
    bench.start();
    ASSERT_TRUE(bench.wait_for_messages(11));
    bench.stop();
    bench.execute("DELETE FROM walrelay.dead_letter WHERE retries > 0");
    expect_that_nobody_is_missed();
}

TEST_P(LeftOut, RowsThatAnOperatorWentOnWithoutAreMissedOnce) {
    halt_at_skipped_rows();
    EXPECT_EQ(bench.command({"resume", "--give-up"}).exit_code, 0);
    bench.start();
    EXPECT_TRUE(are_kept()) << bench.relay().log();
    bench.stop();
    expect_that_nobody_is_missed();
    EXPECT_EQ(bench.events().size(), 11U);
}

TEST_P(LeftOut, RowsThatARunWentOnWithoutAreMissedOnce) {
    halt_at_skipped_rows();
    relay_process skipping({.program = WALRELAY_BINARY,
                            .arguments = {"run", "--skip-startup-check", "--config",
                                          (bench.folder() / "walrelay.toml").string()},
                            .folder = bench.folder(),
                            .name = "skipping"});
    EXPECT_TRUE(are_kept()) << skipping.log();
    EXPECT_EQ(skipping.stop(patience), 0);
    expect_that_nobody_is_missed();
}

/// One of a table's rows with an id does not answer for the other, and no id is too long.
TEST_P(LeftOut, RowsOfOneIdAreEachOnRecord) {
    bench.execute("ALTER TABLE outbox_events ADD reference text DEFAULT 'first'");
    bench.set_outbox(
        "[[outbox]]\ntable = 'public.outbox_events'\nsubject = '%.all'\nmessage_id = "
        "'{reference}'");
    bench.start();
    bench.execute(insert_event(1));
    ASSERT_TRUE(bench.wait_for_messages(1));
    bench.stop();
    bench.execute("ALTER TABLE outbox_events ALTER reference SET DEFAULT 'lost'");
    bench.execute(insert_events(2, 3));
    bench.execute("ALTER TABLE outbox_events ALTER reference SET DEFAULT '" +
                  std::string(1500, 'x') + "'");
    bench.execute(insert_events(4, 4));
    bench.execute("SELECT pg_replication_slot_advance(" + as_literal(bench.name()) +
                  ", pg_current_wal_lsn())");
    ASSERT_EQ(bench.command({"run"}).exit_code, 3);
    const auto given_up = bench.command({"resume", "--give-up"});
    EXPECT_EQ(given_up.exit_code, 0) << given_up.errors;
    EXPECT_EQ(bench.session().value_of("SELECT count(*) FROM walrelay.dead_letter"), "3");
    const auto verified = bench.command({"verify"});
    EXPECT_EQ(verified.exit_code, 0) << verified.output;
}

/// They cannot be told apart, but counted: those that the slot still brings are not given up.
TEST_P(LeftOut, RowsWithoutAnIdThatAnOperatorWentOnWithoutAreMissedOnce) {
    bench.execute("ALTER TABLE outbox_events ADD reference text");
    bench.set_outbox(
        "[[outbox]]\ntable = 'public.outbox_events'\nsubject = '%.all'\nmessage_id = "
        "'{reference}'");
    bench.execute("ALTER TABLE outbox_events ALTER reference SET DEFAULT 'first'");
    bench.start();
    bench.execute(insert_event(1));
    ASSERT_TRUE(bench.wait_for_messages(1));
    bench.stop();
    bench.execute("ALTER TABLE outbox_events ALTER reference DROP DEFAULT");
    bench.execute(insert_events(2, 3));
    bench.execute("ALTER TABLE outbox_events ALTER reference SET DEFAULT 'lost'");
    bench.execute(insert_event(4));
    bench.execute("SELECT pg_replication_slot_advance(" + as_literal(bench.name()) +
                  ", pg_current_wal_lsn())");
    bench.execute("ALTER TABLE outbox_events ALTER reference DROP DEFAULT");
    bench.execute(insert_event(5));
    ASSERT_EQ(bench.command({"run"}).exit_code, 3);
    const auto given_up = bench.command({"resume", "--give-up"});
    EXPECT_EQ(given_up.exit_code, 0) << given_up.errors;
    EXPECT_NE(given_up.output.find("2 rows without a message id"), std::string::npos)
        << given_up.output;
    EXPECT_NE(given_up.output.find("Gave up 3 rows"), std::string::npos) << given_up.output;
    bench.start();
    ASSERT_TRUE(bench.confirmed_reaches(bench.wal_end())) << bench.relay().log();
    bench.stop();
    EXPECT_EQ(bench.session().value_of("SELECT count(*) FILTER (WHERE retries = -1) || ' ' || "
                                       "count(*) FILTER (WHERE retries = 0) FROM "
                                       "walrelay.dead_letter"),
              "3 1");
    const auto verified = bench.command({"verify"});
    EXPECT_EQ(verified.exit_code, 0) << verified.output;
    const auto again = bench.command({"resume", "--give-up"});
    EXPECT_NE(again.output.find("No row is missing"), std::string::npos) << again.output;
}

/// Its row can be any that has no id either.
TEST_P(LeftOut, IsNoRowForADeadLetterThatTellsNoId) {
    relay_around_a_dead_letter();
    bench.execute(
        "DELETE FROM outbox_events WHERE version = 9999;"
        "UPDATE walrelay.dead_letter SET message_id = NULL");
    bench.execute(insert_event(11));
    bench.execute("SELECT pg_replication_slot_advance(" + as_literal(bench.name()) +
                  ", pg_current_wal_lsn())");
    const auto refused = bench.command({"run"});
    EXPECT_EQ(refused.exit_code, 3) << refused.errors;
    EXPECT_NE(refused.errors.find(event_id(11)), std::string::npos) << refused.errors;
}

INSTANTIATE_TEST_SUITE_P(, LeftOut, both_plugins(), plugin_name);

}  // namespace
}  // namespace walrelay::test
