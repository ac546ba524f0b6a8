// Streams that the server fills from walrelay's: a mirror and a source have every message. And a
// stream that takes the subject of another one is never taken for it.
#include "integration/e2e/background_writer.hpp"
#include "integration/e2e/relay_bench.hpp"
#include "support/eventually.hpp"

#include <gmock/gmock.h>

#include <functional>
#include <regex>

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
    void commit(std::uint64_t count, const std::string& aggregate = "order-1") {
        bench.execute(insert_events(rows + 1, rows + count, aggregate));
        rows += count;
    }
    /// Six times, with what `more` commits on its way. A broker that dies while it changes the
    /// stream's description loses the stream, and so nothing does then.
    void kill_in_turn(const std::function<void()>& more) {
        for (int round = 0; round < 6; ++round) {
            ASSERT_TRUE(bench.wait_until_marked());
            ASSERT_TRUE(bench.confirms_messages(rows)) << bench.relay().log();
            const auto before = rows;
            more();
            ASSERT_TRUE(bench.wait_for_messages(before + 1)) << bench.relay().log();
            if (round % 2 == 0) {
                bench.kill_9();
                commit(50);
                bench.start();
            } else {
                broker.kill_9();
                commit(50);
                broker.start();
            }
        }
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

    /// nats-server 2.10 and newer.
    [[nodiscard]] bool filters_sources() const {
        return !std::regex_search(broker.log(), std::regex("Version: +2\\.9\\."));
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

/// Each time with messages on their way.
TEST_P(Mirrors, HaveEveryMessageAlsoAfterRelayAndBrokerWereKilledInTurn) {
    bench.start();
    commit(50);
    ASSERT_TRUE(bench.wait_for_messages(rows));
    fill_from_the_stream();
    kill_in_turn([&] { commit(1000); });
    expect_filled();
    bench.expect_relayed(bench.committed_ids());
}

/// As docs/scaling.md has it for one tenant.
TEST_P(Mirrors, SourcesWithFiltersHaveTheirPartsAlsoAfterKills) {
    if (!filters_sources()) {
        GTEST_SKIP() << "nats-server 2.9 checks Nats-Expected-Last-Sequence in a source again";
    }
    bench.set_outbox(
        "[[outbox]]\ntable = 'public.outbox_events'\nsubject = '%.{aggregate_id}.{event_type}'\n");
    bench.start();
    commit(50);
    ASSERT_TRUE(bench.wait_for_messages(rows));
    const std::vector<std::string> tenants{"acme", "initech"};
    for (const auto& tenant : tenants) {
        bench.broker().create(tenant, R"({"name":")" + tenant +
                                          R"(","storage":"file","sources":[)" + R"({"name":")" +
                                          bench.stream_name() + R"(","filter_subject":")" +
                                          bench.name() + "." + tenant + R"(.>"}]})");
    }
    kill_in_turn([&] {
        commit(500, tenants[0]);
        commit(50);
        commit(500, tenants[1]);
    });
    ASSERT_TRUE(bench.wait_for_messages(rows)) << bench.relay().log();
    for (const auto& tenant : tenants) {
        std::vector<std::string> wanted;
        for (const auto& message : bench.messages()) {
            if (message.subject == bench.name() + "." + tenant + ".placed") {
                wanted.push_back(message.header("Nats-Msg-Id"));
            }
        }
        EXPECT_TRUE(bench.broker().wait_for(tenant, wanted.size(), patience)) << tenant;
        EXPECT_EQ(ids_of(bench.broker().read(tenant)), wanted) << tenant;
        const auto verified = bench.command(
            {"verify", "--stream", tenant, "--where", "aggregate_id = '" + tenant + "'"});
        EXPECT_EQ(verified.exit_code, 0) << verified.output << verified.errors;
    }
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
