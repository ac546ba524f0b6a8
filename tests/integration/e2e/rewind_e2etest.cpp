// `walrelay replay --rewind`: the slot goes back, for a stream that was lost; and slots that
// somebody else has put back.
#include "integration/e2e/relay_bench.hpp"
#include "support/eventually.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <vector>

namespace walrelay::test {
namespace {

using testing::HasSubstr;
using testing::Not;

class Rewind : public testing::TestWithParam<const char*> {
protected:
    void SetUp() override {
        bench.create_table();
        // What is published twice is soon no duplicate any more.
        bench.broker().create({.name = bench.stream_name(),
                               .subjects = {bench.name() + ".>"},
                               .duplicate_window = std::chrono::milliseconds(100)});
        bench.start();
        ASSERT_EQ(bench.command({"bookmark", "create", "before"}).exit_code, 0);
    }

    void insert(std::uint64_t first, std::uint64_t last) {
        bench.execute(insert_events(first, last));
        settle();
    }
    void settle() {
        const auto end = bench.wal_end();
        ASSERT_TRUE(eventually(patience, [&] { return bench.confirmed_reaches(end); }));
    }
    finished_run rewind(const std::vector<std::string>& more = {}) {
        std::vector<std::string> words{"replay", "--rewind", "bookmark:before"};
        words.insert(words.end(), more.begin(), more.end());
        return bench.command(words);
    }
    /// As a rewind that broke off leaves it.
    void copy_slot(const std::string& from, const std::string& to) {
        bench.execute("SELECT pg_copy_logical_replication_slot('" + from + "', '" + to + "')");
    }
    void drop_slot(const std::string& name) {
        bench.execute("SELECT pg_drop_replication_slot('" + name + "')");
    }
    void go_back_behind_a_healing() {
        insert(1, 10);
        bench.stop();
        drop_slot(bench.name());
        bench.execute(insert_events(11, 15));
        ASSERT_EQ(bench.command({"resume", "--heal"}).exit_code, 0);
        bench.start();
        insert(16, 20);
        bench.stop();
        ASSERT_EQ(rewind({"--execute"}).exit_code, 0);
    }
    [[nodiscard]] std::string count_of_slots(const std::string& name) {
        return bench.session().value_of(
            "SELECT count(*) FROM pg_replication_slots WHERE slot_name = '" + name + "'");
    }
    [[nodiscard]] std::string failover_of(const std::string& name) {
        return bench.session().value_of(
            "SELECT to_jsonb(s) ->> 'failover' FROM pg_replication_slots AS s WHERE slot_name = '" +
            name + "'");
    }
    void let_fail_over(const std::string& name) {
        postgres_session replication(bench.conninfo() + " replication=database");
        replication.execute("ALTER_REPLICATION_SLOT " + name + " (FAILOVER true)");
    }
    [[nodiscard]] std::string waiting() const { return bench.name() + "_rewind"; }

    nats_server broker;
    relay_bench bench{shared_postgres(), broker, GetParam()};
};

TEST_P(Rewind, FillsAStreamThatWasLost) {
    insert(1, 500);
    bench.stop();
    const auto before = *bench.slot("confirmed_flush_lsn");
    bench.broker().remove(bench.stream_name());
    const auto plan = rewind();
    EXPECT_EQ(plan.exit_code, 0) << plan.errors;
    EXPECT_THAT(plan.output, HasSubstr("goes back from LSN " + before));
    EXPECT_THAT(plan.output, HasSubstr("does not exist"));
    EXPECT_EQ(*bench.slot("confirmed_flush_lsn"), before) << "a plan changes nothing";
    const auto done = rewind({"--execute"});
    EXPECT_EQ(done.exit_code, 0) << done.errors;
    EXPECT_THAT(bench.command({"bookmark", "list"}).output, HasSubstr("undo-"));
    EXPECT_EQ(count_of_slots(waiting()), "0");
    bench.start();
    bench.expect_relayed(bench.committed_ids());
}

TEST_P(Rewind, SkipsWhatTheStreamStillHas) {
    insert(1, 300);
    bench.stop();
    EXPECT_EQ(rewind({"--execute"}).exit_code, 0);
    bench.execute(insert_events(301, 310));
    bench.start();
    settle();
    EXPECT_THAT(bench.relay().log(), HasSubstr("300 rows that the stream has"));
    EXPECT_THAT(bench.relay().log(), HasSubstr("walrelay replay --from"));
    bench.expect_relayed(bench.committed_ids());
}

/// The message of a healed row does not stand where its row was committed.
TEST_P(Rewind, SkipsWhatWasHealed) {
    ASSERT_NO_FATAL_FAILURE(go_back_behind_a_healing());
    bench.execute(insert_events(21, 25));
    bench.start();
    settle();
    EXPECT_THAT(bench.relay().log(), Not(HasSubstr("somebody else")));
    bench.expect_relayed(bench.committed_ids());
}

/// Nor where the configuration has changed, so that all is compared.
TEST_P(Rewind, SkipsWhatWasHealedAlsoWhereTablesHaveChanged) {
    ASSERT_NO_FATAL_FAILURE(go_back_behind_a_healing());
    bench.execute(
        "CREATE TABLE more_events (LIKE outbox_events INCLUDING ALL); DO $$ BEGIN IF EXISTS "
        "(SELECT FROM pg_publication WHERE pubname = '" +
        bench.name() + "') THEN ALTER PUBLICATION " + bench.name() +
        " ADD TABLE more_events; END IF; END $$");
    bench.set_outbox(
        "[[outbox]]\ntable = 'outbox_events'\nsubject = '%.{aggregate_type}'\n"
        "[[outbox]]\ntable = 'more_events'\nsubject = '%.more'");
    bench.execute(insert_events(21, 25));
    bench.start();
    settle();
    EXPECT_THAT(bench.relay().log(), HasSubstr("tables have changed"));
    bench.expect_relayed(bench.committed_ids());
}

/// Rows from before where it stands now would be missing from what is read again, in silence.
TEST_P(Rewind, DoesNotUseABookmarkWhoseSlotWasMoved) {
    insert(1, 10);
    const auto kept = bench.name() + "_at_before";
    bench.execute("SELECT pg_replication_slot_advance('" + kept + "', pg_current_wal_lsn())");
    insert(11, 20);
    for (const auto& words : {std::vector<std::string>{"--from", "bookmark:before"},
                              {"--from", "bookmark:before", "--execute"},
                              {"--rewind", "bookmark:before"},
                              {"--rewind", "bookmark:before", "--execute"}}) {
        std::vector<std::string> command{"replay"};
        command.insert(command.end(), words.begin(), words.end());
        const auto refused = bench.command(command);
        EXPECT_EQ(refused.exit_code, 1) << refused.output;
        EXPECT_THAT(refused.errors, HasSubstr("somebody has moved it"));
    }
    EXPECT_THAT(bench.command({"bookmark", "list"}).output, HasSubstr("not where it was made"));
    bench.stop();
}

TEST_P(Rewind, NeedsTheRelayToBeStopped) {
    insert(1, 3);
    const auto refused = rewind({"--execute"});
    EXPECT_EQ(refused.exit_code, 3);
    EXPECT_THAT(refused.errors, HasSubstr("is in use; nothing was done"));
    EXPECT_THAT(bench.command({"bookmark", "list"}).output, Not(HasSubstr("undo-")));
    EXPECT_EQ(count_of_slots(waiting()), "0");
}

TEST_P(Rewind, OfNothingIsRefused) {
    bench.stop();
    EXPECT_EQ(bench.command({"replay", "--rewind", "bookmark:nobody"}).exit_code, 1);
    EXPECT_EQ(bench.command({"replay", "--rewind", "0/10"}).exit_code, 2);
    EXPECT_EQ(bench.command({"replay", "--rewind", "trail"}).exit_code, 1);
    EXPECT_EQ(bench.command({"replay", "--rewind", "trail", "--from", "0/10"}).exit_code, 2);
}

TEST_P(Rewind, ThatBrokeOffAfterTheDropIsFinishedByTheNextStart) {
    insert(1, 200);
    ASSERT_EQ(bench.command({"bookmark", "create", "undo-1"}).exit_code, 0);
    bench.stop();
    copy_slot(bench.name() + "_at_before", waiting());
    drop_slot(bench.name());
    const auto checked = bench.command({"check"});
    EXPECT_THAT(checked.output + checked.errors, HasSubstr("a rewind broke off"));
    EXPECT_NE(bench.command({"init"}).exit_code, 0) << "no new slot in its place";
    bench.start();
    EXPECT_THAT(bench.relay().log(), HasSubstr("rewind_finished"));
    EXPECT_EQ(count_of_slots(waiting()), "0");
    bench.expect_relayed(bench.committed_ids());
}

TEST_P(Rewind, ThatBrokeOffHasLostNoRow) {
    insert(1, 20);
    ASSERT_EQ(bench.command({"bookmark", "create", "undo-1"}).exit_code, 0);
    bench.stop();
    bench.execute(insert_events(21, 30));
    copy_slot(bench.name() + "_at_before", waiting());
    drop_slot(bench.name());
    const auto verified = bench.command({"verify"});
    EXPECT_EQ(verified.exit_code, 1) << verified.errors;
    EXPECT_THAT(verified.output, HasSubstr("10 rows are not in the stream, and the slot may"));
    EXPECT_THAT(verified.output, HasSubstr("a rewind broke off"));
    EXPECT_THAT(verified.output, Not(HasSubstr("resume --heal")));
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"resume"}, {"resume", "--heal"}, {"resume", "--give-up"}}) {
        const auto refused = bench.command(words);
        EXPECT_EQ(refused.exit_code, 3) << words.back() << refused.output;
        EXPECT_THAT(refused.errors, HasSubstr("a rewind broke off"));
        EXPECT_THAT(refused.errors, HasSubstr("walrelay run, which finishes it"));
    }
    bench.start();
    bench.expect_relayed(bench.committed_ids());
    bench.stop();
    EXPECT_EQ(bench.command({"verify"}).exit_code, 0);
}

/// The slot that comes back brings it.
TEST_P(Rewind, ThatBrokeOffHasNotLostARetry) {
    bench.stop();
    bench.set_outbox(
        "[[outbox]]\ntable = 'public.outbox_events'\nsubject = '%.all'\n"
        "headers = { 'Large' = '{event_data}' }");
    bench.start();
    insert(1, 2);
    bench.execute(
        "INSERT INTO outbox_events (id, aggregate_id, aggregate_type, event_type, event_data, "
        "status, version, created_at) VALUES ('" +
        event_id(3) +
        "', 'order-1', 'order', 'placed', jsonb_build_object('text', repeat('x', 70000)), "
        "'pending', 3, now())");
    settle();
    ASSERT_EQ(bench.command({"bookmark", "create", "undo-1"}).exit_code, 0);
    bench.stop();
    bench.set_outbox("[[outbox]]\ntable = 'public.outbox_events'\nsubject = '%.all'");
    ASSERT_EQ(bench.command({"dead-letter", "retry", "1"}).exit_code, 0);
    copy_slot(bench.name() + "_at_before", waiting());
    drop_slot(bench.name());
    const auto verified = bench.command({"verify"});
    EXPECT_THAT(verified.output, Not(HasSubstr("lost or moved")));
    EXPECT_THAT(bench.command({"dead-letter", "list"}).output, HasSubstr("queued"));
    bench.start();
    ASSERT_TRUE(bench.wait_for_messages(3));
    settle();
    EXPECT_THAT(bench.command({"dead-letter", "list"}).output, HasSubstr("retried"));
    const auto after = bench.command({"verify"});
    EXPECT_EQ(after.exit_code, 0) << after.output;
    const auto all = bench.messages();
    EXPECT_EQ(std::ranges::count_if(all,
                                    [](const auto& each) {
                                        return each.header("Nats-Msg-Id").find(";retry-") !=
                                               std::string::npos;
                                    }),
              1);
    bench.stop();
}

TEST_P(Rewind, ThatBrokeOffWhereTheStreamIsGoneIsFinishedByTheSameCommand) {
    insert(1, 200);
    ASSERT_EQ(bench.command({"bookmark", "create", "undo-1"}).exit_code, 0);
    bench.stop();
    bench.broker().remove(bench.stream_name());
    copy_slot(bench.name() + "_at_before", waiting());
    drop_slot(bench.name());
    const auto halted = bench.command({"run"});
    EXPECT_EQ(halted.exit_code, 3);
    EXPECT_THAT(halted.errors, HasSubstr("walrelay replay --rewind"));
    EXPECT_EQ(rewind({"--execute"}).exit_code, 0);
    EXPECT_EQ(count_of_slots(waiting()), "0");
    EXPECT_EQ(bench.command({"resume"}).exit_code, 0);
    bench.start();
    bench.expect_relayed(bench.committed_ids());
}

TEST_P(Rewind, FillsAStreamThatWasCut) {
    insert(1, 200);
    bench.stop();
    bench.broker().remove(bench.stream_name());
    EXPECT_EQ(bench.command({"init", "--new-stream"}).exit_code, 0);
    bench.start();
    insert(201, 210);
    bench.stop();
    // What was stored last is gone as well, and the slot past it.
    bench.broker().remove(bench.stream_name());
    bench.broker().create({.name = bench.stream_name(), .subjects = {bench.name() + ".>"}});
    EXPECT_EQ(bench.command({"run"}).exit_code, 3);
    EXPECT_EQ(rewind({"--execute"}).exit_code, 0);
    EXPECT_EQ(rewind({"--execute"}).exit_code, 0) << "again changes nothing";
    EXPECT_EQ(bench.command({"resume"}).exit_code, 0);
    bench.start();
    bench.expect_relayed(bench.committed_ids());
}

TEST_P(Rewind, ThatDoesNotReachBackToWhatTheStreamHasLostIsNotTheEndOfIt) {
    insert(1, 20);
    broker.remember_store();
    insert(21, 40);
    ASSERT_EQ(bench.command({"bookmark", "create", "late"}).exit_code, 0);
    insert(41, 60);
    bench.stop();
    broker.stop();
    broker.restore_store();
    broker.start();
    const auto late = bench.command({"replay", "--rewind", "bookmark:late", "--execute"});
    EXPECT_EQ(late.exit_code, 3) << late.output;
    EXPECT_THAT(late.errors, HasSubstr("whether the slot sends all rows that are missing is not"));
    EXPECT_THAT(late.errors, HasSubstr("walrelay resume --heal"));
    EXPECT_EQ(bench.command({"run"}).exit_code, 3) << "rows 21 to 40 come from nowhere";
    EXPECT_EQ(rewind({"--execute"}).exit_code, 0);
    EXPECT_EQ(bench.command({"resume"}).exit_code, 0);
    bench.start();
    bench.expect_relayed(bench.committed_ids());
}

TEST_P(Rewind, NamesTheRowsThatANewStreamWouldLack) {
    insert(1, 20);
    ASSERT_EQ(bench.command({"bookmark", "create", "late"}).exit_code, 0);
    insert(21, 30);
    bench.stop();
    bench.broker().remove(bench.stream_name());
    const auto late = bench.command({"replay", "--rewind", "bookmark:late", "--execute"});
    EXPECT_EQ(late.exit_code, 3) << late.output;
    EXPECT_THAT(late.errors, HasSubstr("20 rows are in neither the stream nor the dead letters"));
    EXPECT_THAT(late.errors, HasSubstr(event_id(1)));
    EXPECT_EQ(bench.command({"run"}).exit_code, 3);
    EXPECT_EQ(bench.command({"resume", "--heal"}).exit_code, 0);
    bench.start();
    bench.expect_relayed(bench.committed_ids());
}

// Of a slot that was made by hand nobody knows what was there before: that none is found missing
// says nothing.
TEST_P(Rewind, IntoANewStreamIsNoBeginningWhereThatOfTheSlotIsNotKnown) {
    insert(1, 20);
    ASSERT_EQ(bench.command({"bookmark", "create", "late"}).exit_code, 0);
    insert(21, 30);
    bench.stop();
    bench.execute("DELETE FROM walrelay.slot_start");
    bench.broker().remove(bench.stream_name());
    const auto late = bench.command({"replay", "--rewind", "bookmark:late", "--execute"});
    EXPECT_EQ(late.exit_code, 3) << late.output;
    EXPECT_THAT(late.errors, HasSubstr("which rows it had before is not known"));
    EXPECT_EQ(bench.command({"run"}).exit_code, 3);
    EXPECT_EQ(bench.command({"resume", "--give-up"}).exit_code, 0);
    bench.start();
    ASSERT_TRUE(bench.wait_for_messages(10)) << bench.relay().log();
    EXPECT_EQ(bench.events().front().id, event_id(21));
    EXPECT_THAT(bench.command({"dead-letter", "list", "--given-up"}).output,
                HasSubstr(event_id(20)));
}

// The snapshot beside it shows the rows as ended: they are stored no more.
TEST_P(Rewind, TakesTheWitnessesSnapshotBack) {
    for (std::uint64_t row = 1; row <= 3; ++row) {
        insert(row, row);
        bench.stop();
        bench.start();
    }
    bench.stop();
    bench.broker().remove(bench.stream_name());
    ASSERT_EQ(rewind({"--execute"}).exit_code, 0);
    bench.execute("SELECT pg_replication_slot_advance(" + as_literal(bench.name()) +
                  ", pg_current_wal_lsn())");
    const auto halted = bench.command({"run"});
    EXPECT_EQ(halted.exit_code, 3) << halted.errors;
    EXPECT_THAT(halted.errors, HasSubstr(event_id(1)));
    EXPECT_EQ(bench.command({"resume", "--heal"}).exit_code, 0);
    bench.start();
    bench.expect_relayed(bench.committed_ids());
}

TEST_P(Rewind, ThatBrokeOffBeforeTheDropIsGivenUp) {
    insert(1, 20);
    ASSERT_EQ(bench.command({"bookmark", "create", "undo-1"}).exit_code, 0);
    bench.stop();
    copy_slot(bench.name() + "_at_before", waiting());
    bench.start();
    EXPECT_THAT(bench.relay().log(), HasSubstr("rewind_given_up"));
    EXPECT_EQ(count_of_slots(waiting()), "0");
    bench.expect_relayed(bench.committed_ids());
}

/// With PostgreSQL 17 and newer: a copy of a slot is none that standbys keep.
TEST_P(Rewind, ThatBrokeOffLeavesASlotThatStandbysKeep) {
    if (bench.session().value_of("SHOW server_version_num") < "170000") {
        GTEST_SKIP() << "this server has no failover slots";
    }
    insert(1, 20);
    ASSERT_EQ(failover_of(bench.name()), "true");
    bench.stop();
    // A slot of the waiting copy's name stands in the way.
    bench.execute("SELECT pg_create_physical_replication_slot('" + waiting() + "')");
    EXPECT_NE(rewind({"--execute"}).exit_code, 0) << "nothing is changed";
    EXPECT_EQ(failover_of(bench.name()), "true");
    drop_slot(waiting());
    // As a rewind leaves it that ends between the copy and the property of it.
    copy_slot(bench.name() + "_at_before", waiting());
    let_fail_over(waiting());
    drop_slot(bench.name());
    copy_slot(waiting(), bench.name());
    ASSERT_EQ(failover_of(bench.name()), "false");
    bench.start();
    EXPECT_EQ(count_of_slots(waiting()), "0");
    EXPECT_EQ(failover_of(bench.name()), "true");
    bench.stop();
    // The same before the copy.
    copy_slot(bench.name() + "_at_before", waiting());
    let_fail_over(waiting());
    drop_slot(bench.name());
    bench.start();
    EXPECT_EQ(failover_of(bench.name()), "true");
    bench.expect_relayed(bench.committed_ids());
}

TEST_P(Rewind, KeepsASlotThatStandbysKeep) {
    if (bench.session().value_of("SHOW server_version_num") < "170000") {
        GTEST_SKIP() << "this server has no failover slots";
    }
    insert(1, 20);
    bench.stop();
    EXPECT_EQ(rewind({"--execute"}).exit_code, 0);
    EXPECT_EQ(failover_of(bench.name()), "true");
    bench.start();
    bench.expect_relayed(bench.committed_ids());
}

TEST_P(Rewind, LeavesASlotOfItsNameToWhoeverMadeIt) {
    copy_slot(bench.name(), waiting());
    insert(1, 20);
    bench.stop();
    bench.start();
    EXPECT_EQ(count_of_slots(waiting()), "1") << "it can be that of another relay";
    bench.expect_relayed(bench.committed_ids());
}

TEST_P(Rewind, ByHandIsRecognised) {
    insert(1, 50);
    bench.stop();
    drop_slot(bench.name());
    copy_slot(bench.name() + "_at_before", bench.name());
    bench.start();
    ASSERT_TRUE(eventually(
        patience, [&] { return bench.relay().log().find("sent_again") != std::string::npos; }));
    const auto log = bench.relay().log();
    const auto begin = log.find("walrelay replay --from ");
    ASSERT_NE(begin, std::string::npos);
    const auto command = log.substr(begin, log.find(" [", begin) - begin);
    std::vector<std::string> words;
    for (std::size_t from = 0, to = 0; to != std::string::npos; from = to + 1) {
        to = command.find(' ', from);
        words.push_back(command.substr(from, to == std::string::npos ? to : to - from));
    }
    words.erase(words.begin());
    const auto again = bench.command(words);
    EXPECT_EQ(again.exit_code, 0) << again.errors;
    EXPECT_THAT(again.output, HasSubstr("50 rows published"));
}

INSTANTIATE_TEST_SUITE_P(Plugins, Rewind, both_plugins(), plugin_name);

}  // namespace
}  // namespace walrelay::test
