// What walrelay.witness is kept for: a stream or a slot that has lost something halts the next
// relay that meets it, for good, and the tables bring what is missing. What has lost nothing goes
// on.
#include "integration/e2e/witness_bench.hpp"

#include <gmock/gmock.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <string>
#include <vector>

namespace walrelay::test {
namespace {

using testing::HasSubstr;
using testing::Not;

// The stream is gone.

class LostStream : public Witness {};

TEST_P(LostStream, IsNotMadeByTheNextStart) {
    run_with(1, 20);
    bench.broker().remove(bench.stream_name());
    insert(21, 25);
    const auto checked = bench.command({"check", "--json"});
    EXPECT_EQ(checked.exit_code, 1);
    EXPECT_THAT(checked.output, HasSubstr("\"stream_lost\""));
    EXPECT_THAT(checked.output, Not(HasSubstr("stream_missing"))) << "nothing makes it by itself";
    expect_halts("everything up to sequence 20");
    EXPECT_FALSE(has_stream());
    make_stream();
    expect_heals(26);
}

TEST_P(LostStream, IsNotMadeByARelayThatStays) {
    run_with(1, 20);
    bench.broker().remove(bench.stream_name());
    insert(21, 25);
    bench.set_delivery("on_halt = 'stay'");
    bench.launch();
    ASSERT_TRUE(bench.relay().wait_for_log("until walrelay resume", patience));
    EXPECT_FALSE(has_stream());
    expect_is_kept("everything up to sequence 20");
    bench.stop();
    make_stream();
    expect_heals(26);
}

TEST_P(LostStream, IsNotMadeByTheRelayThatHasSeenIt) {
    bench.start();
    relay(1, 20);
    bench.broker().remove(bench.stream_name());
    insert(21, 25);
    EXPECT_EQ(bench.relay().process().wait_exit(patience), 3);
    EXPECT_FALSE(has_stream());
    expect_halts("stream " + bench.stream_name());
    make_stream();
    expect_heals(26);
}

TEST_P(LostStream, MayHaveAnotherName) {
    run_with(1, 20);
    insert(21, 25);
    const std::string other = bench.stream_name() + "_renamed";
    expect_halts("was stored in stream " + bench.stream_name(), {"--stream", other});
    EXPECT_FALSE(bench.broker().state(other));
    // With the right name nothing is missing.
    const auto resumed = bench.command({"resume"});
    EXPECT_EQ(resumed.exit_code, 0) << resumed.output << resumed.errors;
    bench.start();
    expect_goes_on(26);
}

/// A start only compares the last message that was stored, and a healing asks no operator.
TEST_P(LostStream, OfAnotherBrokerIsNotFilledByAHealing) {
    run_with(1, 3);
    insert(4, 5);
    bench.set_delivery("on_slot_loss = 'heal'");
    nats_server elsewhere;
    stream_reader there(elsewhere.url());
    there.create({.name = bench.stream_name(), .subjects = {bench.name() + ".>"}});
    for (int message = 1; message <= 6; ++message) {
        const auto place = "0000000000000C" + std::to_string(message) + "0";
        there.publish(bench.name() + ".x", "{}",
                      {{"Nats-Msg-Id", "other-" + std::to_string(message)},
                       {"Walrelay-Position", "77.1." + place + "." + place + ".0"}});
    }
    const auto position = bench.slot("confirmed_flush_lsn");
    for (int again = 0; again < 3; ++again) {
        const auto refused = bench.command({"run", "--nats", elsewhere.url()});
        EXPECT_EQ(refused.exit_code, 3) << refused.errors;
        EXPECT_THAT(refused.errors, HasSubstr("it is another stream"));
        EXPECT_EQ(bench.slot("confirmed_flush_lsn"), position);
        EXPECT_EQ(there.message_count(bench.stream_name()), 6U);
    }
    bench.start();
    bench.expect_relayed(event_ids(1, 5));
}

TEST_P(LostStream, MayBeThatOfAnotherBroker) {
    nats_server elsewhere;
    stream_reader there(elsewhere.url());
    run_with(1, 20);
    insert(21, 25);
    expect_halts("this is another broker", {"--nats", elsewhere.url()});
    EXPECT_FALSE(there.state(bench.stream_name()));
    const auto refused = bench.command({"init", "--nats", elsewhere.url()});
    EXPECT_NE(refused.exit_code, 0);
    EXPECT_FALSE(there.state(bench.stream_name()));
    const auto made = bench.command({"init", "--new-stream", "--nats", elsewhere.url()});
    EXPECT_EQ(made.exit_code, 0) << made.errors;
    ask_to_heal();
    auto moved = bench.begin({"run", "--nats", elsewhere.url()});
    ASSERT_TRUE(there.wait_for(bench.stream_name(), 25, patience)) << moved.log();
    EXPECT_EQ(moved.stop(patience), 0);
    std::vector<seen_event> events;
    there.for_each(bench.stream_name(), 0,
                   [&](const stored_message& message) { events.push_back(seen(message)); });
    EXPECT_TRUE(exactly_once_in_order(event_ids(1, 25), events));
}

// nats-server writes the configuration of a stream and its checksum one after the other, and leaves
// out a stream with which it died in between. Its messages are there.
TEST_P(LostStream, MayBeOneThatTheBrokerCannotRead) {
    run_with(1, 20);
    nats.kill_9();
    const auto files = nats.folder() / "store" / "jetstream" / "$G" / "streams";
    std::ofstream(files / bench.stream_name() / "meta.sum") << "of another configuration";
    nats.start();
    insert(21, 25);
    expect_halts("there is no stream " + bench.stream_name());
    EXPECT_THAT(kept("fix"), HasSubstr("the broker's log"));
    make_stream();
    EXPECT_EQ(bench.broker().message_count(bench.stream_name()), 20U) << "they come back";
    expect_heals(26);
}

// The slot was moved, dropped or made again.

class MovedSlot : public Witness {
protected:
    void SetUp() override {
        bench.start();
        standby.emplace(bench.begin({"run"}));
        ASSERT_TRUE(standby->wait_for_log("standing by", patience)) << standby->log();
    }
    /// The leader dies after rows 1 to 20; the standby, which has seen an empty stream, is held up.
    void lose_the_leader() {
        relay(1, 20);
        standby->process().signal(SIGSTOP);
        bench.kill_9();
        ASSERT_TRUE(eventually(patience, [&] { return bench.slot("active") == "f"; }));
    }
    void expect_standby_halts(const std::string& what) {
        standby->process().signal(SIGCONT);
        EXPECT_EQ(standby->process().wait_exit(patience), 3) << standby->log();
        EXPECT_THAT(standby->log(), HasSubstr(what));
        expect_halts(what);
    }

    std::optional<relay_process> standby;
};

TEST_P(MovedSlot, DroppedBeforeAStandbyTakesItHaltsThat) {
    lose_the_leader();
    insert(21, 30);
    drop_slot();
    expect_standby_halts("slot " + bench.name());
    expect_heals(31);
}

TEST_P(MovedSlot, AdvancedBeforeAStandbyTakesItHaltsThat) {
    lose_the_leader();
    insert(21, 30);
    advance_slot();
    insert(31, 35);
    expect_standby_halts("10 rows of the newest");
    EXPECT_THAT(kept("reason"), HasSubstr(event_id(21)));
    EXPECT_THAT(kept("reason"), Not(HasSubstr(event_id(31)))) << "the slot brings it";
    expect_heals(36);
}

TEST_P(MovedSlot, TakenOverAsItWasHaltsNobody) {
    lose_the_leader();
    insert(21, 30);
    standby->process().signal(SIGCONT);
    ASSERT_TRUE(bench.wait_for_messages(30)) << standby->log();
    EXPECT_EQ(standby->stop(patience), 0);
    EXPECT_TRUE(exactly_once_in_order(event_ids(1, 30), bench.events()));
}

class NewSlot : public Witness {};

TEST_P(NewSlot, DroppedBeforeTheFirstRunHaltsIt) {
    const auto made = bench.command({"init"});
    ASSERT_EQ(made.exit_code, 0) << made.errors;
    insert(1, 10);
    drop_slot();
    insert(11, 15);
    expect_halts("slot " + bench.name());
    EXPECT_EQ(bench.slot("slot_name"), std::nullopt) << "it is not made by itself";
    expect_heals(16);
}

TEST_P(NewSlot, MadeBySomebodyElseHaltsTheNextStart) {
    run_with(1, 20);
    insert(21, 25);
    make_slot_anew();
    insert(26, 30);
    expect_halts(event_id(25));
    EXPECT_THAT(kept("reason"), Not(HasSubstr(event_id(26)))) << "the slot brings it";
    expect_heals(31);
}

TEST_P(NewSlot, AdvancedAfterADumpWasLoadedHaltsTheNextStart) {
    run_with(1, 20);
    // As it comes from a server that has numbered more transactions and WAL than this one.
    bench.execute(
        "UPDATE walrelay.witness SET system_identifier = 8, snapshot = '9000000:9000000:', "
        "next_snapshot = '9000000:9000000:', snapshot_lsn = 'FF/0', next_lsn = 'FF/0'");
    run_with(21, 25);
    insert(26, 30);
    advance_slot();
    insert(31, 35);
    expect_halts(event_id(26));
    expect_heals(36);
}

/// The snapshots of a server name no subtransactions, and xmin of a row after a savepoint is one.
TEST_P(NewSlot, AdvancedPastRowsOfASubtransactionHaltsTheNextStart) {
    bench.start();
    relay(1, 20);
    auto open = bench.session();
    open.execute("BEGIN; SAVEPOINT before");
    open.execute(insert_events(100001, 100010));
    const auto xid = open.value_of("SELECT pg_current_xact_id()");
    std::uint64_t last = 20;
    ASSERT_TRUE(eventually(patience, [&] {
        insert(last + 1, last + 1);
        ++last;
        return witnessed("pg_snapshot_xmax(snapshot)::text::int8 > 2 + " + xid) == "t";
    }));
    ASSERT_TRUE(bench.confirmed_reaches(bench.wal_end()));
    bench.stop();
    open.execute("RELEASE before; COMMIT");
    advance_slot();
    expect_halts(event_id(100001));
    ask_to_heal();
    bench.start();
    ASSERT_TRUE(bench.wait_for_messages(last + 10)) << bench.relay().log();
    bench.stop();
}

/// Also what was written before it was made, which the operator was told of.
TEST_P(NewSlot, MadeByInitAfterRowsWereGivenUpHaltsNobody) {
    run_with(1, 20);
    drop_slot();
    insert(21, 25);
    EXPECT_EQ(bench.command({"run"}).exit_code, 3);
    EXPECT_EQ(bench.command({"resume", "--give-up"}).exit_code, 0);
    insert(26, 27);
    EXPECT_EQ(bench.command({"init", "--new-slot"}).exit_code, 0);
    EXPECT_EQ(halts(), "0");
    bench.start();
    insert(28, 30);
    ASSERT_TRUE(bench.wait_for_messages(23)) << bench.relay().log();
    expect_is_well(31);
}

TEST_P(NewSlot, MadeBySomebodyElseWithNothingBetweenHaltsNobody) {
    run_with(1, 20);
    make_slot_anew();
    insert(21, 25);
    bench.start();
    expect_is_well(26);
    expect_each_once(1, 26);
}

// What has lost nothing.

class WellWitness : public Witness {};

TEST_P(WellWitness, OfAFirstRunAfterInit) {
    const auto made = bench.command({"init"});
    ASSERT_EQ(made.exit_code, 0) << made.errors;
    EXPECT_EQ(witnessed("sequence"), "0");
    insert(1, 10);
    bench.start();
    expect_is_well(11);
    EXPECT_EQ(witnessed("sequence"), "11");
    expect_each_once(1, 11);
}

TEST_P(WellWitness, OfACleanStopAndOfAKilledRelay) {
    run_with(1, 20);
    EXPECT_THAT(bench.relay().log(), Not(HasSubstr("not acked within"))) << "a stop is prompt";
    EXPECT_EQ(witnessed("sequence"), "20");
    EXPECT_EQ(witnessed("told >= (SELECT confirmed_flush_lsn FROM pg_replication_slots WHERE "
                        "slot_name = slot)"),
              "t");
    bench.start();
    insert(21, 40);
    ASSERT_TRUE(bench.wait_for_messages(40));
    bench.kill_9();
    insert(41, 60);
    bench.start();
    expect_is_well(61);
    expect_each_once(1, 61);
}

/// The slot follows at once, and the witness does not: the tables show that nothing is missing.
// A relay that has stored nothing itself says what the one before it has stored.
TEST_P(WellWitness, OfARelayThatHasStoredNothingSinceItsStart) {
    run_with(1, 20);
    bench.start();
    bench.execute("CREATE TABLE other AS SELECT generate_series(1, 1000) AS number");
    ASSERT_TRUE(bench.confirmed_reaches(bench.wal_end()));
    bench.stop();
    EXPECT_EQ(witnessed("sequence"), "20");
    bench.broker().remove(bench.stream_name());
    expect_halts("everything up to sequence 20");
}

TEST_P(WellWitness, OfASlotThatOtherTablesHaveMovedOn) {
    bench.execute("CREATE TABLE business (n int)");
    bench.start();
    relay(1, 20);
    bench.stop();
    bench.start();
    for (int again = 0; again < 10; ++again) {
        bench.execute("INSERT INTO business SELECT generate_series(1, 10000)");
        ASSERT_TRUE(bench.confirmed_reaches(bench.wal_end()));
    }
    bench.kill_9();
    EXPECT_EQ(witnessed("told < (SELECT confirmed_flush_lsn FROM pg_replication_slots WHERE "
                        "slot_name = slot)"),
              "t");
    bench.start();
    expect_is_well(21);
    expect_each_once(1, 21);
}

TEST_P(WellWitness, OfAStreamThatItsLimitsHaveCut) {
    bench.broker().create(
        {.name = bench.stream_name(), .subjects = {bench.name() + ".>"}, .max_messages = 25});
    run_with(1, 20);
    bench.start();
    relay(21, 40);
    bench.kill_9();
    insert(41, 50);
    bench.start();
    expect_is_well(51);
    const auto state = bench.broker().state(bench.stream_name());
    EXPECT_EQ(state->last_sequence, 51U);
    EXPECT_EQ(state->messages, 25U);
}

TEST_P(WellWitness, OfAStreamThatKeepsFewerThanWereStoredSince) {
    bench.broker().create(
        {.name = bench.stream_name(), .subjects = {bench.name() + ".>"}, .max_messages = 5});
    run_with(1, 20);
    bench.start();
    relay(21, 40);
    bench.kill_9();
    insert(41, 50);
    bench.start();
    expect_is_well(51);
    EXPECT_EQ(bench.broker().state(bench.stream_name())->last_sequence, 51U);
}

TEST_P(WellWitness, OfAStreamThatWasPurged) {
    run_with(1, 20);
    bench.broker().purge(bench.stream_name());
    insert(21, 25);
    bench.start();
    expect_is_well(26);
    EXPECT_TRUE(exactly_once_in_order(event_ids(21, 26), bench.events()));
}

TEST_P(WellWitness, BeginsWithTheFirstRunAfterAnUpgrade) {
    run_with(1, 20);
    bench.execute("DELETE FROM walrelay.witness");
    bench.start();
    ASSERT_TRUE(eventually(patience, [&] {
        return bench.session().value_of("SELECT count(*) FROM walrelay.witness") == "1";
    }));
    bench.stop();
    EXPECT_EQ(witnessed("sequence"), "20");
    bench.execute("DROP TABLE walrelay.witness");
    insert(21, 25);
    bench.start();
    expect_is_well(26);
    EXPECT_EQ(witnessed("sequence"), "26");
    expect_each_once(1, 26);
}

TEST_P(WellWitness, IsMissedWhereTheRoleMayNotWriteIt) {
    const auto role = "reading_" + bench.database();
    const auto made = bench.command({"init"});
    ASSERT_EQ(made.exit_code, 0) << made.errors;
    bench.execute("CREATE ROLE " + role + " LOGIN REPLICATION; GRANT USAGE ON SCHEMA walrelay TO " +
                  role + "; GRANT SELECT ON outbox_events TO " + role +
                  "; GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA walrelay TO " +
                  role + "; REVOKE INSERT, UPDATE, DELETE ON walrelay.witness FROM " + role);
    bench.set_conninfo(bench.conninfo() + " user=" + role);
    bench.start();
    relay(1, 20);
    EXPECT_THAT(bench.relay().log(), HasSubstr("may go unnoticed"));
    bench.kill_9();
    bench.start();
    expect_is_well(21);
    EXPECT_THAT(bench.relay().log(), HasSubstr("GRANT "));
    EXPECT_EQ(witnessed("sequence"), "0");
    expect_each_once(1, 21);
}

TEST_P(WellWitness, IsWrittenOnceASecondAndNotWhileNothingIsStored) {
    using clock = std::chrono::steady_clock;
    const auto version = [&] { return std::stoi(witnessed("version")); };
    bench.start();
    relay(1, 1);
    const auto before = version();
    const auto begun = clock::now();
    auto writer = bench.session();
    constexpr std::chrono::milliseconds between{100};
    std::uint64_t rows = 1;
    while (clock::now() < begun + 5s) {
        writer.execute(insert_events(rows + 1, rows + 20));
        rows += 20;
        (void)eventually(between, [] { return false; });
    }
    ASSERT_TRUE(bench.wait_for_messages(rows));
    ASSERT_TRUE(bench.confirmed_reaches(bench.wal_end()));
    const auto seconds =
        std::chrono::duration_cast<std::chrono::seconds>(clock::now() - begun).count();
    const auto after = version();
    EXPECT_GT(after, before);
    EXPECT_LE(after - before, seconds + 2);
    EXPECT_EQ(witnessed("sequence"), std::to_string(rows));
    bench.execute("CREATE TABLE business (n int)");
    EXPECT_TRUE(throughout(4s,
                           [&] {
                               bench.execute("INSERT INTO business VALUES (1)");
                               return version() == after;
                           }))
        << "from " << after << " to " << version();
    bench.stop();
}

INSTANTIATE_TEST_SUITE_P(, LostStream, both_plugins(), plugin_name);
INSTANTIATE_TEST_SUITE_P(, MovedSlot, both_plugins(), plugin_name);
INSTANTIATE_TEST_SUITE_P(, NewSlot, both_plugins(), plugin_name);
INSTANTIATE_TEST_SUITE_P(, WellWitness, both_plugins(), plugin_name);

}  // namespace
}  // namespace walrelay::test
