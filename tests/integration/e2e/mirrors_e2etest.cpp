// Streams that the server fills from walrelay's: a mirror and a source have every message. And a
// stream that takes the subject of another one is never taken for it.
#include "integration/e2e/background_writer.hpp"
#include "integration/e2e/relay_bench.hpp"
#include "support/eventually.hpp"

#include <gmock/gmock.h>

namespace walrelay::test {
namespace {

using testing::HasSubstr;

std::vector<std::string> ids_of(const std::vector<stored_message>& messages) {
    std::vector<std::string> ids;
    ids.reserve(messages.size());
    for (const auto& message : messages) {
        ids.push_back(message.header("Nats-Msg-Id"));
    }
    return ids;
}

class Mirrors : public testing::TestWithParam<const char*> {
protected:
    void SetUp() override { bench.create_table(); }

    void fill_from_the_stream() {
        bench.broker().create({.name = "MIRROR", .subjects = {}, .mirror_of = bench.stream_name()});
        bench.broker().create({.name = "SOURCED", .subjects = {}, .source = bench.stream_name()});
    }
    void commit(std::uint64_t count) {
        bench.execute(insert_events(rows + 1, rows + count));
        rows += count;
    }
    /// The server asks its own stream again after a loss only when some seconds have passed.
    void expect_filled() {
        ASSERT_TRUE(bench.wait_for_messages(rows));
        const auto messages = bench.messages();
        for (const auto* const name : {"MIRROR", "SOURCED"}) {
            ASSERT_TRUE(bench.broker().wait_for(name, rows, patience))
                << name << " has " << bench.broker().message_count(name) << " of " << rows;
            EXPECT_EQ(ids_of(bench.broker().read(name)), ids_of(messages)) << name;
        }
    }

    nats_server broker;
    relay_bench bench{shared_postgres(), broker, GetParam()};
    std::uint64_t rows = 0;
};

TEST_P(Mirrors, HaveEveryMessageAlsoAfterTheBrokerWasKilled) {
    bench.start();
    commit(500);
    ASSERT_TRUE(bench.wait_for_messages(rows));
    fill_from_the_stream();
    expect_filled();
    broker.kill_9();
    commit(500);
    broker.start();
    commit(500);
    expect_filled();
    bench.expect_relayed(bench.committed_ids());
}

TEST_P(Mirrors, OfAStreamThatHasNoOrderToKeepHaveEveryMessage) {
    bench.set_nats("sole_writer = false\n");
    bench.start();
    commit(50);
    ASSERT_TRUE(bench.wait_for_messages(rows));
    fill_from_the_stream();
    commit(50);
    expect_filled();
}

class AnotherStream : public e2e_test {
protected:
    void SetUp() override {
        bench.create_table();
        bench.start();
        bench.execute(insert_event(1));
        ASSERT_TRUE(bench.wait_for_messages(1));
        ASSERT_TRUE(bench.confirmed_reaches(bench.wal_end()));
        ASSERT_TRUE(bench.wait_until_marked());
    }
    void take_subjects_away() {
        bench.broker().set_subjects(bench.stream_name(), {bench.name() + ".unused.*"});
        bench.broker().create({.name = taker, .subjects = {bench.name() + ".order.*"}});
    }
    /// Once the subjects are the stream's again, the row that another one has taken comes.
    void expect_halt_and_then_all(std::uint64_t taken) {
        EXPECT_EQ(bench.relay().process().wait_exit(patience), 3);
        EXPECT_THAT(bench.relay().log(), HasSubstr("belongs to " + taker));
        EXPECT_EQ(bench.broker().message_count(taker), taken);
        EXPECT_EQ(bench.broker().message_count(bench.stream_name()), 1U);
        bench.broker().remove(taker);
        bench.broker().set_subjects(bench.stream_name(), {bench.name() + ".>"});
        EXPECT_EQ(bench.command({"resume"}).exit_code, 0);
        bench.start();
        bench.expect_relayed(event_ids(1, 2));
    }
    const std::string taker = "TAKER_" + bench.name();
};

TEST_P(AnotherStream, ThatTakesTheSubjectRefusesWhatHasAnExpectedSequence) {
    take_subjects_away();
    bench.execute(insert_event(2));
    expect_halt_and_then_all(0);
}

TEST_P(AnotherStream, ThatStoresAMessageIsNotTakenForTheRelaysOwn) {
    bench.stop();
    bench.set_nats("sole_writer = false\n");
    bench.start();
    take_subjects_away();
    bench.execute(insert_event(2));
    expect_halt_and_then_all(1);
}

INSTANTIATE_TEST_SUITE_P(, Mirrors, both_plugins(), plugin_name);
INSTANTIATE_TEST_SUITE_P(, AnotherStream, both_plugins(), plugin_name);

}  // namespace
}  // namespace walrelay::test
