// What goes through the WAL is done when it is stored: replays and retries whose rows were written,
// and never read, because the slot was lost or moved in between.
#include "integration/e2e/relay_bench.hpp"
#include "support/eventually.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace walrelay::test {
namespace {

using testing::HasSubstr;
using testing::Not;

enum class accident { advanced, healed };

class DoneWhenStored : public e2e_test {
protected:
    void SetUp() override {
        bench.create_table();
        bench.set_delivery("on_slot_loss = 'heal'");
        ASSERT_EQ(bench.command({"init"}).exit_code, 0);
        bench.start();
    }

    void settle() {
        const auto end = bench.wal_end();
        ASSERT_TRUE(eventually(patience, [&] { return bench.confirmed_reaches(end); }));
    }
    void insert(std::uint64_t first, std::uint64_t last) {
        bench.execute(insert_events(first, last, "order-1"));
        settle();
    }
    void keep_position() const {
        bench.execute("SELECT pg_copy_logical_replication_slot('" + bench.name() + "', '" +
                      bench.name() + "_at_before')");
    }

    /// While no relay runs.
    void lose_what_was_written(accident how) {
        ASSERT_TRUE(eventually(patience, [&] { return bench.slot("active") == "f"; }));
        const auto slot = as_literal(bench.name());
        bench.execute(how == accident::advanced
                          ? "SELECT pg_replication_slot_advance(" + slot + ", pg_current_wal_lsn())"
                          : "SELECT pg_drop_replication_slot(" + slot + ")");
    }

    std::string written(std::int64_t number = 1) {
        return bench.session().value_of(
            "SELECT coalesce(max(rows_written), 0) FROM walrelay.replay WHERE id = " +
            std::to_string(number));
    }

    /// Writes two batches that no relay reads.
    void write_unread(const std::vector<std::string>& words, const std::string& rows) {
        bench.stop();
        auto command = bench.begin(words);
        ASSERT_TRUE(eventually(patience, [&] { return written() == rows; }))
            << command.log() << written();
        command.kill_9();
    }

    /// How often each row was replayed.
    std::map<std::string, int> replayed() {
        std::map<std::string, int> times;
        for (const auto& each : bench.messages()) {
            const auto id = each.header("Nats-Msg-Id");
            if (!each.header("Walrelay-Replay").empty()) {
                ++times[id.substr(0, id.find(';'))];
            }
        }
        return times;
    }
    void expect_each_once(std::size_t count) {
        const auto times = replayed();
        EXPECT_EQ(times.size(), count);
        EXPECT_TRUE(std::ranges::all_of(times, [](const auto& each) { return each.second == 1; }));
    }
    std::vector<std::string> replayed_positions() {
        std::vector<std::string> positions;
        for (const auto& each : bench.messages()) {
            if (!each.header("Walrelay-Replay").empty()) {
                positions.push_back(each.header("Walrelay-Original-Position"));
            }
        }
        return positions;
    }

    /// What nobody may call done, and what fixes it.
    void expect_resumed(const std::string& lost, std::size_t count) {
        for (const auto& words : {std::vector<std::string>{"replay", "list"},
                                  std::vector<std::string>{"replay", "show", "1"}}) {
            const auto said = bench.command(words);
            EXPECT_THAT(said.output, HasSubstr(lost + " that were written")) << said.errors;
            EXPECT_THAT(said.output, HasSubstr("walrelay replay resume 1"));
        }
        const auto before = bench.command({"verify"});
        EXPECT_EQ(before.exit_code, 1) << before.output;
        EXPECT_THAT(before.output, HasSubstr("walrelay replay resume 1"));
        const auto done = bench.command({"replay", "resume", "1"});
        EXPECT_EQ(done.exit_code, 0) << done.errors;
        EXPECT_THAT(done.output, HasSubstr("had been written before"));
        settle();
        expect_each_once(count);
        const auto after = bench.command({"verify"});
        EXPECT_EQ(after.exit_code, 0) << after.output;
        EXPECT_THAT(bench.command({"replay", "list"}).output, Not(HasSubstr("resume")));
    }

    /// After two others: its header is too large.
    void set_a_row_aside() {
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
    }

    /// As the session of another replay does; until it is reset.
    std::optional<postgres_session> hold_replay_slot() {
        const auto copy = as_literal(bench.name() + "_replay");
        EXPECT_TRUE(eventually(patience, [&] {
            return bench.session().value_of(
                       "SELECT count(*) FROM pg_replication_slots WHERE slot_name = " + copy) ==
                   "0";
        }));
        std::optional<postgres_session> held(bench.session());
        held->execute("SELECT pg_create_logical_replication_slot(" + copy + ", 'pgoutput', true)");
        return held;
    }
    bool waits_for_replay_slot() {
        const auto said = "replication slot \"" + bench.name() + "_replay\" already exists";
        return eventually(patience,
                          [&] { return shared_postgres().log().find(said) != std::string::npos; });
    }

    std::string letter(const std::string& column) {
        return bench.session().value_of("SELECT coalesce(max(" + column +
                                        "::text), '') FROM walrelay.dead_letter");
    }
};

TEST_P(DoneWhenStored, RowsThatAMovedSlotTookAlongArePublishedByResume) {
    keep_position();
    insert(1, 1300);
    write_unread({"replay", "--from", "bookmark:before", "--execute"}, "1000");
    lose_what_was_written(accident::advanced);
    bench.start();
    settle();
    expect_resumed("1,000 rows", 1300);
    EXPECT_TRUE(std::ranges::is_sorted(replayed_positions()));
}

TEST_P(DoneWhenStored, RowsThatALostSlotTookAlongArePublishedByResume) {
    keep_position();
    insert(1, 1300);
    write_unread({"replay", "--from", "bookmark:before", "--execute"}, "1000");
    lose_what_was_written(accident::healed);
    bench.start();
    settle();
    expect_resumed("1,000 rows", 1300);
    EXPECT_TRUE(std::ranges::is_sorted(replayed_positions()));
}

TEST_P(DoneWhenStored, RowsOfATableThatAMovedSlotTookAlongArePublishedByResume) {
    insert(1, 700);
    write_unread({"replay", "--rows", "true", "--table", "public.outbox_events", "--execute"},
                 "48");
    lose_what_was_written(accident::advanced);
    bench.start();
    settle();
    expect_resumed("48 rows", 700);
}

TEST_P(DoneWhenStored, AReplayThatGoesOnOverALossLeavesNoHole) {
    keep_position();
    insert(1, 1300);
    bench.stop();
    auto command = bench.begin({"replay", "--from", "bookmark:before", "--execute"});
    ASSERT_TRUE(eventually(patience, [&] { return written() == "1000"; })) << command.log();
    lose_what_was_written(accident::advanced);
    bench.start();
    ASSERT_TRUE(eventually(patience, [&] { return !command.process().running(); }));
    EXPECT_THAT(bench.command({"replay", "show", "1"}).output, HasSubstr("done"));
    expect_each_once(1300);
}

// What the stream was when the replay began tells nothing of one that was made since and has grown
// past that.
TEST_P(DoneWhenStored, ResumeLooksThroughAllOfAStreamThatWasMadeSince) {
    keep_position();
    insert(1, 100);
    write_unread({"replay", "--from", "bookmark:before", "--execute"}, "100");
    bench.broker().remove(bench.stream_name());
    ASSERT_EQ(bench.command({"init", "--new-stream"}).exit_code, 0);
    bench.start();
    settle();
    insert(101, 300);
    const auto done = bench.command({"replay", "resume", "1"});
    EXPECT_EQ(done.exit_code, 0) << done.output << done.errors;
    settle();
    expect_each_once(100);
}

TEST_P(DoneWhenStored, ResumeThatIsKilledWhileItFillsAHoleIsResumed) {
    keep_position();
    insert(1, 3000);
    write_unread({"replay", "--from", "bookmark:before", "--execute"}, "1000");
    lose_what_was_written(accident::advanced);
    bench.start();
    settle();
    for (int round = 0; round < 4; ++round) {
        const auto before = bench.broker().state(bench.stream_name())->last_sequence;
        auto command = bench.begin({"replay", "resume", "1"});
        ASSERT_TRUE(eventually(patience, [&] {
            return bench.broker().state(bench.stream_name())->last_sequence > before ||
                   !command.process().running();
        }));
        command.kill_9();
        if (round == 1) {
            bench.kill_9();
            lose_what_was_written(accident::advanced);
            bench.start();
        }
    }
    const auto done = bench.command({"replay", "resume", "1"});
    EXPECT_THAT(done.exit_code, testing::AnyOf(0, 1)) << done.errors;
    settle();
    expect_each_once(3000);
}

/// A header that is too large for any broker.
TEST_P(DoneWhenStored, ARetryThatAMovedSlotTookAlongIsOpenAgain) {
    set_a_row_aside();
    ASSERT_EQ(letter("id"), "1");
    EXPECT_EQ(letter("slot"), bench.name());
    bench.stop();
    bench.set_outbox("[[outbox]]\ntable = 'public.outbox_events'\nsubject = '%.all'");
    const auto queued = bench.command({"dead-letter", "retry", "1"});
    EXPECT_EQ(queued.exit_code, 0) << queued.errors;
    EXPECT_THAT(bench.command({"dead-letter", "list"}).output, HasSubstr("queued"));
    lose_what_was_written(accident::advanced);
    bench.start();
    settle();
    EXPECT_THAT(bench.command({"dead-letter", "list"}).output, HasSubstr("lost"));
    const auto before = bench.command({"verify"});
    EXPECT_EQ(before.exit_code, 1) << before.output;
    EXPECT_THAT(before.output, HasSubstr("walrelay dead-letter retry 1"));
    EXPECT_THAT(bench.command({"dead-letter", "retry", "--all"}).output,
                HasSubstr("queued dead letter 1 for retry as retry-1-2"));
    ASSERT_TRUE(bench.wait_for_messages(3));
    settle();
    EXPECT_THAT(bench.command({"dead-letter", "list"}).output, HasSubstr("retried"));
    EXPECT_THAT(bench.command({"dead-letter", "retry", "--all"}).output,
                HasSubstr("no dead letters that were never retried"));
    const auto after = bench.command({"verify"});
    EXPECT_EQ(after.exit_code, 0) << after.output;
    EXPECT_EQ(bench.messages().back().header("Nats-Msg-Id"), event_id(3) + ";retry-1-2");
}

TEST_P(DoneWhenStored, ALetterWhoseRetryIsNotReadYetIsNotDroppedOrRetriedOnceMore) {
    set_a_row_aside();
    bench.stop();
    bench.set_outbox("[[outbox]]\ntable = 'public.outbox_events'\nsubject = '%.all'");
    ASSERT_EQ(bench.command({"dead-letter", "retry", "1"}).exit_code, 0);
    const auto twice = bench.command({"dead-letter", "retry", "1"});
    EXPECT_EQ(twice.exit_code, 1) << twice.output;
    EXPECT_THAT(twice.errors, HasSubstr("dead letter 1 is queued for retry already"));
    for (const auto& words : {std::vector<std::string>{"dead-letter", "drop", "1"},
                              std::vector<std::string>{"dead-letter", "drop", "--all", "--yes"}}) {
        const auto refused = bench.command(words);
        EXPECT_EQ(refused.exit_code, 1) << refused.output;
        EXPECT_EQ(refused.output, "dropped 0\n");
        EXPECT_THAT(refused.errors,
                    HasSubstr("dead letter 1 is queued for retry and was not dropped"));
    }
    EXPECT_EQ(letter("retries"), "1");
    bench.start();
    ASSERT_TRUE(bench.wait_for_messages(3));
    settle();
    EXPECT_EQ(bench.command({"dead-letter", "drop", "1"}).output, "dropped 1\n");
    EXPECT_EQ(bench.messages().back().header("Nats-Msg-Id"), event_id(3) + ";retry-1-1");
}

/// Where nobody can tell what became of it, as the stream has removed its messages.
TEST_P(DoneWhenStored, ALetterWhoseRetryWasReadIsDroppedWhateverBecameOfIt) {
    set_a_row_aside();
    bench.stop();
    bench.set_outbox("[[outbox]]\ntable = 'public.outbox_events'\nsubject = '%.all'");
    bench.start();
    ASSERT_EQ(bench.command({"dead-letter", "retry", "1"}).exit_code, 0);
    ASSERT_TRUE(bench.wait_for_messages(3));
    settle();
    bench.broker().delete_message(bench.stream_name(), 3);
    bench.execute("UPDATE walrelay.dead_letter SET retry_fate = NULL");
    EXPECT_THAT(bench.command({"dead-letter", "list"}).output, HasSubstr("queued"));
    EXPECT_EQ(bench.command({"dead-letter", "drop", "1"}).output, "dropped 1\n");
}

/// As an earlier version noted it while a slot was away that came back.
TEST_P(DoneWhenStored, ARetryThatIsCalledLostIsDoneWhenItsMessageComes) {
    set_a_row_aside();
    bench.stop();
    bench.set_outbox("[[outbox]]\ntable = 'public.outbox_events'\nsubject = '%.all'");
    ASSERT_EQ(bench.command({"dead-letter", "retry", "1"}).exit_code, 0);
    bench.execute("UPDATE walrelay.dead_letter SET retry_fate = 'lost'");
    EXPECT_THAT(bench.command({"dead-letter", "list"}).output, HasSubstr("lost"));
    bench.start();
    ASSERT_TRUE(bench.wait_for_messages(3));
    settle();
    const auto after = bench.command({"verify"});
    EXPECT_EQ(after.exit_code, 0) << after.output;
    EXPECT_EQ(letter("retry_fate"), "stored");
    EXPECT_THAT(bench.command({"dead-letter", "retry", "--all"}).output,
                HasSubstr("no dead letters that were never retried"));
}

/// Whoever may publish on the stream's subjects can give a message any id.
TEST_P(DoneWhenStored, ARetryIsNotDoneByAMessageOfSomebodyElse) {
    set_a_row_aside();
    const auto before = bench.messages().back().header("Walrelay-Position");
    bench.stop();
    bench.set_outbox("[[outbox]]\ntable = 'public.outbox_events'\nsubject = '%.all'");
    ASSERT_EQ(bench.command({"dead-letter", "retry", "1"}).exit_code, 0);
    lose_what_was_written(accident::advanced);
    const auto id = event_id(3) + ";retry-1-1";
    const auto subject = bench.name() + ".all";
    bench.broker().publish(subject, "{}", {{"Nats-Msg-Id", id}});
    bench.broker().publish(
        subject, "{}", {{"Nats-Msg-Id", "of-another" + id}, {"Walrelay-Position", "1" + before}});
    bench.start();
    settle();
    EXPECT_THAT(bench.command({"dead-letter", "list"}).output, HasSubstr("lost"));
    EXPECT_EQ(letter("retry_fate"), "lost");
}

TEST_P(DoneWhenStored, ALetterWhoseMessageIsGoneStandsForItsRowNoMore) {
    set_a_row_aside();
    bench.stop();
    bench.set_outbox("[[outbox]]\ntable = 'public.outbox_events'\nsubject = '%.all'");
    bench.start();
    ASSERT_EQ(bench.command({"dead-letter", "retry", "1"}).exit_code, 0);
    ASSERT_TRUE(bench.wait_for_messages(3));
    settle();
    EXPECT_EQ(bench.command({"verify"}).exit_code, 0);
    EXPECT_THAT(bench.command({"dead-letter", "list"}).output, HasSubstr("retried"));
    ASSERT_EQ(letter("retry_fate"), "stored");
    bench.stop();
    bench.broker().delete_message(bench.stream_name(), 3);
    const auto found = bench.command({"verify"});
    EXPECT_EQ(found.exit_code, 1) << found.output;
    EXPECT_THAT(found.output, HasSubstr(event_id(3)));
}

TEST_P(DoneWhenStored, ALetterWhoseRetryFailsIsOpenAgainAndOneWhoseMessageIsStoredIsDone) {
    set_a_row_aside();
    constexpr const char* one_is_open = R"("row":1,"broker":0)";
    ASSERT_EQ(letter("id"), "1");
    ASSERT_EQ(bench.command({"dead-letter", "retry", "1"}).exit_code, 0);
    ASSERT_TRUE(eventually(patience, [&] { return letter("retry_fate") == "failed"; }));
    const auto again = bench.command({"dead-letter", "list", "--open"}).output;
    EXPECT_THAT(again, HasSubstr("\n1 ")) << again;
    EXPECT_THAT(again, HasSubstr("open")) << again;
    EXPECT_THAT(again, Not(HasSubstr("\n2 "))) << again;
    EXPECT_THAT(bench.command({"find", event_id(3)}).output, HasSubstr("open"));

    bench.stop();
    EXPECT_THAT(bench.command({"status", "--json"}).output, HasSubstr(one_is_open));
    bench.set_outbox("[[outbox]]\ntable = 'public.outbox_events'\nsubject = '%.all'");
    EXPECT_THAT(bench.command({"dead-letter", "retry", "--all"}).output,
                HasSubstr("queued dead letter 1 for retry as retry-1-2"));
    EXPECT_THAT(bench.command({"status", "--json"}).output, HasSubstr(one_is_open));
    bench.start();
    EXPECT_TRUE(eventually(patience, [&] { return letter("retry_fate") == "stored"; }))
        << "the relay closes it: no command has looked";
    EXPECT_EQ(bench.messages().back().header("Nats-Msg-Id"), event_id(3) + ";retry-1-2");
    EXPECT_EQ(bench.command({"dead-letter", "list", "--open"}).output, "no open dead letters\n");
    EXPECT_THAT(bench.command({"dead-letter", "list", "--all"}).output, HasSubstr("retried"));
    const auto after = bench.command({"verify"});
    EXPECT_EQ(after.exit_code, 0) << after.output;
    bench.stop();
    EXPECT_THAT(bench.command({"status", "--json"}).output, HasSubstr(R"("row":0,"broker":0)"));
}

/// Quotes are escaped twice with wal2json: in the letter, and in the row that asks for the retry.
TEST_P(DoneWhenStored, ARetryThatIsTooLargeInTheWalIsOpenAgainAndSaysSo) {
    bench.stop();
    bench.execute("ALTER TABLE outbox_events ALTER event_type TYPE text");
    bench.set_delivery("on_slot_loss = 'heal'\nmax_row_bytes = '64KiB'");
    bench.set_outbox(
        "[[outbox]]\ntable = 'public.outbox_events'\nsubject = '%.all'\n"
        "headers = { 'A' = '{event_type}', 'B' = '{event_type}', 'C' = '{event_type}' }");
    bench.start();
    bench.execute(
        "INSERT INTO outbox_events (id, aggregate_id, aggregate_type, event_type, event_data, "
        "status, version, created_at) VALUES ('" +
        event_id(1) + "', 'order-1', 'order', repeat('\"', 25000), '{}', 'pending', 1, now())");
    settle();
    ASSERT_EQ(letter("retries"), "0") << bench.relay().log();
    bench.stop();
    bench.set_outbox("[[outbox]]\ntable = 'public.outbox_events'\nsubject = '%.all'");
    bench.start();
    ASSERT_EQ(bench.command({"dead-letter", "retry", "1"}).exit_code, 0);
    settle();
    if (bench.plugin() == "wal2json") {
        const auto listed = bench.command({"dead-letter", "list"}).output;
        EXPECT_THAT(listed, HasSubstr("open"));
        const auto shown = bench.command({"dead-letter", "show", "1"}).output;
        EXPECT_THAT(shown, HasSubstr("more than delivery.max_row_bytes = 65536 of the relay; fix"));
        const auto verified = bench.command({"verify"});
        EXPECT_EQ(verified.exit_code, 0) << verified.output;
        EXPECT_THAT(verified.output, Not(HasSubstr("lost or moved")));
        bench.stop();
        bench.set_delivery("on_slot_loss = 'heal'\nmax_row_bytes = '1MiB'");
        bench.start();
        EXPECT_THAT(bench.command({"dead-letter", "retry", "--all"}).output,
                    HasSubstr("queued dead letter 1 for retry as retry-1-2"));
    }
    ASSERT_TRUE(bench.wait_for_messages(1)) << bench.relay().log();
    settle();
    EXPECT_EQ(bench.command({"dead-letter", "list", "--open"}).output, "no open dead letters\n");
    EXPECT_EQ(bench.command({"verify"}).exit_code, 0);
}

TEST_P(DoneWhenStored, ARetryOfATableThatIsNoOutboxNowIsOpenAgainAndSaysSo) {
    set_a_row_aside();
    bench.stop();
    bench.execute(
        "CREATE TABLE other_events (LIKE outbox_events INCLUDING ALL); DO $$ BEGIN IF EXISTS "
        "(SELECT FROM pg_publication WHERE pubname = '" +
        bench.name() + "') THEN ALTER PUBLICATION " + bench.name() +
        " ADD TABLE other_events; END IF; END $$");
    bench.set_outbox("[[outbox]]\ntable = 'public.other_events'\nsubject = '%.all'");
    bench.start();
    ASSERT_EQ(bench.command({"dead-letter", "retry", "1"}).exit_code, 0);
    settle();
    const auto shown = bench.command({"dead-letter", "show", "1"}).output;
    EXPECT_THAT(shown, HasSubstr("table public.outbox_events is no outbox of the configuration"));
    EXPECT_THAT(shown, HasSubstr("open"));
    EXPECT_THAT(bench.command({"verify"}).output, Not(HasSubstr("lost or moved")));
    bench.stop();
    bench.set_outbox("[[outbox]]\ntable = 'public.outbox_events'\nsubject = '%.all'");
    bench.start();
    ASSERT_EQ(bench.command({"dead-letter", "retry", "1"}).exit_code, 0);
    ASSERT_TRUE(bench.wait_for_messages(3)) << bench.relay().log();
    EXPECT_EQ(bench.messages().back().header("Nats-Msg-Id"), event_id(3) + ";retry-1-2");
}

/// One whose session lives on for a while goes on writing while the other waits for its end.
TEST_P(DoneWhenStored, AResumeThatWaitsForAnotherGoesOnWhereThatEnds) {
    keep_position();
    insert(1, 100);
    write_unread({"replay", "--from", "bookmark:before", "--execute"}, "100");
    bench.execute(
        "CREATE TABLE progress AS SELECT position, at_lsn, rows_written FROM walrelay.replay");
    bench.execute("UPDATE walrelay.replay SET position = NULL, at_lsn = NULL, rows_written = 0");
    auto held = hold_replay_slot();
    auto second = bench.begin({"replay", "resume", "1"});
    ASSERT_TRUE(waits_for_replay_slot());
    bench.execute(
        "UPDATE walrelay.replay AS r SET position = p.position, at_lsn = p.at_lsn, rows_written = "
        "p.rows_written FROM progress AS p");
    held.reset();
    bench.start();
    ASSERT_TRUE(eventually(patience, [&] { return !second.process().running(); }));
    EXPECT_THAT(bench.command({"replay", "show", "1"}).output, HasSubstr("done")) << second.log();
    settle();
    expect_each_once(100);
    EXPECT_EQ(written(), "100") << second.log();
}

TEST_P(DoneWhenStored, AResumeThatWaitsForAnotherSaysThatItIsDone) {
    insert(1, 20);
    write_unread({"replay", "--rows", "true", "--table", "public.outbox_events", "--execute"},
                 "20");
    auto held = hold_replay_slot();
    auto second = bench.begin({"replay", "resume", "1"});
    ASSERT_TRUE(waits_for_replay_slot());
    bench.execute("UPDATE walrelay.replay SET state = 'done'");
    held.reset();
    bench.start();
    ASSERT_TRUE(eventually(patience, [&] { return !second.process().running(); }));
    EXPECT_THAT(second.log(), HasSubstr("replay 1 is done already"));
    settle();
    expect_each_once(20);
}

/// With a PostgreSQL of its own, which goes away.
class ReplayOutage : public testing::TestWithParam<const char*> {
protected:
    postgres_server postgres;
    relay_bench bench{postgres, shared_nats(), GetParam()};
};

TEST_P(ReplayOutage, IsSaidAndSurvived) {
    bench.create_table();
    ASSERT_EQ(bench.command({"init"}).exit_code, 0);
    bench.start();
    bench.execute(insert_events(1, 1300, "order-1"));
    const auto end = bench.wal_end();
    ASSERT_TRUE(eventually(patience, [&] { return bench.confirmed_reaches(end); }));
    bench.stop();
    for (const auto& words : {std::vector<std::string>{"replay", "--rows", "true", "--table",
                                                       "public.outbox_events", "--execute"},
                              std::vector<std::string>{"replay", "resume", "1"}}) {
        auto command = bench.begin(words);
        ASSERT_TRUE(eventually(patience, [&] {
            return bench.session().value_of(
                       "SELECT (SELECT count(*) FROM pg_replication_slots WHERE temporary) || ' ' "
                       "|| coalesce(max(rows_written), 0) FROM walrelay.replay") == "1 48";
        })) << command.log();
        postgres.stop(postgres_stop::immediate);
        const auto code = command.process().wait_exit(patience);
        ASSERT_TRUE(code.has_value());
        EXPECT_EQ(*code, 3) << command.log();
        EXPECT_THAT(command.log(), HasSubstr("walrelay replay resume 1"));
        postgres.start();
    }
    bench.start();
    const auto done = bench.command({"replay", "resume", "1"});
    EXPECT_EQ(done.exit_code, 0) << done.errors;
}

INSTANTIATE_TEST_SUITE_P(Plugins, DoneWhenStored, both_plugins(), plugin_name);
INSTANTIATE_TEST_SUITE_P(Plugins, ReplayOutage, both_plugins(), plugin_name);

}  // namespace
}  // namespace walrelay::test
