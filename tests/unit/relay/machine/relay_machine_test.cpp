#include "relay/machine/relay_machine.hpp"

#include "unit/relay/machine/relay_script.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace walrelay::relay {
namespace {

using namespace std::chrono_literals;
using test::relay_script;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// Both servers are up and the stream is empty.
class RelayMachine : public testing::Test {
protected:
    void connect() {
        script.start();
        script.broker_connects(0);
        script.postgres_connects();
    }

    [[nodiscard]] lsn confirmed() { return script.machine().confirmed(); }

    relay_script script;
};

TEST_F(RelayMachine, ReadsTheStreamsTailBeforeItStreamsTheSlot) {
    EXPECT_THAT(script.start(), ElementsAre("connect_broker"));
    EXPECT_THAT(script.broker_connects(0), ElementsAre("connect_postgres"));
}

TEST_F(RelayMachine, PublishesARowAsItArrives) {
    connect();
    script.frame(test::begin_frame(lsn{100}));
    EXPECT_THAT(script.frame(test::insert_frame(16384, {"a", "kind", "{}"})),
                ElementsAre("publish a@0"));
}

TEST_F(RelayMachine, ConfirmsATransactionOnlyAfterItsAck) {
    connect();
    script.transaction(100, {"a", "b"});
    script.acks(1);
    script.passes(1s);
    EXPECT_EQ(confirmed(), lsn{});
    script.acks(1);
    EXPECT_EQ(confirmed(), lsn{101});
    EXPECT_THAT(script.passes(100ms), ElementsAre("status 0/65"));
}

TEST_F(RelayMachine, StopsReadingWhileTheWindowIsFull) {
    connect();
    script.transaction(100, {"a", "b", "c", "d"});
    EXPECT_FALSE(script.machine().wants_frames());
    script.acks(1);
    EXPECT_TRUE(script.machine().wants_frames());
}

TEST_F(RelayMachine, HoldsPublishesAndNothingElseWhileTheConnectionIsFull) {
    connect();
    script.transaction(100, {"a"});
    script.acks(1);
    script.connection_is_full();
    EXPECT_THAT(script.transaction(200, {"b", "c"}), IsEmpty());
    EXPECT_THAT(script.passes(10s), ElementsAre("status 0/65"));
    EXPECT_THAT(script.connection_has_room(), ElementsAre("publish b@1"));
    EXPECT_THAT(script.acks(1), ElementsAre("publish c@2"));
}

TEST_F(RelayMachine, RestsFromReadingWhileItIsLate) {
    connect();
    script.frame(test::begin_frame(lsn{100}, 1000));
    EXPECT_EQ(script.machine().rest_from_reading(), 0us);
    script.frame(test::commit_frame(lsn{100}, lsn{101}));
    script.frame(test::begin_frame(lsn{200}, 10'000));
    EXPECT_GT(script.machine().rest_from_reading(), 0us);
}

TEST_F(RelayMachine, CountsTheTimeForAnAckFromWhenItHandedTheMessageOver) {
    connect();
    script.connection_is_full();
    script.transaction(100, {"a"});
    script.passes(10s);
    script.connection_has_room();
    EXPECT_THAT(script.passes(4s), Not(Contains("close_broker")));
    EXPECT_THAT(script.passes(1s), Contains("close_broker"));
}

TEST_F(RelayMachine, KeepsTellingItsPositionWhileTheBrokerIsDown) {
    connect();
    script.transaction(100, {"a"});
    script.acks(1);
    script.passes(100ms);
    script.broker_fails();
    EXPECT_THAT(script.passes(20s), Contains("status 0/65"));
    script.broker_fails(errc::broker_unavailable);
    EXPECT_THAT(script.passes(20s), Contains("status 0/65"));
}

TEST_F(RelayMachine, FollowsTheLeaderWhileNothingIsOnItsWay) {
    connect();
    script.transaction(100, {"a"});
    EXPECT_THAT(script.leader_moves(), IsEmpty());
    script.acks(1);
    EXPECT_THAT(script.leader_moves(), ElementsAre("close_broker", "connect_broker"));
    EXPECT_THAT(script.last_log(), HasSubstr("server n2 leads stream"));
    EXPECT_THAT(script.leader_moves(), IsEmpty()) << "it is connecting";
    script.broker_connects(1, commit_position{lsn{100}, lsn{1}, 0});
    EXPECT_THAT(script.transaction(200, {"b"}), ElementsAre("publish b@1"));
}

TEST_F(RelayMachine, TriesTheBrokerAgainForEver) {
    script.start();
    for (int tries = 0; tries < 200; ++tries) {
        EXPECT_THAT(script.broker_fails(errc::broker_unavailable), ElementsAre("close_broker"));
        EXPECT_THAT(script.passes(30s), ElementsAre("connect_broker"));
    }
}

TEST_F(RelayMachine, TriesPostgresAgainForEver) {
    script.start();
    script.broker_connects(0);
    for (int tries = 0; tries < 200; ++tries) {
        EXPECT_THAT(script.postgres_fails(errc::postgres_unavailable),
                    ElementsAre("close_postgres"));
        EXPECT_THAT(script.passes(30s), ElementsAre("connect_postgres"));
    }
}

TEST_F(RelayMachine, SendsWhatTheStreamLacksAgainAfterTheBrokerWasAway) {
    connect();
    script.transaction(100, {"a", "b", "c"});
    script.broker_fails();
    script.passes(1s);
    EXPECT_THAT(script.broker_connects(1, commit_position{lsn{100}, lsn{1}, 0}),
                ElementsAre("publish b@1"));
    EXPECT_THAT(script.acks(1), ElementsAre("publish c@2"));
    script.acks(1);
    EXPECT_EQ(confirmed(), lsn{101});
}

TEST_F(RelayMachine, ReadsTheTailAgainWhenAnAckIsLate) {
    connect();
    script.transaction(100, {"a"});
    EXPECT_THAT(script.passes(5s), Contains("close_broker"));
    EXPECT_THAT(script.last_log(), HasSubstr("delivery.ack_timeout"));
    EXPECT_THAT(script.passes(1s), Contains("connect_broker"));
}

TEST_F(RelayMachine, ReadsTheTailAgainWhenAPublishIsRejectedByTheChain) {
    connect();
    script.transaction(100, {"a"});
    EXPECT_THAT(script.reply({outcome_class::doubt, 0, 10071, "wrong last sequence: 3"}),
                ElementsAre("close_broker"));
    EXPECT_THAT(script.last_log(), HasSubstr("wrong last sequence: 3"));
}

TEST_F(RelayMachine, SkipsWhatTheStreamHasWhenTheSlotResendsIt) {
    script.start();
    script.broker_connects(2, commit_position{lsn{100}, lsn{1}, 1});
    script.postgres_connects();
    EXPECT_THAT(script.transaction(90, {"x"}), IsEmpty());
    EXPECT_THAT(script.transaction(100, {"a", "b", "c"}), ElementsAre("publish c@2"));
}

TEST_F(RelayMachine, ConfirmsResentTransactionsThatTheStreamHasWithoutPublishing) {
    script.start();
    script.broker_connects(2, commit_position{lsn{100}, lsn{1}, 1});
    script.postgres_connects();
    script.transaction(100, {"a", "b"});
    EXPECT_EQ(confirmed(), lsn{101});
}

TEST_F(RelayMachine, DoesNotPublishTwiceWhatIsInTheWindowWhenPostgresComesBack) {
    connect();
    script.transaction(100, {"a", "b"});
    script.postgres_fails();
    script.passes(1s);
    EXPECT_THAT(script.postgres_connects(), Contains("connect_broker"));
    script.broker_connects(2, commit_position{lsn{100}, lsn{1}, 1});
    script.passes(1ms);
    script.postgres_connects();
    EXPECT_THAT(script.transaction(100, {"a", "b"}), IsEmpty());
    EXPECT_EQ(confirmed(), lsn{101});
}

TEST_F(RelayMachine, PublishesNothingMoreWhilePostgresIsAway) {
    connect();
    script.transaction(100, {"a", "b"});
    script.postgres_fails();
    EXPECT_THAT(script.acks(1), IsEmpty());
    script.passes(1s);
    EXPECT_THAT(script.postgres_connects(), IsEmpty());
    EXPECT_THAT(script.transaction(100, {"a", "b"}), ElementsAre("publish b@1"));
}

TEST_F(RelayMachine, StopsWithoutPostgresOnceWhatIsInFlightIsAcked) {
    connect();
    script.transaction(100, {"a", "b"});
    script.postgres_fails();
    EXPECT_THAT(script.stops(), Not(Contains("finish 0")));
    EXPECT_THAT(script.acks(1), Contains("finish 0"));
}

TEST_F(RelayMachine, GoesOnInsideATransactionThatWasCut) {
    connect();
    script.frame(test::begin_frame(lsn{100}));
    script.frame(test::insert_frame(16384, {"a", "kind", "{}"}));
    script.postgres_fails();
    script.acks(1);
    script.passes(1s);
    script.postgres_connects();
    EXPECT_THAT(script.transaction(100, {"a", "b"}), ElementsAre("publish b@1"));
    EXPECT_EQ(confirmed(), lsn{});
    script.acks(1);
    EXPECT_EQ(confirmed(), lsn{101});
}

TEST_F(RelayMachine, LetsTheSlotMoveWhileOnlyOtherTablesAreWritten) {
    connect();
    script.frame(test::keepalive_frame(lsn{500}));
    EXPECT_EQ(confirmed(), lsn{500});
}

TEST_F(RelayMachine, DoesNotMoveTheSlotByAKeepaliveInsideATransactionOrBeforeAcks) {
    connect();
    script.frame(test::begin_frame(lsn{100}));
    script.frame(test::keepalive_frame(lsn{500}));
    EXPECT_EQ(confirmed(), lsn{});
    script.frame(test::insert_frame(16384, {"a", "kind", "{}"}));
    script.frame(test::commit_frame(lsn{100}, lsn{101}));
    script.frame(test::keepalive_frame(lsn{500}));
    EXPECT_EQ(confirmed(), lsn{});
    // The server will not say so again.
    script.acks(1);
    EXPECT_EQ(confirmed(), lsn{500});
}

TEST_F(RelayMachine, AnswersAKeepaliveThatAsks) {
    connect();
    script.frame(test::keepalive_frame(lsn{500}, true));
    EXPECT_THAT(script.passes(0ms), ElementsAre("status 0/1F4"));
}

TEST_F(RelayMachine, DrainsAndConfirmsBeforeItStops) {
    connect();
    script.transaction(100, {"a"});
    EXPECT_THAT(script.stops(), IsEmpty());
    EXPECT_FALSE(script.machine().wants_frames());
    EXPECT_THAT(script.acks(1), ElementsAre("status 0/65", "finish_postgres"));
    EXPECT_THAT(script.postgres_finishes(), ElementsAre("close_broker", "finish 0"));
}

TEST_F(RelayMachine, StopsAtOnceWhenNothingIsInFlight) {
    connect();
    EXPECT_THAT(script.stops(), Contains("finish_postgres"));
    EXPECT_THAT(script.postgres_finishes(), Contains("finish 0"));
}

TEST_F(RelayMachine, StopsWithinItsPatienceWhenTheBrokerIsDown) {
    connect();
    script.transaction(100, {"a"});
    script.broker_fails();
    script.stops();
    EXPECT_THAT(script.passes(10s), Contains("finish_postgres"));
    EXPECT_THAT(script.postgres_finishes(), Contains("finish 0"));
    EXPECT_EQ(script.reported(), lsn{});
}

TEST_F(RelayMachine, HaltsWhenAnOperatorMustChangeTheStream) {
    connect();
    EXPECT_THAT(script.broker_fails(errc::broker_unsuitable), Contains("finish_postgres"));
    EXPECT_THAT(script.postgres_finishes(), Contains("finish 3"));
}

TEST_F(RelayMachine, WaitsForASecretThatIsBeingReplaced) {
    connect();
    EXPECT_THAT(script.broker_fails(errc::file_unusable), Not(Contains("finish_postgres")));
    EXPECT_THAT(script.passes(1s), Contains("connect_broker"));
}

TEST_F(RelayMachine, HaltsAtTheBeginningWhereASecretCannotBeUsed) {
    script.start();
    EXPECT_THAT(script.broker_fails(errc::file_unusable), Contains("finish 3"));
}

TEST_F(RelayMachine, HaltsWhenAnOperatorMustChangeTheDatabase) {
    script.start();
    script.broker_connects(0);
    EXPECT_THAT(script.postgres_fails(errc::postgres_unsuitable), Contains("finish 3"));
}

TEST_F(RelayMachine, WaitsForARoleThatWasLetInBefore) {
    connect();
    script.postgres_fails();
    script.passes(1s);
    EXPECT_THAT(script.postgres_fails(errc::postgres_refused), Not(Contains("finish 3")));
    EXPECT_THAT(script.last_log(), HasSubstr("trying again in"));
    EXPECT_THAT(script.last_log(), Not(HasSubstr("nothing is lost")))
        << "a database that was dropped";
    EXPECT_THAT(script.passes(1s), Contains("connect_postgres"));
}

TEST_F(RelayMachine, HaltsAtTheBeginningWhereTheRoleIsNotLetIn) {
    script.start();
    script.broker_connects(0);
    script.postgres_fails(errc::postgres_unavailable);
    script.passes(1s);
    EXPECT_THAT(script.postgres_fails(errc::postgres_refused), Contains("finish 3"));
}

TEST_F(RelayMachine, HaltsOnAFrameThatCannotBeReadAndLeavesItToTheSlot) {
    connect();
    script.frame(test::begin_frame(lsn{100}));
    const auto actions = script.frame(test::xlog_data(lsn{100}, "Zgarbage"));
    EXPECT_THAT(actions, Contains("finish 3"));
    EXPECT_EQ(confirmed(), lsn{});
}

TEST_F(RelayMachine, ConnectsAgainToLearnOfATableThatIsNew) {
    connect();
    script.frame(test::begin_frame(lsn{100}));
    script.frame(test::relation_frame(5, "public", "later", {"id", "kind", "payload"}));
    EXPECT_THAT(script.frame(test::insert_frame(5, {"x", "k", "{}"})),
                ElementsAre("close_postgres"));
    EXPECT_THAT(script.passes(1s), ElementsAre("connect_postgres"));
    script.postgres_connects();
    script.frame(test::begin_frame(lsn{100}));
    script.frame(test::relation_frame(5, "public", "later", {"id", "kind", "payload"}));
    EXPECT_THAT(script.frame(test::insert_frame(5, {"x", "k", "{}"})), IsEmpty())
        << "the fresh catalog does not know it as ours, so it is none of ours";
}

TEST_F(RelayMachine, LeavesRowsOfOtherTablesAlone) {
    connect();
    script.frame(test::begin_frame(lsn{100}));
    script.frame(test::relation_frame(5, "public", "users", {"id"}));
    EXPECT_THAT(script.frame(test::insert_frame(5, {"x"})), IsEmpty());
    script.frame(test::commit_frame(lsn{100}, lsn{101}));
    EXPECT_EQ(confirmed(), lsn{101});
}

TEST_F(RelayMachine, AsksForNoTimeThatHasPassedWhileItDrains) {
    connect();
    script.transaction(100, {"a"});
    script.stops();
    script.postgres_fails();
    script.passes(4s);
    ASSERT_TRUE(script.machine().deadline().has_value());
    EXPECT_GT(*script.machine().deadline(), monotonic_time{} + 4s);
}

TEST_F(RelayMachine, NeverReportsThePositionOfAnotherHistory) {
    connect();
    script.transaction(900, {"a"});
    script.acks(1);
    script.passes(1s);
    ASSERT_EQ(script.reported(), lsn{901});
    script.postgres_fails();
    script.passes(1s);
    script.postgres_connects_with({8, 1});
    script.passes(60s);
    EXPECT_EQ(script.reported(), lsn{});
}

TEST_F(RelayMachine, SaysWhatToDoWhereTheBrokerIsFull) {
    connect();
    script.transaction(100, {"a"});
    script.reply({outcome_class::transient, 0, 10077, "maximum bytes exceeded"});
    EXPECT_THAT(script.last_log(), HasSubstr("raise max_msgs or max_bytes of the stream"));
    EXPECT_THAT(script.last_log(), HasSubstr("maximum bytes exceeded"));
}

TEST_F(RelayMachine, SaysNothingOfASlotThatItHasNotSeen) {
    script.start();
    script.broker_fails(errc::broker_unavailable);
    EXPECT_THAT(script.last_log(),
                AllOf(HasSubstr("trying again"), Not(HasSubstr("lost")), Not(HasSubstr("slot"))));
    script.passes(60s);
    script.broker_connects(0);
    script.postgres_fails(errc::postgres_unavailable);
    EXPECT_THAT(script.last_log(), AllOf(HasSubstr("trying again"), Not(HasSubstr("lost"))));
    script.stops();
    EXPECT_THAT(script.last_log(), AllOf(HasSubstr("not read"), Not(HasSubstr("0/0"))));
}

TEST_F(RelayMachine, SaysWhatASlotHasThatItKnows) {
    script.start();
    script.broker_connects(0);
    script.postgres_connects_with(relay_script::origin, lsn{50});
    script.broker_fails();
    EXPECT_THAT(script.last_log(), HasSubstr("the rest in the slot"));
}

TEST_F(RelayMachine, IgnoresWhatAnEarlierConnectionReports) {
    connect();
    script.machine().broker_failed(0, {errc::broker_lost, "old"}, {});
    script.machine().postgres_failed(0, {errc::postgres_lost, "old"}, {});
    EXPECT_THAT(script.transaction(100, {"a"}), ElementsAre("publish a@0"));
}

}  // namespace
}  // namespace walrelay::relay
