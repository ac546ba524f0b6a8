// `walrelay replay`: rows of the past, published again by the relay that runs.
#include "integration/e2e/background_writer.hpp"
#include "integration/e2e/relay_bench.hpp"
#include "support/eventually.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace walrelay::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const std::string replay_header = "Walrelay-Replay";
const std::string original_header = "Walrelay-Original-Position";

std::string id_of(const stored_message& message) {
    const auto id = message.header("Nats-Msg-Id");
    return id.substr(0, id.find(';'));
}

class Replay : public e2e_test {
protected:
    void SetUp() override {
        bench.create_table();
        bench.start();
    }

    /// As an operator makes it, without walrelay.
    void keep_position(const std::string& name = "before") const {
        bench.execute("SELECT pg_copy_logical_replication_slot('" + bench.name() + "', '" +
                      bench.name() + "_at_" + name + "')");
    }
    void forget_position(const std::string& name = "before") const {
        bench.execute(
            "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE slot_name "
            "= '" +
            bench.name() + "_at_" + name + "'");
    }
    void TearDown() override { forget_position(); }

    /// And waits until it is in the stream, and the slot knows it.
    void insert(std::uint64_t first, std::uint64_t last, const std::string& aggregate = "order-1") {
        bench.execute(insert_events(first, last, aggregate));
        settle();
    }
    void settle() {
        const auto end = bench.wal_end();
        ASSERT_TRUE(eventually(patience, [&] { return bench.confirmed_reaches(end); }));
    }

    finished_run replay(std::vector<std::string> words) {
        words.insert(words.begin(), "replay");
        return bench.command(words);
    }

    std::vector<stored_message> replayed() {
        auto all = bench.messages();
        std::erase_if(all, [](const auto& each) { return each.header(replay_header).empty(); });
        return all;
    }
    std::uint64_t last_sequence() {
        return bench.broker().state(bench.stream_name())->last_sequence;
    }
    std::vector<stored_message> originals() {
        auto all = bench.messages();
        std::erase_if(all, [](const auto& each) { return !each.header(replay_header).empty(); });
        return all;
    }

    static std::vector<std::string> ids_of(const std::vector<stored_message>& messages) {
        std::vector<std::string> ids;
        for (const auto& each : messages) {
            ids.push_back(id_of(each));
        }
        return ids;
    }

    /// Each original once, each replayed once and in the order in which it was committed.
    void expect_each_once(std::size_t count) {
        const auto first = originals();
        const auto again = replayed();
        EXPECT_EQ(again.size(), count);
        std::vector<std::string> positions;
        std::set<std::string> ids;
        for (const auto& each : again) {
            positions.push_back(each.header(original_header));
            ids.insert(each.header("Nats-Msg-Id"));
        }
        EXPECT_EQ(ids.size(), again.size()) << "each has an id of its own";
        EXPECT_TRUE(std::ranges::is_sorted(positions)) << "in the order of their commits";
        std::vector<std::string> expected;
        for (const auto& each : first) {
            expected.push_back(each.header("Walrelay-Position"));
        }
        expected.resize(std::min(expected.size(), count));
        EXPECT_EQ(positions, expected);
    }
};

TEST_P(Replay, ShowsThePlanAndWritesNothing) {
    keep_position();
    insert(1, 3);
    bench.execute("BEGIN; " + insert_events(4, 5, "order-2") + "; COMMIT");
    settle();
    const auto before = bench.wal_end();
    const auto plan = replay({"--from", "bookmark:before"});
    EXPECT_EQ(plan.exit_code, 0) << plan.errors;
    EXPECT_THAT(plan.output, HasSubstr("5 in 2 transactions"));
    EXPECT_THAT(plan.output, HasSubstr("public.outbox_events  5 rows"));
    EXPECT_THAT(plan.output, HasSubstr("still has all of it"));
    EXPECT_THAT(plan.output, HasSubstr("--deliver 1"));
    EXPECT_THAT(plan.output, HasSubstr("has no limit"));
    EXPECT_THAT(plan.output, HasSubstr("nothing has been done yet"));
    EXPECT_THAT(replayed(), IsEmpty());
    EXPECT_THAT(replay({"list"}).output, HasSubstr("no replays"));
    bench.broker().limit(bench.stream_name(), 8);
    const auto limited = replay({"--from", "bookmark:before"});
    EXPECT_THAT(limited.output,
                HasSubstr("has room for 3 messages more; it then refuses messages"));
    const auto json = replay({"--from", "bookmark:before", "--json"});
    EXPECT_THAT(json.output, HasSubstr("\"rows\":5,"));
}

/// pgoutput does not see its rows from before.
TEST_P(Replay, NamesATableThatWasPublishedLater) {
    bench.execute("CREATE TABLE another (id int)");
    keep_position();
    insert(1, 5);
    EXPECT_THAT(replay({"--from", "bookmark:before"}).output, Not(HasSubstr("public.another")));
    if (bench.plugin() == "wal2json") {
        return;
    }
    bench.execute("ALTER PUBLICATION " + bench.name() + " ADD TABLE another");
    EXPECT_THAT(replay({"--from", "bookmark:before"}).output,
                HasSubstr("if there are any: table public.another"));
    EXPECT_THAT(replay({"--from", "bookmark:before", "--json"}).output,
                HasSubstr(R"("published_later":["table public.another"])"));
}

TEST_P(Replay, PublishesEveryRowAgainOnceBesideAWriter) {
    keep_position();
    insert(1, 1500);
    const auto count = originals().size();
    ASSERT_EQ(count, 1500U);
    const auto end = *bench.slot("confirmed_flush_lsn");
    background_writer writer(bench.conninfo(), 10'000);
    const auto done = replay({"--from", "bookmark:before", "--until", end, "--execute"});
    writer.stop();
    EXPECT_EQ(done.exit_code, 0) << done.errors;
    EXPECT_THAT(done.output, HasSubstr("replay 1 is done: 1,500 rows published"));
    settle();
    expect_each_once(count);
    const auto seen = ids_of(originals());
    EXPECT_EQ(std::set<std::string>(seen.begin(), seen.end()).size(), seen.size());
    EXPECT_EQ(seen.size(), bench.committed_ids().size());
    EXPECT_THAT(replay({"list"}).output, HasSubstr("done"));
    EXPECT_EQ(bench.session().value_of("SELECT count(*) FROM walrelay.control"), "0");
    const auto verified = bench.command({"verify"});
    EXPECT_EQ(verified.exit_code, 0) << verified.output;
}

TEST_P(Replay, OfAReplayLeavesOutWhatWasReplayed) {
    keep_position();
    insert(1, 3);
    EXPECT_EQ(replay({"--from", "bookmark:before", "--execute"}).exit_code, 0);
    settle();
    const auto again = replay({"--from", "bookmark:before", "--execute"});
    EXPECT_THAT(again.output, HasSubstr("replay 2 is done: 3 rows published"));
    EXPECT_EQ(replayed().size(), 6U);
}

TEST_P(Replay, GoesOnAtTheExactRowAfterEveryKill) {
    keep_position();
    insert(1, 20'000);
    const auto end = *bench.slot("confirmed_flush_lsn");
    {
        auto command =
            bench.begin({"replay", "--from", "bookmark:before", "--until", end, "--execute"});
        ASSERT_TRUE(eventually(patience, [&] { return last_sequence() > 20'000; }));
        command.kill_9();
    }
    for (int round = 0; round < 3; ++round) {
        auto command = bench.begin({"replay", "resume", "1"});
        const auto seen = last_sequence();
        ASSERT_TRUE(eventually(
            patience, [&] { return last_sequence() > seen || !command.process().running(); }));
        if (round == 1) {
            bench.kill_9();
            bench.start();
        }
        command.kill_9();
    }
    const auto done = replay({"resume", "1"});
    EXPECT_THAT(done.exit_code, testing::AnyOf(0, 1)) << done.errors;
    EXPECT_THAT(replay({"show", "1"}).output, HasSubstr("20,000 of 20,000 written"));
    settle();
    expect_each_once(20'000);
}

TEST_P(Replay, TakesTheRowsThatAreAskedFor) {
    keep_position();
    insert(1, 2, "order-1");
    insert(3, 3, "order-2");
    const auto third = originals().at(2).header("Walrelay-Position");
    const auto subject = originals().at(0).subject;
    EXPECT_EQ(replay({"--from", third, "--execute"}).exit_code, 0);
    settle();
    EXPECT_THAT(ids_of(replayed()), ElementsAre(event_id(3)));
    EXPECT_EQ(replay({"--from", "bookmark:before", "--until", third, "--aggregate", "order/order-1",
                      "--subject", bench.name() + ".replay.{subject}", "--execute"})
                  .exit_code,
              0);
    settle();
    const auto moved = replayed();
    EXPECT_THAT(ids_of(moved), ElementsAre(event_id(3), event_id(1), event_id(2)));
    EXPECT_EQ(moved.back().subject, bench.name() + ".replay." + subject);
    EXPECT_THAT(replay({"--from", "bookmark:before", "--subject", "nothing.>"}).output,
                HasSubstr("none"));
}

TEST_P(Replay, FindsTheRowsByTheTimeOfTheirCommit) {
    keep_position();
    insert(1, 1);
    const auto between = bench.session().value_of(
        "SELECT to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.USZ')");
    insert(2, 2);
    // A bookmark that was made by hand is of no known time; a range by time from it ends by time.
    const auto plan = replay({"--from", "bookmark:before", "--until", between});
    EXPECT_EQ(plan.exit_code, 0) << plan.errors;
    EXPECT_THAT(plan.output, HasSubstr("1 in 1 transaction,"));
    EXPECT_THAT(replay({"--from", "bookmark:before", "--until", "1 hour ago"}).output,
                HasSubstr("none"));
}

TEST_P(Replay, FindsATimeInTheTrailThatNobodyPrepared) {
    bench.stop();
    bench.set_replay("keep = '1h'");
    bench.start();
    ASSERT_TRUE(eventually(patience, [&] {
        return bench.command({"bookmark", "list"}).output.find("(trail)") != std::string::npos;
    }));
    const auto time = [&] {
        return bench.session().value_of(
            "SELECT to_char(clock_timestamp() AT TIME ZONE 'UTC', "
            "'YYYY-MM-DD\"T\"HH24:MI:SS.USZ')");
    };
    insert(1, 2);
    const auto mark = bench.wal_end();
    const auto from = time();
    insert(3, 4);
    const auto until = time();
    insert(5, 6);
    const auto done = replay({"--from", from, "--until", until, "--execute"});
    EXPECT_EQ(done.exit_code, 0) << done.errors;
    settle();
    EXPECT_THAT(ids_of(replayed()), ElementsAre(event_id(3), event_id(4)));
    const auto earlier = replay({"--from", "10 minutes ago"});
    EXPECT_EQ(earlier.exit_code, 1);
    EXPECT_THAT(earlier.errors, HasSubstr("no kept position reaches back to"));
    // The trail moves on by time before its first row is written: to a mark of before that time.
    bench.stop();
    bench.execute(
        "UPDATE walrelay.replay SET state = 'running', position = NULL, at_lsn = NULL, "
        "rows_written = 0, taken = 0; INSERT INTO walrelay.trail SELECT (jsonb_populate_record(t, "
        "jsonb_build_object('position', " +
        as_literal(mark) + ", 'seen_at', " + as_literal(from) +
        "))).* FROM walrelay.trail AS t LIMIT 1; SELECT pg_replication_slot_advance(slot_name, " +
        as_literal(mark) + ") FROM pg_replication_slots WHERE slot_name LIKE '%\\_trail'");
    bench.start();
    const auto resumed = replay({"resume", "1"});
    EXPECT_THAT(resumed.output, HasSubstr("is done")) << resumed.errors;
}

TEST_P(Replay, SaysWhatIsNotKept) {
    insert(1, 1);
    const auto none = replay({"--from", "0/10"});
    EXPECT_EQ(none.exit_code, 1);
    EXPECT_THAT(none.errors, HasSubstr("no kept position reaches back to LSN 0/10: there is none"));
    EXPECT_THAT(none.errors, HasSubstr("walrelay bookmark create"));
    const auto unknown = replay({"--from", "bookmark:nobody"});
    EXPECT_EQ(unknown.exit_code, 1);
    EXPECT_THAT(unknown.errors, HasSubstr("there is no bookmark nobody"));
    const auto nonsense = replay({"--from", "the day before"});
    EXPECT_EQ(nonsense.exit_code, 2);
    EXPECT_THAT(nonsense.errors, HasSubstr("is no bookmark, LSN, position or time"));
    EXPECT_EQ(replay({}).exit_code, 2);
    EXPECT_EQ(replay({"show", "7"}).exit_code, 1);
}

TEST_P(Replay, IsCancelled) {
    keep_position();
    insert(1, 5);
    bench.stop();
    auto command = bench.begin({"replay", "--from", "bookmark:before", "--execute"});
    ASSERT_TRUE(eventually(
        patience, [&] { return replay({"list"}).output.find("running") != std::string::npos; }))
        << replay({"list"}).output << command.log();
    EXPECT_THAT(bench.command({"status"}).output, HasSubstr("of 5 rows written (walrelay replay "));
    const auto another = replay({"--from", "bookmark:before", "--execute"});
    EXPECT_EQ(another.exit_code, 3);
    EXPECT_THAT(another.errors, HasSubstr("another replay of slot"));
    EXPECT_THAT(replay({"cancel", "1"}).output, HasSubstr("cancelled replay 1"));
    EXPECT_EQ(replay({"cancel", "1"}).exit_code, 1);
    EXPECT_EQ(replay({"resume", "1"}).exit_code, 1);
    command.kill_9();
    bench.start();
    settle();
    EXPECT_EQ(replayed().size(), 5U) << "what was written is published, by whoever comes next";
}

/// PostgreSQL begins where the slot stands and says nothing of the rows before.
TEST_P(Replay, DoesNotGoOnFromAPositionThatWasMovedMeanwhile) {
    keep_position();
    insert(1, 5000);
    bench.stop();
    {
        auto command = bench.begin({"replay", "--from", "bookmark:before", "--execute"});
        ASSERT_TRUE(eventually(patience, [&] {
            return replay({"list"}).output.find("running") != std::string::npos &&
                   bench.session().value_of("SELECT max(rows_written) FROM walrelay.replay") != "0";
        })) << command.log();
        command.kill_9();
    }
    ASSERT_TRUE(eventually(patience, [&] {
        return bench.session().value_of(
                   "SELECT count(*) FROM pg_replication_slots WHERE slot_name "
                   "LIKE '%\\_replay'") == "0";
    }));
    bench.execute(
        "SELECT pg_replication_slot_advance(slot_name, pg_current_wal_lsn()) FROM "
        "pg_replication_slots WHERE slot_name LIKE '%\\_at\\_before'");
    const auto resumed = replay({"resume", "1"});
    EXPECT_EQ(resumed.exit_code, 1) << resumed.output;
    EXPECT_THAT(resumed.errors, HasSubstr("moved or made again"));
    EXPECT_THAT(resumed.errors, HasSubstr("walrelay replay cancel 1"));
    EXPECT_THAT(resumed.errors, testing::Not(HasSubstr("replay resume")));
    EXPECT_THAT(replay({"list"}).output, HasSubstr("running"));
}

TEST_P(Replay, SaysThatItsBookmarkIsLost) {
    keep_position();
    insert(1, 5);
    EXPECT_EQ(replay({"--from", "bookmark:before"}).exit_code, 0);
    forget_position();
    const auto lost = replay({"--from", "bookmark:before", "--execute"});
    EXPECT_EQ(lost.exit_code, 1);
    EXPECT_THAT(replayed(), IsEmpty());
}

TEST_P(Replay, OfATableThatWasAlteredComesAsItWas) {
    keep_position();
    insert(1, 2);
    bench.execute("ALTER TABLE outbox_events ADD COLUMN note text DEFAULT 'x'");
    insert(3, 3);
    bench.execute("ALTER TABLE outbox_events DROP COLUMN note");
    bench.execute("ALTER TABLE outbox_events RENAME TO outbox_events_2025");
    bench.create_table();
    EXPECT_EQ(replay({"--from", "bookmark:before", "--execute"}).exit_code, 0);
    settle();
    const auto again = replayed();
    ASSERT_EQ(again.size(), 3U);
    for (std::size_t index = 0; index < again.size(); ++index) {
        EXPECT_EQ(again[index].body, originals().at(index).body);
    }
}

/// They were published by the mapping of their day; that of today asks for a column that they lack.
TEST_P(Replay, OfRowsThatTodaysConfigurationDoesNotMapMakesDeadLetters) {
    keep_position();
    insert(1, 2);
    bench.execute("ALTER TABLE outbox_events ADD COLUMN tenant text DEFAULT 'x'");
    insert(3, 3);
    bench.stop();
    bench.set_outbox("[[outbox]]\ntable = 'outbox_events'\nsubject = '%.{tenant}'");
    bench.start();
    const auto plan = replay({"--from", "bookmark:before"});
    EXPECT_THAT(plan.output, HasSubstr("2 rows become dead letters:")) << plan.errors;
    EXPECT_THAT(plan.output, HasSubstr("tenant"));
    EXPECT_EQ(replay({"--from", "bookmark:before", "--execute"}).exit_code, 0);
    settle();
    EXPECT_THAT(ids_of(replayed()), ElementsAre(event_id(3)));
    EXPECT_EQ(
        bench.session().value_of("SELECT count(*) FROM walrelay.dead_letter WHERE reason LIKE "
                                 "'%has no column for {tenant} in subject%'"),
        "2");
}

TEST_P(Replay, OfRowsAsTheyAreNow) {
    insert(1, 40);
    bench.execute("UPDATE outbox_events SET event_data = '{\"changed\": true}' WHERE version = 2");
    settle();
    const std::vector<std::string> of_table{"--table", "public.outbox_events"};
    const auto run = [&](std::vector<std::string> words) {
        words.insert(words.end(), of_table.begin(), of_table.end());
        return replay(words);
    };
    const auto plan = run({"--rows", "version <= 3 -- no more"});
    EXPECT_EQ(plan.exit_code, 0) << plan.errors;
    EXPECT_THAT(plan.output, HasSubstr("3, "));
    const auto done = run({"--rows", "version <= 3 -- no more", "--execute"});
    EXPECT_THAT(done.output, HasSubstr("replay 1 is done: 3 rows published")) << done.errors;
    const auto by_id = run({"--ids", event_id(40), event_id(7), event_id(999), "--execute"});
    EXPECT_THAT(by_id.output, HasSubstr("replay 2 is done: 2 rows published")) << by_id.errors;
    settle();
    const auto again = replayed();
    EXPECT_THAT(ids_of(again),
                ElementsAre(event_id(1), event_id(2), event_id(3), event_id(40), event_id(7)));
    EXPECT_EQ(again.at(0).header("Nats-Msg-Id"), event_id(1) + ";replay-1");
    EXPECT_THAT(again.at(1).body, HasSubstr("changed"));
    EXPECT_EQ(again.at(0).body, originals().at(0).body);
    EXPECT_EQ(run({"--rows", "no such column"}).exit_code, 2);
    EXPECT_EQ(run({"--ids", "no uuid"}).exit_code, 2);
    EXPECT_EQ(replay({"--rows", "true"}).exit_code, 2) << "without --table";
    EXPECT_EQ(run({"--rows", "true", "--from", "0/1"}).exit_code, 2);
}

INSTANTIATE_TEST_SUITE_P(Plugins, Replay, both_plugins(), plugin_name);

}  // namespace
}  // namespace walrelay::test
