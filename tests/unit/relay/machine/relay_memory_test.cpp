// What the relay machine does when a server forgets, or when the slot is not its own.
#include "relay/machine/relay_words.hpp"
#include "unit/relay/machine/relay_script.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace walrelay::relay {
namespace {

using namespace std::chrono_literals;
using test::relay_script;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

relay_options options(std::chrono::milliseconds confirm_delay) {
    relay_options wanted;
    wanted.lane = {4, 1000, 5s};
    wanted.confirm_delay = confirm_delay;
    return wanted;
}

class RelayMemory : public testing::Test {
protected:
    explicit RelayMemory(std::chrono::milliseconds confirm_delay = 0ms)
        : script(options(confirm_delay)) {}

    void connect(lsn slot = {}) {
        script.start();
        script.broker_connects(0);
        script.postgres_connects_with(relay_script::origin, slot);
    }

    /// The broker comes back, and keeps to what it says when it is asked again.
    std::vector<std::string> broker_comes_back_with(std::uint64_t last_sequence,
                                                    std::optional<commit_position> tail) {
        constexpr int looks = 10;
        std::vector<std::string> done;
        for (int look = 0; look < looks && !script.machine().the_lane().is_open(); ++look) {
            script.passes(500ms);
            done = script.broker_connects(last_sequence, tail);
        }
        return done;
    }

    relay_script script;
};

class RelayMemoryWithDelay : public RelayMemory {
protected:
    RelayMemoryWithDelay() : RelayMemory(64s) {}
};

TEST_F(RelayMemoryWithDelay, HoldsTheSlotBackBehindTheAck) {
    connect();
    script.transaction(100, {"a"});
    script.acks(1);
    script.passes(60s);
    EXPECT_EQ(script.machine().confirmed(), lsn{});
    script.passes(6s);
    EXPECT_EQ(script.machine().confirmed(), lsn{101});
    script.passes(1s);
    EXPECT_EQ(script.reported(), lsn{101});
}

TEST(RelayMemoryBesideOthers, WaitsAgainWhereAnotherRelayMayHaveFilledWhatWasLost) {
    auto beside_others = options(64s);
    beside_others.lane.sole_writer = false;
    relay_script script(beside_others);
    script.start();
    script.broker_connects(0);
    script.postgres_connects();
    script.transaction(100, {"a"});
    script.acks(1);
    script.passes(60s);
    script.broker_fails();
    script.passes(1s);
    script.broker_connects(3);
    script.passes(60s);
    EXPECT_EQ(script.machine().confirmed(), lsn{});
    script.passes(6s);
    EXPECT_EQ(script.machine().confirmed(), lsn{101});
}

TEST_F(RelayMemoryWithDelay, StreamsFromTheSlotAgainWhatTheBrokerForgot) {
    connect();
    script.transaction(100, {"a"});
    script.acks(1);
    script.passes(65s);
    script.transaction(200, {"b"});
    script.transaction(300, {"c"});
    script.acks(2);
    script.broker_fails();
    EXPECT_THAT(broker_comes_back_with(1, commit_position{lsn{100}, lsn{1}, 0}),
                ElementsAre("close_postgres"));
    EXPECT_THAT(script.last_log(), HasSubstr("it ended with sequence 3 and now ends with 1"));
    EXPECT_THAT(script.passes(0ms), Contains("connect_postgres"));
    script.postgres_connects_with(relay_script::origin, lsn{101});
    EXPECT_THAT(script.transaction(200, {"b"}), ElementsAre("publish b@1"));
    EXPECT_THAT(script.transaction(300, {"c"}), IsEmpty());
    EXPECT_THAT(script.acks(1), ElementsAre("publish c@2"));
    script.acks(1);
    script.passes(60s);
    EXPECT_EQ(script.machine().confirmed(), lsn{101}) << "the delay counts from the new ack";
    script.passes(5s);
    EXPECT_EQ(script.machine().confirmed(), lsn{301});
}

TEST_F(RelayMemoryWithDelay, ConfirmsOnlyWhatTheStreamStillHasWhenItIsAsked) {
    connect();
    script.answers_questions = false;
    script.transaction(100, {"a"});
    EXPECT_THAT(script.acks(1), ElementsAre("ask_stream"));
    script.stream_answers(1);
    EXPECT_THAT(script.passes(66s), Contains("ask_stream"));
    EXPECT_EQ(script.machine().confirmed(), lsn{}) << "time alone proves nothing";
    script.stream_answers(1);
    EXPECT_EQ(script.machine().confirmed(), lsn{101});
}

TEST_F(RelayMemoryWithDelay, ReadsTheTailWhereTheStreamEndsBeforeWhatItHadAcked) {
    connect();
    script.answers_questions = false;
    script.transaction(100, {"a"});
    script.acks(1);
    script.stream_answers(1);
    script.passes(66s);
    EXPECT_THAT(script.stream_answers(0), ElementsAre("close_broker"));
    EXPECT_THAT(script.last_log(), HasSubstr("ends with sequence 0, but it has acked up to"));
    EXPECT_THAT(broker_comes_back_with(0, {}), ElementsAre("close_postgres"));
    script.passes(200s);
    EXPECT_EQ(script.machine().confirmed(), lsn{});
}

TEST_F(RelayMemoryWithDelay, GivesUpABrokerThatDoesNotSayWhatTheStreamHas) {
    connect();
    script.answers_questions = false;
    script.transaction(100, {"a"});
    script.acks(1);
    script.stream_answers(1);
    script.passes(66s);
    EXPECT_THAT(script.passes(4s), Not(Contains("close_broker")));
    EXPECT_THAT(script.passes(1s), Contains("close_broker"));
    EXPECT_THAT(script.last_log(), HasSubstr("has not said within 5.000 s"));
    EXPECT_THAT(broker_comes_back_with(1, commit_position{lsn{100}, lsn{1}, 0}),
                Contains("ask_stream"));
    script.machine().stream_answered(1, std::uint64_t{1}, {});
    EXPECT_EQ(script.machine().confirmed(), lsn{}) << "an answer of an earlier connection";
    script.stream_answers(1);
    EXPECT_EQ(script.machine().confirmed(), lsn{101});
}

TEST_F(RelayMemoryWithDelay, WaitsForAnAnswerWhileAcksCome) {
    connect();
    script.answers_questions = false;
    script.transaction(100, {"a"});
    script.acks(1);
    script.passes(66s);
    script.passes(4s);
    script.transaction(200, {"b"});
    script.acks(1);
    EXPECT_THAT(script.passes(4s), Not(Contains("close_broker"))) << "it may wait behind publishes";
}

TEST_F(RelayMemory, TakesADeadLetterThatAnotherRelayHadStoredForSettled) {
    script.start();
    script.broker_connects(0);
    script.postgres_connects();
    script.frame(test::begin_frame(lsn{100}));
    script.frame(test::insert_frame(16384, {"b", std::nullopt, "{}"}));
    script.broker_fails();
    script.passes(1s);
    EXPECT_THAT(script.broker_connects(5, commit_position{lsn{200}, lsn{1}, 0}),
                ElementsAre("close_postgres"));
    EXPECT_THAT(script.dead_letter_is_stored(), IsEmpty());
    script.passes(1ms);
    script.postgres_connects();
    script.transaction(100, {"b"});
    EXPECT_EQ(script.machine().confirmed(), lsn{}) << "another relay's tail is still to be met";
    script.transaction(200, {"c"});
    EXPECT_EQ(script.machine().confirmed(), lsn{201});
}

TEST_F(RelayMemoryWithDelay, ConfirmsNothingWhileTheBrokerIsAway) {
    connect();
    script.transaction(100, {"a"});
    script.acks(1);
    script.passes(60s);
    script.broker_fails();
    script.passes(600s);
    EXPECT_EQ(script.machine().confirmed(), lsn{});
}

TEST_F(RelayMemoryWithDelay, AsksTheBrokerMoreThanOnceBeforeItBelievesThat) {
    connect();
    script.transaction(100, {"a"});
    script.acks(1);
    script.broker_fails();
    script.passes(1s);
    EXPECT_THAT(script.broker_connects(0), ElementsAre("close_broker"));
    script.passes(1s);
    // It had only just begun to read its own files.
    EXPECT_THAT(script.broker_connects(1, commit_position{lsn{100}, lsn{1}, 0}), IsEmpty());
    EXPECT_THAT(script.transaction(200, {"b"}), ElementsAre("publish b@1"));
}

TEST_F(RelayMemory, HaltsWhereTheSlotHasMovedPastWhatTheBrokerForgot) {
    connect();
    script.transaction(100, {"a", "b"});
    script.acks(2);
    script.broker_fails();
    EXPECT_THAT(broker_comes_back_with(1, commit_position{lsn{100}, lsn{1}, 0}),
                ElementsAre("store_halt"));
    EXPECT_THAT(script.last_log(), HasSubstr(how_to_close_a_gap));
    EXPECT_THAT(script.halt_is_stored(), Contains("finish_postgres"));
    EXPECT_THAT(script.postgres_finishes(), Contains("finish 3"));
    EXPECT_EQ(script.halted_for()->code, errc::gap_found);
}

TEST_F(RelayMemory, HoldsTheSlotUntilTheHaltIsStored) {
    connect();
    script.transaction(100, {"a", "b"});
    script.acks(2);
    script.broker_fails();
    broker_comes_back_with(1, commit_position{lsn{100}, lsn{1}, 0});
    EXPECT_THAT(script.stops(), IsEmpty());
    EXPECT_THAT(script.passes(4s), IsEmpty());
    EXPECT_FALSE(script.machine().wants_frames());
    EXPECT_THAT(script.halt_is_stored(), Contains("finish_postgres"));
    EXPECT_THAT(script.halt_is_stored(), IsEmpty());
}

TEST_F(RelayMemory, StoresTheHaltAlsoWherePostgresqlGoesAwayMeanwhile) {
    connect();
    script.transaction(100, {"a", "b"});
    script.acks(2);
    script.broker_fails();
    broker_comes_back_with(1, commit_position{lsn{100}, lsn{1}, 0});
    EXPECT_THAT(script.postgres_fails(), ElementsAre("close_postgres"));
    EXPECT_THAT(script.halt_is_stored(), ElementsAre("close_broker", "finish 3"));
}

TEST_F(RelayMemory, DoesNotStoreAHaltThatTheNextStartFindsByItself) {
    script.start();
    script.broker_connects(0);
    EXPECT_THAT(script.postgres_fails(errc::postgres_unsuitable),
                ElementsAre("close_postgres", "close_broker", "finish 3"));
    EXPECT_EQ(script.halted_for()->code, errc::postgres_unsuitable);
    EXPECT_EQ(script.halted_for()->remedy, "start it");
}

TEST_F(RelayMemory, DoesNotStoreAgainThatItIsHalted) {
    script.start();
    script.broker_connects(0);
    EXPECT_THAT(script.postgres_fails(errc::halted),
                ElementsAre("close_postgres", "close_broker", "finish 3"));
    EXPECT_THAT(script.log_lines(), Contains(HasSubstr("until it is resumed")));
}

TEST_F(RelayMemory, KnowsWhatWasConfirmedBeforeItBegan) {
    script.start();
    script.broker_connects(5, commit_position{lsn{100}, lsn{1}, 0});
    script.postgres_connects_with(relay_script::origin, lsn{150});
    script.broker_fails();
    EXPECT_THAT(broker_comes_back_with(4, commit_position{lsn{90}, lsn{1}, 0}),
                ElementsAre("store_halt"));
}

TEST_F(RelayMemory, GoesOnWhereOnlyUnconfirmedMessagesAreForgotten) {
    script.start();
    script.broker_connects(5, commit_position{lsn{200}, lsn{1}, 0});
    script.postgres_connects_with(relay_script::origin, lsn{150});
    script.broker_fails();
    EXPECT_THAT(broker_comes_back_with(4, commit_position{lsn{190}, lsn{1}, 0}),
                ElementsAre("close_postgres"));
}

TEST_F(RelayMemory, HaltsWhenSomebodyElseMovedTheSlot) {
    connect(lsn{90});
    script.transaction(100, {"a"});
    script.acks(1);
    script.postgres_fails();
    script.passes(1s);
    EXPECT_THAT(script.postgres_connects_with(relay_script::origin, lsn{102}),
                ElementsAre("close_broker", "connect_broker"))
        << "another relay may have written";
    EXPECT_THAT(script.broker_connects(1, commit_position{lsn{100}, lsn{1}, 0}),
                ElementsAre("store_halt"));
    EXPECT_THAT(script.halt_is_stored(), ElementsAre("status 0/66", "finish_postgres"));
    EXPECT_THAT(script.log_lines(), Contains(HasSubstr("slot slot stands at LSN 0/66")));
}

TEST_F(RelayMemory, HaltsWhenSomebodyMovesASlotThatACrashHasSetBack) {
    connect(lsn{190});
    script.postgres_fails();
    script.passes(1s);
    script.postgres_connects_with(relay_script::origin, lsn{90});
    script.broker_connects(0);
    script.postgres_fails();
    script.passes(1s);
    // Less far than it has been, but what comes before was never read.
    script.postgres_connects_with(relay_script::origin, lsn{150});
    EXPECT_THAT(script.broker_connects(0), ElementsAre("store_halt"));
}

TEST_F(RelayMemory, GoesOnWhereAnotherRelayMovedSlotAndStream) {
    connect(lsn{90});
    script.transaction(100, {"a"});
    script.acks(1);
    script.postgres_fails();
    script.passes(1s);
    script.postgres_connects_with(relay_script::origin, lsn{202});
    script.broker_connects(2, commit_position{lsn{200}, lsn{1}, 0});
    script.passes(1s);
    EXPECT_THAT(script.postgres_connects_with(relay_script::origin, lsn{202}), IsEmpty());
    EXPECT_THAT(script.transaction(300, {"c"}), ElementsAre("publish c@2"));
}

TEST_F(RelayMemory, GoesOnWhereTheSlotHasNotMovedPastTheStreamsEnd) {
    script.start();
    script.broker_connects(2, commit_position{lsn{200}, lsn{1}, 0});
    script.postgres_connects_with(relay_script::origin, lsn{90});
    script.postgres_fails();
    script.passes(1s);
    script.postgres_connects_with(relay_script::origin, lsn{150});
    script.broker_connects(2, commit_position{lsn{200}, lsn{1}, 0});
    script.passes(1s);
    EXPECT_THAT(script.postgres_connects_with(relay_script::origin, lsn{150}),
                Not(Contains("store_halt")))
        << "the copy of a standby, ahead of a slot that a crash set back";
}

TEST(RelayMemoryBesideOthers, StreamsAgainWhatANewLeaderOfTheStreamTurnsOutToLack) {
    auto wanted = options(64s);
    wanted.lane.sole_writer = false;
    relay_script script{wanted};
    script.start();
    script.broker_connects(0);
    script.postgres_connects();
    script.transaction(100, {"a"});
    script.reply({outcome_class::stored, 7, 0, {}});
    script.transaction(200, {"b"});
    script.reply({outcome_class::stored, 6, 0, {}});
    script.passes(1s);
    EXPECT_THAT(script.broker_connects(9, commit_position{lsn{200}, lsn{1}, 0}),
                Contains("close_postgres"));
    EXPECT_THAT(script.last_log(),
                HasSubstr("it ended with sequence 7 and gave sequence 6 to a later message"));
    script.passes(70s);
    EXPECT_EQ(script.machine().confirmed(), lsn{});
}

TEST_F(RelayMemory, BesideOthersTakesNothingForStoredFromBeforeItBegan) {
    relay::relay_options beside_others;
    beside_others.lane = {4, 1000, 5s, false};
    relay_script relay(beside_others);
    relay.description = "";
    relay.start();
    relay.broker_connects(0);
    relay.postgres_connects_with(relay_script::origin, lsn{200});
    relay.transaction(208, {"b"});
    relay.acks(1);
    relay.postgres_fails();
    relay.passes(1s);
    relay.postgres_connects_with(relay_script::origin, lsn{100});
    relay.broker_connects(1, commit_position{lsn{208}, lsn{1}, 0});
    relay.passes(1s);
    relay.postgres_connects_with(relay_script::origin, lsn{100});
    EXPECT_THAT(relay.transaction(108, {"a"}), ElementsAre("publish a"))
        << "its table may have been left out then";
}

TEST_F(RelayMemory, TakesASlotThatPostgresqlSetBackByACrash) {
    connect(lsn{90});
    script.transaction(100, {"a"});
    script.acks(1);
    script.postgres_fails();
    script.passes(1s);
    EXPECT_THAT(script.postgres_connects_with(relay_script::origin, lsn{90}), IsEmpty());
    EXPECT_THAT(script.transaction(100, {"a"}), IsEmpty());
}

TEST_F(RelayMemory, StandsByWhileAnotherConsumerHoldsTheSlotAndTakesOverAfterwards) {
    script.start();
    script.broker_connects(0);
    std::size_t tries = 0;
    for (auto waited = 0ms; waited < 10s; waited += 50ms) {
        const auto actions = script.passes(50ms);
        if (testing::Matches(Contains("connect_postgres"))(actions)) {
            ++tries;
        }
        script.postgres_fails(errc::slot_in_use);
    }
    EXPECT_TRUE(script.machine().is_standby());
    EXPECT_THAT(script.log_lines(), Contains(HasSubstr("standing by")).Times(1));
    EXPECT_GE(tries, 9U) << "at least every second";
    // The other relay has moved both the slot and the stream.
    script.passes(1s);
    EXPECT_THAT(script.postgres_connects_with(relay_script::origin, lsn{500}),
                ElementsAre("close_broker", "connect_broker"));
    EXPECT_FALSE(script.machine().is_standby());
    EXPECT_THAT(script.broker_connects(7, commit_position{lsn{400}, lsn{1}, 0}),
                ElementsAre("close_postgres"));
    script.passes(1ms);
    script.postgres_connects_with(relay_script::origin, lsn{500});
    EXPECT_THAT(script.transaction(600, {"a"}), ElementsAre("publish a@7"));
}

TEST_F(RelayMemory, DoesNotCallItsOwnLastConnectionAnotherConsumer) {
    connect();
    script.postgres_fails();
    script.passes(1s);
    script.postgres_fails(errc::slot_in_use);
    script.passes(50ms);
    EXPECT_FALSE(script.machine().is_standby());
    // It may have been another relay's all the same, which has written to the stream.
    EXPECT_THAT(script.postgres_connects(), Contains("close_broker"));
    EXPECT_THAT(script.last_log(), Not(HasSubstr("takes over")));
}

TEST_F(RelayMemory, WaitsForTheServerWhileItsOwnLastConnectionHoldsTheSlot) {
    connect();
    script.postgres_fails();
    for (std::uint32_t tries = 0; tries < 2 * slot_place::standby_after_tries; ++tries) {
        script.passes(1s);
        script.postgres_fails(errc::slot_not_released);
    }
    const auto status = script.machine().status({});
    EXPECT_EQ(status.state, relay_state::waiting_postgres) << "nobody leads";
    EXPECT_NE(status.reason, "");
    EXPECT_THAT(script.log_lines(), Not(Contains(HasSubstr("standing by"))));
    script.passes(1s);
    script.postgres_connects();
    EXPECT_NE(script.machine().status({}).state, relay_state::waiting_postgres);
}

TEST_F(RelayMemory, AsksWhoMovedTheSlotBehindItsOwnLastConnection) {
    connect(lsn{70});
    script.postgres_fails();
    script.passes(1s);
    script.postgres_fails(errc::slot_not_released);
    script.passes(50ms);
    EXPECT_THAT(script.postgres_connects_with(relay_script::origin, lsn{90}),
                Contains("close_broker"));
}

TEST_F(RelayMemory, TakesNoLatePublishOfItsOwnForThatOfAnotherRelay) {
    connect(lsn{90});
    script.transaction(100, {"a"});
    script.transaction(200, {"b"});
    script.broker_fails();
    // Nothing is in flight any more, so the rows are read again; both are stored all the same.
    script.postgres_fails();
    script.passes(1s);
    script.postgres_connects_with(relay_script::origin, lsn{90});
    script.postgres_fails();
    script.passes(1s);
    script.postgres_connects_with(relay_script::origin, lsn{300});
    script.broker_connects(2, commit_position{lsn{200}, lsn{1}, 0});
    script.passes(1s);
    script.postgres_connects_with(relay_script::origin, lsn{300});
    EXPECT_THAT(script.broker_connects(2, commit_position{lsn{200}, lsn{1}, 0}),
                Contains("store_halt"));
}

TEST_F(RelayMemory, AsksAgainWhoMovedTheSlotOnceItHasHadItAgain) {
    connect();
    script.postgres_fails();
    script.passes(1s);
    script.postgres_fails(errc::slot_in_use);
    script.passes(50ms);
    script.postgres_connects_with(relay_script::origin, lsn{70});
    script.broker_connects(0);
    script.postgres_fails();
    script.passes(1s);
    EXPECT_THAT(script.postgres_connects_with(relay_script::origin, lsn{90}),
                Contains("close_broker"))
        << "somebody has moved it without a relay";
}

class RelayAckMemory : public testing::Test {
protected:
    static relay_options beside_others() {
        relay_options wanted;
        wanted.lane = {4, 1000, 5s, false};
        return wanted;
    }

    void sends_two_aggregates() {
        constexpr std::uint32_t outbox_oid = 16384;
        script.frame(test::begin_frame(lsn{100}));
        sent = script.frame(test::insert_frame(outbox_oid, {"a", "one", "{}"}, lsn{80}));
        const auto more = script.frame(test::insert_frame(outbox_oid, {"b", "two", "{}"}, lsn{90}));
        sent.insert(sent.end(), more.begin(), more.end());
        script.frame(test::commit_frame(lsn{100}, lsn{101}));
    }

    relay_script script{beside_others()};
    std::vector<std::string> sent;
};

TEST_F(RelayAckMemory, PublishesNothingAgainThatWasAckedWhenASourceComesBack) {
    script.start();
    script.broker_connects(0);
    script.postgres_connects();
    sends_two_aggregates();
    ASSERT_THAT(sent, ElementsAre("publish a", "publish b"));
    script.acks_last(7);
    script.broker_fails();
    script.postgres_fails();
    script.passes(10s);
    script.broker_connects(7);
    script.postgres_connects();
    script.passes(1s);
    if (!script.machine().the_lane().is_open()) {
        script.broker_connects(7);
    }
    sends_two_aggregates();
    EXPECT_THAT(sent, ElementsAre("publish a")) << "b is in the stream";
    script.acks_last(8);
    EXPECT_EQ(script.machine().confirmed(), lsn{101});
}

}  // namespace
}  // namespace walrelay::relay
