// Rows that were there before the slot, and rows that a lost slot has left out: published from the
// table, each once.
#include "integration/e2e/background_writer.hpp"
#include "integration/e2e/relay_bench.hpp"
#include "support/eventually.hpp"

#include <algorithm>
#include <csignal>
#include <set>

namespace walrelay::test {
namespace {

class Backfill : public e2e_test {
protected:
    void SetUp() override { bench.create_table(); }

    /// Created in the order of their numbers, one second apart.
    void insert_old(std::uint64_t first, std::uint64_t last, const std::string& status) {
        bench.execute(insert_events(first, last));
        bench.execute("UPDATE outbox_events SET status = " + as_literal(status) +
                      ", created_at = timestamptz '2026-01-01' + version * interval '1 second' "
                      "WHERE version BETWEEN " +
                      std::to_string(first) + " AND " + std::to_string(last));
    }

    static std::string outbox_with_pending() {
        return "[[outbox]]\ntable = 'outbox_events'\nsubject = '%.x'\npending = \"status = "
               "'waiting'\"";
    }

    [[nodiscard]] std::vector<std::string> ids_in_stream() {
        std::vector<std::string> ids;
        for (const auto& event : bench.events()) {
            ids.push_back(event.id);
        }
        return ids;
    }

    /// Drops the slot, which a relay that was killed may still hold for a moment.
    void drop_slot() {
        ASSERT_TRUE(eventually(patience, [&] {
            try {
                bench.execute("SELECT pg_drop_replication_slot(" + as_literal(bench.name()) + ")");
                return true;
            } catch (const std::runtime_error&) {
                return false;
            }
        }));
    }
};

TEST_P(Backfill, PendingRowsComeFirstAndThenWhatIsWritten) {
    insert_old(1, 50, "published");
    insert_old(51, 120, "waiting");
    bench.set_postgres("snapshot = 'pending'");
    bench.set_outbox(outbox_with_pending());
    bench.start();
    bench.execute(insert_events(121, 150));
    ASSERT_TRUE(bench.wait_for_messages(100));
    bench.stop();
    EXPECT_EQ(ids_in_stream(), event_ids(51, 150));
}

/// As a first start leaves it that had nothing to publish and ended before the slot had its name.
TEST_P(Backfill, AStartThatEndedBeforeItHadItsSlotBeginsAnew) {
    bench.set_postgres("snapshot = 'all'");
    bench.start();
    bench.stop();
    drop_slot();
    bench.execute("DELETE FROM walrelay.slot_start");
    ASSERT_EQ(bench.session().value_of("SELECT max(sequence) FROM walrelay.witness"), "0");
    bench.execute(insert_events(1, 5));
    bench.start();
    bench.execute(insert_events(6, 10));
    bench.expect_relayed(event_ids(1, 10));
}

TEST_P(Backfill, AllRowsArePublishedWhileWritersGoOn) {
    insert_old(1, 3000, "new");
    bench.set_postgres("snapshot = 'all'");
    background_writer writer(bench.conninfo(), 3001);
    bench.start();
    ASSERT_TRUE(bench.wait_for_messages(3100));
    writer.stop();
    bench.expect_relayed(bench.committed_ids());
}

TEST_P(Backfill, KilledInTheMiddleItGoesOnWhereItWas) {
    constexpr std::uint64_t rows = 20'000;
    insert_old(1, rows, "new");
    bench.set_postgres("snapshot = 'all'");
    bench.set_delivery("window_messages = 64");
    for (std::uint64_t reached = 1; reached < rows / 2; reached *= 8) {
        bench.launch();
        ASSERT_TRUE(bench.wait_for_messages(reached)) << bench.relay().log();
        bench.kill_9();
    }
    EXPECT_FALSE(bench.slot("slot_name")) << "the slot was there before its rows were published";
    bench.start();
    bench.execute(insert_events(rows + 1, rows + 10));
    ASSERT_TRUE(bench.wait_for_messages(rows + 10));
    bench.stop();
    EXPECT_EQ(ids_in_stream(), event_ids(1, rows + 10));
}

/// Nothing tells in which order such rows were written, and their keys are in an index that has
/// them the other way round than the table.
TEST_P(Backfill, KilledInTheMiddleItGoesOnAlsoWhereRowsHaveNeitherIdNorTime) {
    constexpr std::uint64_t rows = 20'000;
    bench.execute(
        "CREATE TABLE orders (tenant text, number bigint, body jsonb, PRIMARY KEY (tenant, "
        "number))");
    bench.execute("INSERT INTO orders SELECT 'a', " + std::to_string(rows) +
                  " - n, jsonb_build_object('n', repeat('x', 600)) FROM generate_series(1, " +
                  std::to_string(rows) + ") AS n");
    bench.execute("VACUUM ANALYZE orders");
    const auto plan = bench.session().value_of("EXPLAIN SELECT tenant, number FROM orders");
    ASSERT_NE(plan.find("Index Only Scan"), std::string::npos) << plan;
    bench.set_outbox(
        "[[outbox]]\ntable = 'orders'\nsubject = '%.x'\nmessage_id = '{tenant}-{number}'\n"
        "columns = { payload = 'body' }\nbody = 'payload'");
    bench.set_postgres("snapshot = 'all'");
    bench.set_delivery("window_messages = 16");
    bench.launch();
    ASSERT_TRUE(bench.wait_for_messages(1)) << bench.relay().log();
    bench.kill_9();
    EXPECT_LT(bench.messages().size(), rows) << "all was done before";
    bench.start();
    bench.stop();
    std::set<std::string> ids;
    for (const auto& message : bench.messages()) {
        ids.insert(message.header("Nats-Msg-Id"));
    }
    EXPECT_EQ(ids.size(), rows) << "each row has its message";
    EXPECT_EQ(bench.messages().size(), rows) << "and one alone";
}

TEST_P(Backfill, KilledBeforeTheWriteBackItLeavesNoRowPending) {
    constexpr std::uint64_t rows = 5000;
    insert_old(1, rows, "waiting");
    bench.set_postgres("snapshot = 'pending'");
    bench.set_outbox(outbox_with_pending() +
                     "\non_published = \"status = 'published', version = version + 100000\"");
    bench.set_delivery("window_messages = 64");
    for (std::uint64_t reached = 1; reached < rows / 2; reached *= 8) {
        bench.launch();
        ASSERT_TRUE(bench.wait_for_messages(reached)) << bench.relay().log();
        bench.kill_9();
    }
    bench.start();
    EXPECT_EQ(bench.session().value_of(
                  "SELECT count(*) FROM outbox_events WHERE status = 'published' AND version > "
                  "100000 AND version <= 105000"),
              std::to_string(rows))
        << "the slot was there before every row was written back, once";
    bench.stop();
    EXPECT_EQ(ids_in_stream(), event_ids(1, rows));
}

TEST_P(Backfill, PoisonAmongTheOldRowsIsSetAsideOnce) {
    insert_old(1, 10, "new");
    bench.execute("UPDATE outbox_events SET aggregate_type = '' WHERE version = 4");
    bench.set_postgres("snapshot = 'all'");
    bench.start();
    ASSERT_TRUE(bench.wait_for_messages(9));
    bench.stop();
    EXPECT_EQ(bench.session().value_of("SELECT count(*) FROM walrelay.dead_letter"), "1");
    EXPECT_EQ(ids_in_stream().size(), 9U);
}

TEST_P(Backfill, DroppedSlotIsHealedFromTheTable) {
    insert_old(1, 20, "new");  // older than the first run: never published
    bench.set_delivery("on_slot_loss = 'heal'");
    bench.start();
    bench.execute(insert_events(101, 200));
    ASSERT_TRUE(bench.wait_for_messages(100));
    bench.stop();
    drop_slot();
    bench.execute(insert_events(201, 260));

    bench.start();
    bench.execute(insert_events(261, 300));
    ASSERT_TRUE(bench.wait_for_messages(200));
    bench.stop();
    EXPECT_EQ(ids_in_stream(), event_ids(101, 300));
    EXPECT_NE(bench.relay().log().find("healing the slot"), std::string::npos);
}

/// A lost slot is healed with what the table has after walrelay.slot_start, and nothing else.
class Healing : public Backfill {
protected:
    void SetUp() override {
        Backfill::SetUp();
        bench.set_delivery("on_slot_loss = 'heal'");
        // What is deleted from the stream is soon no duplicate any more.
        bench.broker().create({.name = bench.stream_name(),
                               .subjects = {bench.name() + ".>"},
                               .duplicate_window = std::chrono::milliseconds(100)});
    }

    void relay_rows(std::uint64_t first, std::uint64_t last, std::uint64_t messages) {
        bench.start();
        bench.execute(insert_events(first, last));
        ASSERT_TRUE(bench.wait_for_messages(messages));
        bench.stop();
    }

    /// Loses the slot, and has it healed until the stream has so many messages.
    void heal(std::uint64_t messages) {
        drop_slot();
        bench.start();
        ASSERT_TRUE(bench.wait_for_messages(messages)) << bench.relay().log();
        bench.stop();
    }

    [[nodiscard]] std::vector<std::string> sorted_ids() {
        auto ids = ids_in_stream();
        std::ranges::sort(ids);
        return ids;
    }

    [[nodiscard]] static std::vector<std::string> sorted(std::vector<std::string> ids) {
        std::ranges::sort(ids);
        return ids;
    }

    [[nodiscard]] bool log_has(const std::string& words) {
        return bench.relay().log().find(words) != std::string::npos;
    }
};

TEST_P(Healing, LeavesOutNoRowOfTheSameTimeAsOthers) {
    // Ids that are random, so that the order of rows says nothing.
    bench.execute(
        "CREATE FUNCTION same_time() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
        "NEW.created_at := '2026-01-01'; NEW.id := md5(NEW.version::text)::uuid; RETURN "
        "NEW; END $$; CREATE TRIGGER same_time BEFORE INSERT ON outbox_events FOR EACH "
        "ROW EXECUTE FUNCTION same_time()");
    relay_rows(1, 30, 30);
    bench.execute(insert_events(31, 60));
    heal(60);
    EXPECT_EQ(sorted_ids(), sorted(bench.committed_ids()));
    EXPECT_FALSE(log_has("older_rows_left_out"));
}

TEST_P(Healing, PublishesRowsThatWereWrittenBackAndWhoseMessagesAreLost) {
    bench.set_outbox(
        "[[outbox]]\ntable = 'outbox_events'\nsubject = '%.x'\npending = \"status = "
        "'pending'\"\non_published = \"status = 'published'\"");
    relay_rows(1, 20, 20);
    for (std::uint64_t lost = 5; lost < 13; ++lost) {
        bench.broker().delete_message(bench.stream_name(), lost);
    }
    heal(20);
    EXPECT_EQ(sorted_ids(), sorted(event_ids(1, 20)));
    EXPECT_EQ(
        bench.session().value_of("SELECT count(*) FROM outbox_events WHERE status = 'published'"),
        "20");
}

/// Each row has a message or, where it came within the duplicate window, a dead letter.
TEST_P(Healing, PublishesNothingAgainOfTwoTablesWhoseIdsAreEqual) {
    bench.execute("CREATE TABLE more_events (LIKE outbox_events INCLUDING ALL)");
    bench.set_outbox(
        "[[outbox]]\ntable = 'outbox_events'\nsubject = '%.x'\n"
        "[[outbox]]\ntable = 'more_events'\nsubject = '%.more'");
    const auto settle = [&] {
        const auto end = bench.wal_end();
        ASSERT_TRUE(eventually(patience, [&] { return bench.confirmed_reaches(end); }));
    };
    relay_rows(1, 10, 10);
    bench.start();
    bench.execute("INSERT INTO more_events SELECT * FROM outbox_events");
    settle();
    bench.stop();
    const auto before = bench.messages().size();
    drop_slot();
    bench.start();
    bench.execute(insert_events(11, 11));
    settle();
    bench.stop();
    EXPECT_EQ(bench.messages().size(), before + 1);
    const auto verified = bench.command({"verify"});
    EXPECT_EQ(verified.exit_code, 0) << verified.output;
}

TEST_P(Healing, PublishesTheRowOfATransactionThatWasLong) {
    bench.start();
    auto long_one = bench.session();
    long_one.execute("BEGIN; " + insert_events(1, 1));
    bench.execute(insert_events(2, 20));
    ASSERT_TRUE(bench.wait_for_messages(19));
    bench.stop();
    drop_slot();
    long_one.execute("COMMIT");
    bench.start();
    ASSERT_TRUE(bench.wait_for_messages(20)) << bench.relay().log();
    bench.stop();
    EXPECT_EQ(sorted_ids(), sorted(event_ids(1, 20)));
}

TEST_P(Healing, PublishesNothingThatWasThereBeforeTheSlot) {
    insert_old(1, 20, "new");
    relay_rows(21, 30, 10);
    // As it would by the clock of another writer.
    bench.execute(insert_events(31, 40));
    bench.execute("UPDATE outbox_events SET created_at = '2020-01-01' WHERE version > 30");
    heal(20);
    EXPECT_EQ(sorted_ids(), sorted(event_ids(21, 40)));
}

TEST_P(Healing, PublishesAgainTheRowsOfASnapshotWhoseMessagesAreLost) {
    insert_old(1, 20, "new");
    bench.set_postgres("snapshot = 'all'");
    relay_rows(21, 30, 30);
    bench.broker().remove(bench.stream_name());
    ASSERT_EQ(bench.command({"init", "--new-stream"}).exit_code, 0);
    const auto resumed = bench.command({"resume", "--heal"});
    ASSERT_EQ(resumed.exit_code, 0) << resumed.output << resumed.errors;
    bench.start();
    ASSERT_TRUE(bench.wait_for_messages(30)) << bench.relay().log();
    bench.stop();
    EXPECT_EQ(sorted_ids(), sorted(event_ids(1, 30)));
}

TEST_P(Healing, PublishesARowWhoseIdAMessageOfALostRowHas) {
    // After an asynchronous failover a sequence gives numbers again that it has given before. The
    // message is of the timeline that was left, from behind the switch.
    postgres_server postgres;
    relay_bench own{postgres, shared_nats(), GetParam()};
    own.create_table();
    own.set_delivery("on_slot_loss = 'heal'");
    own.broker().create({.name = own.stream_name(),
                         .subjects = {own.name() + ".>"},
                         .duplicate_window = std::chrono::milliseconds(100)});
    own.start();
    own.execute(insert_events(1, 10));
    ASSERT_TRUE(own.confirms_messages(10));
    own.stop();
    auto lost = own.events().back().position;
    const auto commit = lost.find('.', lost.find('.') + 1) + 1;
    lost.replace(commit, 16, "00000000FFFFFFF0");
    const auto id = event_ids(11, 11).front();
    own.broker().publish(own.name() + ".x", "{}",
                         {{"Nats-Msg-Id", id}, {"Walrelay-Position", lost}});
    postgres.begin_timeline();
    own.execute(insert_events(11, 12));
    own.execute("SELECT pg_drop_replication_slot(" + as_literal(own.name()) + ")");
    own.start();
    ASSERT_TRUE(own.wait_for_messages(13)) << own.relay().log();
    own.stop();
    std::vector<std::string> ids;
    for (const auto& event : own.events()) {
        ids.push_back(event.id);
    }
    EXPECT_EQ(std::ranges::count(ids, id), 2);
    const auto verified = own.command({"verify"});
    EXPECT_NE(verified.output.find("orphaned"), std::string::npos) << verified.output;
}

/// The relay could not publish behind it, and has the slot when it says so.
TEST_P(Healing, KeepsTheSlotWhereAMessageLiesBeyondTheWal) {
    bench.set_delivery("");
    relay_rows(1, 10, 10);
    auto forged = bench.events().back().position;
    const auto commit = forged.find('.', forged.find('.') + 1) + 1;
    forged.replace(commit, 16, "00000000FFFFFFF0");
    const auto sequence = bench.broker().publish(
        bench.name() + ".x", "{}", {{"Nats-Msg-Id", "forged"}, {"Walrelay-Position", forged}});
    bench.execute(insert_events(11, 12));
    EXPECT_EQ(bench.command({"run"}).exit_code, 3);
    ASSERT_EQ(bench.command({"resume", "--heal"}).exit_code, 0);
    const auto refused = bench.command({"run"});
    EXPECT_EQ(refused.exit_code, 3);
    const auto removal = "nats stream rmm " + bench.stream_name() + " " + std::to_string(sequence);
    EXPECT_NE(refused.errors.find(removal), std::string::npos) << refused.errors;
    EXPECT_TRUE(bench.slot("confirmed_flush_lsn")) << "it has the rows";
    bench.broker().delete_message(bench.stream_name(), sequence);
    bench.start();
    ASSERT_TRUE(bench.wait_for_messages(12)) << bench.relay().log();
    bench.stop();
    EXPECT_EQ(sorted_ids(), sorted(event_ids(1, 12)));
}

TEST_P(Healing, KeepsTheSlotAlsoWhereAnotherMessageFollowsTheOneBeyondTheWal) {
    bench.set_delivery("");
    relay_rows(1, 10, 10);
    const auto last = bench.events().back();
    auto forged = last.position;
    const auto commit = forged.find('.', forged.find('.') + 1) + 1;
    forged.replace(commit, 16, "00000000FFFFFFF0");
    const auto publish = [&](const std::string& id, const std::string& position) {
        return bench.broker().publish(bench.name() + ".x", "{}",
                                      {{"Nats-Msg-Id", id}, {"Walrelay-Position", position}});
    };
    ASSERT_EQ(publish("forged", forged), 11U);
    ASSERT_TRUE(eventually(patience, [&] { return publish(last.id, last.position) == 12; }));
    bench.execute(insert_events(11, 12));
    ASSERT_EQ(bench.command({"resume", "--heal"}).exit_code, 0);
    const auto refused = bench.command({"run"});
    EXPECT_EQ(refused.exit_code, 3);
    EXPECT_NE(refused.errors.find(" rmm " + bench.stream_name() + " 11"), std::string::npos)
        << refused.errors;
    EXPECT_TRUE(bench.slot("confirmed_flush_lsn")) << "it has the rows";
}

TEST_P(Healing, DoesNotPublishAgainWhatLimitsHaveRemoved) {
    relay_rows(1, 30, 30);
    for (std::uint64_t aged = 1; aged <= 10; ++aged) {
        bench.broker().delete_message(bench.stream_name(), aged);
    }
    bench.broker().delete_message(bench.stream_name(), 20);
    bench.execute(insert_events(31, 40));
    heal(30);
    auto expected = event_ids(11, 40);
    EXPECT_EQ(sorted_ids(), sorted(expected));
    EXPECT_TRUE(log_has("older_rows_left_out")) << bench.relay().log();
    EXPECT_TRUE(log_has("10 rows of public.outbox_events")) << bench.relay().log();
}

/// A stream of states: row 2 has a subject of its own, and of the others the last one is left.
class HealingOfStates : public Healing {
protected:
    void relay_states() {
        bench.broker().remove(bench.stream_name());
        bench.broker().create({.name = bench.stream_name(),
                               .subjects = {bench.name() + ".>"},
                               .max_messages_per_subject = 1});
        bench.set_outbox("[[outbox]]\ntable = 'outbox_events'\nsubject = '%.{aggregate_id}'");
        bench.start();
        bench.execute(insert_event(1));
        bench.execute(insert_event(2, "rare"));
        bench.execute(insert_events(3, 30));
        ASSERT_TRUE(bench.confirmed_reaches(bench.wal_end())) << bench.relay().log();
        bench.stop();
        ASSERT_EQ(last_sequence(), 30U);
    }
    /// What had ended at that moment is what the witness knows to be stored.
    void the_witness_knows(const std::string& snapshot, const std::string& lsn) {
        bench.execute("UPDATE walrelay.witness SET snapshot = " + snapshot +
                      ", snapshot_lsn = " + lsn);
    }
    [[nodiscard]] std::uint64_t last_sequence() {
        const auto state = bench.broker().state(bench.stream_name());
        return state ? state->last_sequence : 0;
    }
};

TEST_P(HealingOfStates, PublishesNoneThatANewerOneHasReplaced) {
    relay_states();
    the_witness_knows("pg_current_snapshot()", "pg_current_wal_lsn()");
    bench.execute(insert_event(31));
    drop_slot();
    bench.start();
    ASSERT_TRUE(eventually(patience, [&] { return last_sequence() >= 31; })) << bench.relay().log();
    bench.execute(insert_event(32));
    ASSERT_TRUE(bench.confirmed_reaches(bench.wal_end())) << bench.relay().log();
    bench.stop();
    EXPECT_EQ(last_sequence(), 32U);
    EXPECT_EQ(sorted_ids(), sorted({event_id(2), event_id(32)}));
}

TEST_P(HealingOfStates, PublishesNothingWhereItCannotBeToldWhatWasReplaced) {
    relay_states();
    the_witness_knows("(SELECT snapshot FROM walrelay.slot_start)",
                      "(SELECT lsn FROM walrelay.slot_start)");
    bench.execute(insert_event(31));
    drop_slot();
    const auto refused = bench.command({"run"});
    EXPECT_EQ(refused.exit_code, 3);
    EXPECT_NE(refused.errors.find("max_msgs_per_subject"), std::string::npos) << refused.errors;
    EXPECT_EQ(last_sequence(), 30U);
    const auto given_up = bench.command({"resume", "--give-up"});
    EXPECT_EQ(given_up.exit_code, 0) << given_up.output << given_up.errors;
    // 27 were replaced, and one was never published; of the first one it is known.
    EXPECT_NE(given_up.output.find("Gave up 28 rows"), std::string::npos) << given_up.output;
}

/// What is gone from its end was stored as well, and is not there.
TEST_P(HealingOfStates, TakesNothingForReplacedThatTheStreamHasLost) {
    relay_states();
    the_witness_knows("pg_current_snapshot()", "pg_current_wal_lsn()");
    bench.execute("UPDATE walrelay.witness SET sequence = 31, position = ''");
    drop_slot();
    EXPECT_EQ(bench.command({"run"}).exit_code, 3);
    EXPECT_EQ(bench.command({"resume", "--heal"}).exit_code, 0);
    const auto refused = bench.command({"run"});
    EXPECT_EQ(refused.exit_code, 3);
    EXPECT_NE(refused.errors.find("max_msgs_per_subject"), std::string::npos) << refused.errors;
    EXPECT_EQ(last_sequence(), 30U);
}

INSTANTIATE_TEST_SUITE_P(Plugins, HealingOfStates, both_plugins(), plugin_name);

TEST_P(Healing, PublishesAgainWhatAnEarlierHealingHasPublished) {
    relay_rows(1, 10, 10);
    bench.execute(insert_events(11, 20));
    heal(20);
    bench.broker().delete_message(bench.stream_name(), 15);
    heal(20);
    EXPECT_EQ(sorted_ids(), sorted(event_ids(1, 20)));
}

TEST_P(Healing, GoesByTheOrderOfRowsWhereTheSlotsStartIsNotKept) {
    insert_old(1, 20, "new");
    relay_rows(101, 120, 20);
    bench.execute("DELETE FROM walrelay.slot_start");
    bench.execute(insert_events(121, 130));
    heal(30);
    EXPECT_EQ(sorted_ids(), sorted(event_ids(101, 130)));
    EXPECT_TRUE(log_has("older_rows_left_out")) << bench.relay().log();
    EXPECT_TRUE(log_has("slot_start")) << bench.relay().log();
}

INSTANTIATE_TEST_SUITE_P(Plugins, Healing, both_plugins(), plugin_name);

TEST_P(Backfill, SlotThatWasAdvancedWhileTheRelayRanIsHealed) {
    bench.set_delivery("on_slot_loss = 'heal'");
    bench.start();
    bench.execute(insert_events(1, 10));
    ASSERT_TRUE(bench.wait_for_messages(10));
    bench.relay().process().signal(SIGSTOP);
    (void)bench.slot("pg_terminate_backend(active_pid)");
    ASSERT_TRUE(eventually(patience, [&] { return bench.slot("active") == "f"; }));
    bench.execute(insert_events(11, 15));
    bench.execute("SELECT pg_replication_slot_advance(" + as_literal(bench.name()) +
                  ", pg_current_wal_lsn())");
    bench.relay().process().signal(SIGCONT);
    bench.execute(insert_events(16, 30));
    ASSERT_TRUE(bench.wait_for_messages(30));
    bench.stop();
    // Those behind the gap come before it where the slot is back before the broker.
    auto ids = ids_in_stream();
    std::ranges::sort(ids);
    EXPECT_EQ(ids, event_ids(1, 30));
    EXPECT_NE(bench.relay().log().find("healing (on_slot_loss"), std::string::npos);
}

TEST_P(Backfill, SlotThatIsGoneStopsTheRelayUnlessItMayHeal) {
    bench.start();
    bench.execute(insert_events(1, 10));
    ASSERT_TRUE(bench.wait_for_messages(10));
    bench.stop();
    drop_slot();
    bench.launch();
    EXPECT_EQ(bench.relay().process().wait_exit(patience), 3);
    EXPECT_NE(bench.relay().log().find("walrelay resume --heal"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Plugins, Backfill, both_plugins(), plugin_name);

}  // namespace
}  // namespace walrelay::test
