// `walrelay replay --to-stream`: rows of the past into another stream, as they were in the live
// one.
#include "integration/e2e/background_writer.hpp"
#include "integration/e2e/relay_bench.hpp"
#include "support/eventually.hpp"

#include <gmock/gmock.h>

#include <map>
#include <string>
#include <vector>

namespace walrelay::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

class ReplayToStream : public testing::TestWithParam<const char*> {
protected:
    void SetUp() override {
        bench.create_table();
        bench.start();
        bench.execute("SELECT pg_copy_logical_replication_slot('" + bench.name() + "', '" +
                      bench.name() + "_at_before')");
    }
    void TearDown() override {
        bench.execute(
            "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE slot_name "
            "= '" +
            bench.name() + "_at_before'");
    }

    void insert(std::uint64_t first, std::uint64_t last) {
        bench.execute(insert_events(first, last, "order-" + std::to_string(first)));
        const auto end = bench.wal_end();
        ASSERT_TRUE(eventually(patience, [&] { return bench.confirmed_reaches(end); }));
    }
    [[nodiscard]] std::string copy() const { return bench.name() + "_copy"; }
    [[nodiscard]] std::vector<std::string> words(std::vector<std::string> more = {}) const {
        std::vector<std::string> all{"replay",    "--from",         "bookmark:before",
                                     "--subject", "copy.{subject}", "--to-stream",
                                     copy()};
        all.insert(all.end(), more.begin(), more.end());
        return all;
    }
    [[nodiscard]] std::uint64_t copied() { return bench.broker().message_count(copy()); }

    /// What the broker was asked to look at is of the stream, and nothing of the message.
    [[nodiscard]] static std::map<std::string, std::string> headers_of(stored_message message) {
        std::erase_if(message.headers,
                      [](const auto& each) { return each.first.starts_with("Nats-Expected-"); });
        return message.headers;
    }
    /// Ids, positions, headers and bodies.
    void expect_the_same() {
        const auto live = bench.messages();
        const auto again = bench.broker().read(copy());
        ASSERT_EQ(again.size(), live.size());
        for (std::size_t index = 0; index < live.size(); ++index) {
            ASSERT_EQ(again[index].subject, "copy." + live[index].subject);
            ASSERT_EQ(headers_of(again[index]), headers_of(live[index]));
            ASSERT_EQ(again[index].body, live[index].body);
        }
    }

    nats_server broker;
    relay_bench bench{shared_postgres(), broker, GetParam()};
};

TEST_P(ReplayToStream, HasWhatTheLiveStreamHas) {
    insert(1, 3000);
    bench.execute("BEGIN; " + insert_events(3001, 3002, "a b%c") + "; COMMIT");
    insert(3003, 3003);
    const auto plan = bench.command(words());
    EXPECT_EQ(plan.exit_code, 0) << plan.errors;
    EXPECT_THAT(plan.output, HasSubstr("stream " + copy()));
    EXPECT_FALSE(bench.broker().state(copy())) << "a plan makes nothing";
    const auto before = bench.wal_end();
    const auto done = bench.command(words({"--execute"}));
    EXPECT_EQ(done.exit_code, 0) << done.errors;
    EXPECT_THAT(done.output, HasSubstr("published 3,003 rows into stream " + copy()));
    expect_the_same();
    EXPECT_EQ(bench.session().value_of("SELECT count(*) FROM pg_class WHERE relname = 'replay'"),
              "0")
        << "nothing is written to the database";
    EXPECT_THAT(bench.command(words({"--execute"})).output, HasSubstr("has all of the range"));
    insert(3004, 3010);
    EXPECT_THAT(bench.command(words()).output, HasSubstr("3,003 rows, up to the one at position"));
    EXPECT_THAT(bench.command(words({"--execute"})).output, HasSubstr("published 7 rows"));
    expect_the_same();
}

TEST_P(ReplayToStream, GoesOnAfterKillsOfItselfAndOfTheBroker) {
    insert(1, 20'000);
    for (int round = 0; round < 4; ++round) {
        auto command = bench.begin(words({"--execute"}));
        const auto seen = copied();
        ASSERT_TRUE(
            eventually(patience, [&] { return copied() > seen || !command.process().running(); }));
        if (round % 2 == 1) {
            broker.kill_9();
            broker.start();
            const auto after = copied();
            ASSERT_TRUE(eventually(
                patience, [&] { return copied() > after || !command.process().running(); }));
        }
        command.kill_9();
    }
    const auto done = bench.command(words({"--execute"}));
    EXPECT_EQ(done.exit_code, 0) << done.errors;
    expect_the_same();
}

TEST_P(ReplayToStream, RefusesStreamsOfOthers) {
    insert(1, 2);
    const auto refused = [&](const std::string& stream) {
        return bench.command({"replay", "--from", "bookmark:before", "--subject", "copy.{subject}",
                              "--to-stream", stream, "--execute"});
    };
    EXPECT_EQ(refused(bench.stream_name()).exit_code, 2) << "the live one";
    EXPECT_EQ(refused("no.name").exit_code, 2);
    stream_options others;
    others.name = copy();
    others.subjects = {"copy.>"};
    bench.broker().create(others);
    bench.broker().publish("copy.somebody", "else");
    const auto of_others = refused(copy());
    EXPECT_EQ(of_others.exit_code, 3);
    EXPECT_THAT(of_others.errors, HasSubstr("was not made by a replay"));
    bench.broker().remove(copy());
    const auto overlaps =
        bench.command({"replay", "--from", "bookmark:before", "--to-stream", copy(), "--execute"});
    EXPECT_EQ(overlaps.exit_code, 3);
    EXPECT_THAT(overlaps.errors, HasSubstr("--subject"));
}

TEST_P(ReplayToStream, RefusesToLeaveRowsOut) {
    insert(1, 2);
    const auto third_from = bench.wal_end();
    insert(3, 4);
    const auto from = [&](const std::string& where, const std::vector<std::string>& more = {}) {
        auto all = words({"--execute"});
        all[2] = where;
        all.insert(all.end(), more.begin(), more.end());
        return bench.command(all);
    };
    EXPECT_EQ(from(third_from).exit_code, 0);
    const auto earlier = from("bookmark:before");
    EXPECT_EQ(earlier.exit_code, 3);
    EXPECT_THAT(earlier.errors, HasSubstr("after that at which this replay begins"));
    const auto filtered = from(third_from, {"--table", "public.outbox_events"});
    EXPECT_EQ(filtered.exit_code, 3);
    EXPECT_THAT(filtered.errors, HasSubstr("with other --table, --subject or --aggregate"));
    insert(5, 5);
    const auto later_from = bench.wal_end();
    insert(6, 6);
    const auto later = from(later_from);
    EXPECT_EQ(later.exit_code, 3);
    EXPECT_THAT(later.errors, HasSubstr("what is between them would be missing"));
}

TEST_P(ReplayToStream, LeavesOutAndNamesWhatTheStreamDoesNotTake) {
    insert(1, 1);
    bench.execute(insert_events(2, 2) +
                  "INSERT INTO outbox_events SELECT gen_random_uuid(), "
                  "aggregate_id, aggregate_type, event_type, jsonb_build_object('text', "
                  "repeat('x', 5000)), metadata, status, 9, created_at FROM outbox_events "
                  "WHERE version = 2");
    insert(3, 3);
    stream_options small;
    small.name = copy();
    small.subjects = {"copy.>"};
    small.max_message_bytes = 4000;
    bench.broker().create(small);
    const auto done = bench.command(words({"--execute"}));
    EXPECT_EQ(done.exit_code, 1);
    EXPECT_THAT(done.errors, HasSubstr("1 row is not in stream " + copy()));
    EXPECT_EQ(copied(), 3U);
    const auto again = bench.command(words({"--execute"}));
    EXPECT_EQ(again.exit_code, 1) << "a second look makes it no better";
    EXPECT_THAT(again.output, HasSubstr("ends with the range; nothing was done"));
    EXPECT_THAT(again.errors, HasSubstr("1 row is not in stream " + copy() +
                                        ", which an earlier run has left out"));
    EXPECT_THAT(bench.command(words()).output, HasSubstr("3 rows, up to the one at position"));
    insert(4, 5);
    const auto further = bench.command(words({"--execute"}));
    EXPECT_EQ(further.exit_code, 1);
    EXPECT_THAT(further.output, HasSubstr("published 2 rows"));
    EXPECT_THAT(further.errors, HasSubstr("an earlier run has left out"));
}

/// The first of all, so that the stream begins after it.
TEST_P(ReplayToStream, GoesOnAfterARowThatIsTooLarge) {
    const std::string large =
        "INSERT INTO outbox_events (id, aggregate_id, aggregate_type, event_type, event_data, "
        "status, version, created_at) VALUES (gen_random_uuid(), 'a', 'order', 'placed', "
        "jsonb_build_object('x', repeat('x', 100000)), 'pending', 1, now())";
    bench.execute(large);
    insert(2, 3);
    bench.execute(large);
    ASSERT_TRUE(bench.confirmed_reaches(bench.wal_end()));
    bench.set_delivery("max_row_bytes = '64KiB'");
    const auto done = bench.command(words({"--execute"}));
    EXPECT_EQ(done.exit_code, 1) << done.errors;
    EXPECT_THAT(done.errors, HasSubstr("2 rows are not in stream " + copy()));
    const auto again = bench.command(words({"--execute"}));
    EXPECT_EQ(again.exit_code, 1);
    EXPECT_THAT(again.errors, HasSubstr("1 row is not in stream " + copy()))
        << "the one before its last message";
    EXPECT_EQ(copied(), 2U);
}

TEST_P(ReplayToStream, WaitsForAStreamThatIsFull) {
    insert(1, 50);
    auto command = words({"--execute"});
    stream_options small;
    small.name = copy();
    small.subjects = {"copy.>"};
    small.max_messages = 20;
    small.discard_new = true;
    bench.broker().create(small);
    auto full = bench.begin(command);
    ASSERT_TRUE(eventually(patience, [&] { return copied() == 20; }));
    EXPECT_TRUE(full.wait_for_log("maximum messages exceeded", patience));
    bench.broker().limit(copy(), -1);
    EXPECT_EQ(full.process().wait_exit(patience), 0);
    expect_the_same();
}

INSTANTIATE_TEST_SUITE_P(Plugins, ReplayToStream, both_plugins(), plugin_name);

}  // namespace
}  // namespace walrelay::test
