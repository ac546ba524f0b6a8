// What the relay machine does about rows that cannot be delivered.
#include "relay/intake/dead_letters.hpp"
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

relay_options options(bool dead_letters) {
    relay_options wanted;
    wanted.lane = {8, 10000, 5s};
    wanted.max_attempts = 3;
    wanted.dead_letters = dead_letters;
    return wanted;
}

const publish_outcome refusal{outcome_class::refused, 0, 10054, "message size exceeds maximum"};
const publish_outcome wrong_sequence{outcome_class::doubt, 0, 10071, "wrong last sequence"};

class RelayPoison : public testing::Test {
protected:
    void connect() {
        script.start();
        script.broker_connects(0);
        script.postgres_connects();
    }

    std::vector<std::string> poison_arrives(std::uint64_t commit) {
        script.frame(test::begin_frame(lsn{commit}));
        return script.frame(test::insert_frame(16384, {"b", std::nullopt, "{}"}));
    }

    /// The broker refuses what is sent until it is offered no more.
    void refused_until_condemned() {
        for (std::uint32_t attempt = 1; attempt <= 3; ++attempt) {
            script.reply(refusal);
        }
    }

    explicit RelayPoison(bool dead_letters = true) : script(options(dead_letters)) {}

    relay_script script;
};

TEST_F(RelayPoison, LimitUnderWhichNothingFitsMakesNone) {
    script.start();
    script.max_payload_bytes = 1;
    script.broker_connects(0);
    EXPECT_THAT(script.last_log(), HasSubstr("max_payload = 1 leaves no room"));
    script.max_payload_bytes = 1000;
    script.max_message_bytes = 100;
    script.passes(1s);
    script.broker_connects(0);
    EXPECT_THAT(script.last_log(), HasSubstr("max_msg_size = 100 of stream"));
    script.max_message_bytes = -1;
    script.passes(1s);
    script.broker_connects(0);
    script.postgres_connects();
    EXPECT_THAT(script.transaction(100, {"a"}), ElementsAre("publish a@0"))
        << "it goes on once the limit is corrected";
}

TEST_F(RelayPoison, IsStoredBeforeAnythingBehindItIsSent) {
    connect();
    script.transaction(100, {"a"});
    EXPECT_THAT(poison_arrives(200), ElementsAre("dead_letter 0/C8.0"));
    script.frame(test::commit_frame(lsn{200}, lsn{201}));
    script.acks(1);
    EXPECT_TRUE(script.machine().wants_frames());
    EXPECT_THAT(script.transaction(300, {"c"}), IsEmpty());
    EXPECT_THAT(script.dead_letter_is_stored(), Contains("publish c@1"));
    EXPECT_THAT(script.last_log(), HasSubstr("is set aside in walrelay.dead_letter"));
}

TEST_F(RelayPoison, IsStoredTogetherWithWhatComesWhileAnotherIsStored) {
    connect();
    EXPECT_THAT(poison_arrives(200), ElementsAre("dead_letter 0/C8.0"));
    for (const auto commit : {200U, 300U, 400U}) {
        if (commit > 200U) {
            EXPECT_THAT(poison_arrives(commit), IsEmpty());
        }
        script.frame(test::commit_frame(lsn{commit}, lsn{commit + 1}));
    }
    EXPECT_THAT(script.dead_letter_is_stored(), Contains("dead_letters 0/12C.0 0/190.0"));
    EXPECT_EQ(script.machine().confirmed(), lsn{201});
    script.dead_letter_is_stored();
    EXPECT_EQ(script.machine().confirmed(), lsn{401});
    EXPECT_EQ(script.machine().dead_letter_count(), 3U);
}

TEST_F(RelayPoison, WaitsForItsPlaceWhereTheBrokerIsAwayMeanwhile) {
    connect();
    script.transaction(100, {"a"});
    poison_arrives(200);
    script.frame(test::commit_frame(lsn{200}, lsn{201}));
    script.transaction(300, {"c"});
    script.broker_fails();
    script.passes(1s);
    EXPECT_THAT(script.broker_connects(0), ElementsAre("publish a@0"));
    EXPECT_THAT(script.acks(1), Not(Contains(HasSubstr("publish"))));
    EXPECT_THAT(script.dead_letter_is_stored(), Contains("publish c@1"));
}

TEST_F(RelayPoison, IsNoLossWhereALaterMessageOfTheWindowIsInTheStream) {
    connect();
    poison_arrives(200);
    script.frame(test::commit_frame(lsn{200}, lsn{201}));
    script.dead_letter_is_stored();
    script.transaction(300, {"c"});
    script.broker_fails();
    script.passes(1s);
    script.broker_connects(1, commit_position{lsn{300}, lsn{1}, 0});
    EXPECT_THAT(script.marks(), Not(Contains(HasSubstr("holes"))));
}

TEST_F(RelayPoison, IsSummedUpInTheLogWhereThereAreMany) {
    connect();
    script.transaction(100, {"a"});
    script.acks(1);
    const auto lines_before = script.log_count();
    for (std::uint64_t commit = 200; commit < 200 + 13; ++commit) {
        poison_arrives(commit);
        script.frame(test::commit_frame(lsn{commit}, lsn{commit + 1}));
        script.dead_letter_is_stored();
    }
    EXPECT_EQ(script.log_count() - lines_before, 10U);
    script.passes(10s);
    EXPECT_EQ(script.log_count() - lines_before, 11U);
    EXPECT_THAT(
        script.last_log(),
        HasSubstr("besides: 3 rows of table public.outbox (the last one: row at position "));
}

TEST_F(RelayPoison, IsConfirmedWithItsTransactionOnceAllBeforeItIsStored) {
    connect();
    script.transaction(100, {"a"});
    poison_arrives(200);
    script.dead_letter_is_stored();
    script.frame(test::commit_frame(lsn{200}, lsn{201}));
    EXPECT_EQ(script.machine().confirmed(), lsn{});
    script.acks(1);
    EXPECT_EQ(script.machine().confirmed(), lsn{201});
    EXPECT_EQ(script.machine().dead_letter_count(), 1U);
}

TEST_F(RelayPoison, RowThatIsADeadLetterAlreadyIsNotPublishedBesides) {
    script.dead_letters = {{test::relay_script::origin, {lsn{200}, lsn{1}, 0}}};
    connect();
    script.frame(test::begin_frame(lsn{200}));
    EXPECT_THAT(script.frame(test::insert_frame(16384, {"a", "kind", "{}"})), IsEmpty())
        << "nor is another letter made of it, which would be that of another timeline";
    script.frame(test::commit_frame(lsn{200}, lsn{201}));
    EXPECT_EQ(script.machine().confirmed(), lsn{201});
}

TEST_F(RelayPoison, DeadLetterOfAnotherHistoryIsNone) {
    script.dead_letters = {{{1, 9}, {lsn{200}, lsn{1}, 0}}};
    connect();
    EXPECT_THAT(script.transaction(200, {"a"}), Not(Contains("dead_letter 0/C8.0")));
}

TEST_F(RelayPoison, IsMetAgainWhenItCouldNotBeStored) {
    connect();
    poison_arrives(200);
    EXPECT_THAT(script.dead_letter_fails(errc::postgres_lost), ElementsAre("close_postgres"));
    script.passes(1s);
    script.postgres_connects();
    EXPECT_THAT(poison_arrives(200), ElementsAre("dead_letter 0/C8.0"));
}

TEST_F(RelayPoison, StopsTheRelayWhenItMayNotBeStored) {
    connect();
    poison_arrives(200);
    EXPECT_THAT(script.dead_letter_fails(errc::postgres_unsuitable), Contains("finish 3"));
    EXPECT_EQ(script.machine().confirmed(), lsn{});
}

TEST_F(RelayPoison, OfAnEarlierConnectionIsNotTakenForStored) {
    connect();
    poison_arrives(200);
    script.postgres_fails();
    script.passes(1s);
    EXPECT_THAT(script.dead_letter_is_stored(), IsEmpty());
    script.postgres_connects();
    EXPECT_THAT(poison_arrives(200), ElementsAre("dead_letter 0/C8.0"));
}

TEST_F(RelayPoison, IsSeenBeforeSendingWhereItIsTooLarge) {
    connect();
    script.frame(test::begin_frame(lsn{100}));
    EXPECT_THAT(script.frame(test::insert_frame(
                    16384, {"big", "kind", std::string(std::size_t{1} << 20U, 'x')})),
                ElementsAre("dead_letter 0/64.0"));
}

TEST_F(RelayPoison, StaysOneWhereItsConnectionEndedBeforeTheAnswer) {
    script.start();
    script.max_payload_bytes = 4096;
    script.broker_connects(0);
    script.postgres_connects();
    script.frame(test::begin_frame(lsn{100}));
    const std::string large(5000, 'x');
    EXPECT_THAT(script.frame(test::insert_frame(16384, {"b", "k", large})),
                ElementsAre("dead_letter 0/64.0"));
    // The server may store it all the same, and after the next connection has read what is stored.
    script.postgres_fails();
    script.broker_fails();
    script.max_payload_bytes = 8192;
    script.passes(1s);
    script.broker_connects(0);
    script.postgres_connects();
    script.frame(test::begin_frame(lsn{100}));
    EXPECT_THAT(script.frame(test::insert_frame(16384, {"b", "k", large})),
                ElementsAre("dead_letter 0/64.0"));
    EXPECT_THAT(script.letter().reason, HasSubstr("4096"));
}

TEST_F(RelayPoison, IsARowThatIsLargerThanMemoryIsToHold) {
    connect();
    script.frame(test::begin_frame(lsn{100}));
    script.max_payload_bytes = std::uint64_t{1} << 30U;
    script.frame(
        test::insert_frame(16384, {"big", "kind", std::string(std::size_t{65} << 20U, 'x')}));
    EXPECT_THAT(script.dead_letter_is_stored(), IsEmpty());
    EXPECT_THAT(describe(script.letter()), HasSubstr("reads the row from its table"));
    EXPECT_EQ(script.letter().event, "");
    EXPECT_THAT(script.letter().reason, HasSubstr("more than delivery.max_row_bytes = 67108864"));
    EXPECT_EQ(script.letter().message_id, "big");
}

TEST_F(RelayPoison, IsSentAsOftenAsAskedAndThenSetAsideWithoutAnotherConnection) {
    connect();
    script.transaction(100, {"a"});
    script.transaction(200, {"b"});
    script.transaction(300, {"c"});
    script.acks(1);
    EXPECT_THAT(script.reply(refusal), IsEmpty());
    EXPECT_THAT(script.reply(wrong_sequence), ElementsAre("publish b@1"));
    EXPECT_THAT(script.reply(refusal), ElementsAre("publish b@1"));
    EXPECT_THAT(script.reply(refusal), ElementsAre("dead_letter 0/C8.0"));
    EXPECT_THAT(script.letter().reason, HasSubstr("row id b"));
    EXPECT_THAT(script.letter().event, HasSubstr(R"({"name":"id","type":25,"value":"b"})"));
    EXPECT_EQ(script.letter().key, "b");
    EXPECT_EQ(script.letter().attempts, 3U);
    EXPECT_EQ(script.letter().error_code, 10054);
    EXPECT_EQ(script.machine().confirmed(), lsn{101});
    EXPECT_THAT(script.dead_letter_is_stored(), Contains("publish c@1"));
    EXPECT_EQ(script.machine().confirmed(), lsn{201});
    script.acks(1);
    EXPECT_EQ(script.machine().confirmed(), lsn{301});
}

TEST_F(RelayPoison, RowThatIsTooLargeToBeKeptIsReadAgain) {
    connect();
    script.max_payload_bytes = std::uint64_t{1} << 30U;
    script.broker_fails();
    script.passes(1s);
    script.broker_connects(0);
    const std::string large(std::size_t{2} << 20U, 'x');
    script.frame(test::begin_frame(lsn{100}));
    script.frame(test::insert_frame(16384, {"a", "kind", large}));
    script.frame(test::commit_frame(lsn{100}, lsn{101}));
    script.reply(refusal);
    script.reply(refusal);
    EXPECT_THAT(script.reply(refusal), ElementsAre("close_broker", "close_postgres"));
    script.passes(1s);
    script.broker_connects(0);
    script.postgres_connects();
    script.frame(test::begin_frame(lsn{100}));
    EXPECT_THAT(script.frame(test::insert_frame(16384, {"a", "kind", large})),
                ElementsAre("dead_letter 0/64.0"));
}

TEST_F(RelayPoison, IsCertainOnceItIsSeenWhoseItsIdIs) {
    connect();
    script.transaction(100, {"a"});
    script.acks(1);
    script.transaction(200, {"a"});
    EXPECT_THAT(script.reply({outcome_class::duplicate, 1, 0, {}}), ElementsAre("read_message 1"));
    const commit_position first{lsn{100}, test::some_row, 0};
    EXPECT_THAT(
        script.message_is_read(asked_message{1, position{relay_script::origin, first}, "a"}),
        ElementsAre("dead_letter 0/C8.0"));
    EXPECT_THAT(script.letter().reason, HasSubstr("at sequence 1, in a message that is not of"));
    script.dead_letter_is_stored();
    EXPECT_EQ(script.machine().confirmed(), lsn{201});
}

TEST_F(RelayPoison, IsNoneWhereItsIdIsThatOfItsOwnMessageFromTheTable) {
    connect();
    script.transaction(100, {"a"});
    script.acks(1);
    script.transaction(200, {"b"});
    script.reply({outcome_class::duplicate, 1, 0, {}});
    const auto before = before_slot(lsn{304});
    const asked_message healed{1, position{relay_script::origin, {before, before, 0}}, "b"};
    EXPECT_THAT(script.message_is_read(healed), ElementsAre("close_broker"));
    script.passes(1ms);
    script.asked = healed;
    script.broker_connects(1, commit_position{lsn{100}, test::some_row, 0});
    EXPECT_THAT(script.log_lines(), Contains(HasSubstr("it is this row's own")));
    EXPECT_EQ(script.machine().confirmed(), lsn{201});
}

TEST_F(RelayPoison, IsOneWhereTheMessageOfItsIdIsOfATableThatItWasNotInYet) {
    connect();
    script.transaction(100, {"a"});
    script.acks(1);
    script.transaction(400, {"b"});
    script.reply({outcome_class::duplicate, 1, 0, {}});
    const auto before = before_slot(lsn{304});
    EXPECT_THAT(script.message_is_read(
                    asked_message{1, position{relay_script::origin, {before, before, 0}}, "b"}),
                ElementsAre("dead_letter 0/190.0"));
}

TEST_F(RelayPoison, IsLookedAtOverAnotherConnectionWhereTheMessageOfItsIdCannotBeRead) {
    connect();
    script.transaction(100, {"a"});
    script.acks(1);
    script.transaction(200, {"a"});
    script.reply({outcome_class::duplicate, 1, 0, {}});
    EXPECT_THAT(script.message_is_read(error{errc::broker_unavailable, "nobody answers"}),
                ElementsAre("close_broker"));
    script.passes(1ms);
    const commit_position first{lsn{100}, test::some_row, 0};
    script.asked = asked_message{1, position{relay_script::origin, first}, "a"};
    EXPECT_THAT(script.broker_connects(1, first), ElementsAre("dead_letter 0/C8.0"));
}

TEST_F(RelayPoison, WaitsWhereTheMessageOfItsIdIsGoneAndTheBrokerForgetsTheIdSoon) {
    connect();
    script.transaction(100, {"a"});
    script.acks(1);
    script.transaction(200, {"b"});
    script.reply({outcome_class::duplicate, 1, 0, {}});
    EXPECT_THAT(script.message_is_read(asked_message{1}), ElementsAre("close_broker"));
    script.passes(1ms);
    script.asked = asked_message{1};
    const commit_position first{lsn{100}, test::some_row, 0};
    EXPECT_THAT(script.broker_connects(1, first), ElementsAre("close_broker"));
    EXPECT_THAT(script.last_log(), HasSubstr("until its duplicate window of 120"));
    EXPECT_THAT(script.passes(1s), Contains("connect_broker"));
    script.asked.reset();
    EXPECT_THAT(script.broker_connects(1, first), ElementsAre("publish b@1"));
    script.acks(1);
    EXPECT_EQ(script.machine().confirmed(), lsn{201});
}

TEST_F(RelayPoison, IsSetAsideWhereTheBrokerRemembersTheIdOfAMessageThatIsGoneForLong) {
    connect();
    script.duplicate_window = std::chrono::hours(1);
    script.transaction(100, {"a"});
    script.acks(1);
    script.transaction(200, {"b"});
    script.reply({outcome_class::duplicate, 1, 0, {}});
    script.message_is_read(asked_message{1});
    script.passes(1ms);
    script.asked = asked_message{1};
    EXPECT_THAT(script.broker_connects(1, commit_position{lsn{100}, test::some_row, 0}),
                ElementsAre("dead_letter 0/C8.0"));
}

TEST_F(RelayPoison, WaitsForItsOwnLetterAlsoWhereALaterOneIsStoredFirst) {
    connect();
    script.transaction(100, {"a"});
    EXPECT_THAT(poison_arrives(200), ElementsAre("dead_letter 0/C8.0"));
    script.frame(test::commit_frame(lsn{200}, lsn{201}));
    script.reply(refusal);
    script.reply(refusal);
    EXPECT_THAT(script.reply(refusal), IsEmpty()) << "one batch at a time";
    EXPECT_THAT(script.dead_letter_is_stored(), Contains("dead_letter 0/64.0"));
    EXPECT_EQ(script.machine().confirmed(), lsn{});
    script.dead_letter_is_stored();
    EXPECT_EQ(script.machine().confirmed(), lsn{201});
}

TEST_F(RelayPoison, IsSetAsideAlsoWhileTheRelayStops) {
    connect();
    script.transaction(100, {"a"});
    script.acks(1);
    script.transaction(200, {"b"});
    script.stops();
    script.reply(refusal);
    script.reply(refusal);
    EXPECT_THAT(script.reply(refusal), Contains("dead_letter 0/C8.0"));
    EXPECT_THAT(script.dead_letter_is_stored(), Contains("finish_postgres"));
    EXPECT_THAT(script.postgres_finishes(), Contains("finish 0"));
    EXPECT_EQ(script.reported(), lsn{201});
}

class RelayPoisonHalts : public RelayPoison {
protected:
    RelayPoisonHalts() : RelayPoison(false) {}
};

TEST_F(RelayPoisonHalts, BeforeARowThatCannotBeMappedAndDeliversWhatIsBefore) {
    connect();
    script.transaction(100, {"a"});
    EXPECT_THAT(poison_arrives(200), IsEmpty());
    EXPECT_THAT(script.last_log(), HasSubstr("public.outbox"));
    EXPECT_THAT(script.acks(1), ElementsAre("status 0/65", "finish_postgres"));
    EXPECT_THAT(script.postgres_finishes(), Contains("finish 3"));
}

TEST_F(RelayPoisonHalts, WhenTheBrokerRefusesAMessageForGoodAndConfirmsNothingBehindIt) {
    connect();
    script.transaction(100, {"a"});
    script.transaction(200, {"b"});
    script.acks(1);
    refused_until_condemned();
    EXPECT_EQ(script.reported(), lsn{101});
    EXPECT_THAT(script.log_lines(), Contains(HasSubstr("row id b")));
    EXPECT_THAT(script.postgres_finishes(), Contains("finish 3"));
}

TEST_F(RelayPoisonHalts, BeforeSendingAMessageThatTheBrokerCouldNotTake) {
    connect();
    script.frame(test::begin_frame(lsn{100}));
    EXPECT_THAT(script.frame(test::insert_frame(
                    16384, {"big", "kind", std::string(std::size_t{1} << 20U, 'x')})),
                Not(Contains(HasSubstr("publish"))));
    EXPECT_THAT(script.log_lines(), Contains(HasSubstr("max_payload = 1048576")));
}

}  // namespace
}  // namespace walrelay::relay
