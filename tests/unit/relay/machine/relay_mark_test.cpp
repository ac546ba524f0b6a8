// The mark in the stream's description is written before anything is published that it does not
// hold for.

#include "unit/relay/machine/relay_script.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace walrelay {
namespace {

using test::relay_script;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Matches;
using testing::Not;
using namespace std::chrono_literals;

constexpr const char* same_rules =
    "walrelay slot=slot database=app system=7 timeline=1 rules=now.1";
constexpr const char* shared_stream =
    "walrelay slot=slot database=app system=7 timeline=1 rules=shared";
constexpr const char* other_rules =
    "walrelay slot=slot database=app system=7 timeline=1 rules=before.1";
position at(std::uint64_t commit) {
    return {{7, 1}, {lsn{commit}, lsn{commit}, 0}};
}

const error refused{errc::broker_lost, "the mark cannot be written", "allow it"};

relay::relay_options with_rules() {
    relay::relay_options options;
    options.rules = "now";
    return options;
}

relay::relay_options with_ids() {
    auto options = with_rules();
    options.ids = {"events", "orders"};
    return options;
}

class RelayMark : public testing::Test {
protected:
    void begin(const std::string& description) {
        script_.answers_marks = false;
        script_.description = description;
        script_.start();
        script_.broker_connects(0, std::nullopt);
        script_.postgres_connects();
    }
    static std::shared_ptr<relay::stored_rows> nothing_stored() {
        relay::stored_rows_request wanted;
        wanted.line = {relay_script::origin};
        auto rows = std::make_shared<relay::stored_rows>(wanted);
        rows->end(true, relay::removed_messages::none);
        return rows;
    }

    relay_script script_{with_rules()};
};

TEST_F(RelayMark, IsWrittenBeforeRowsOfOtherRulesArePublished) {
    begin(other_rules);
    EXPECT_THAT(script_.marks(), ElementsAre("comparing-holes-now"));
    EXPECT_THAT(script_.transaction(0x100, {"a"}), IsEmpty());
    EXPECT_THAT(script_.stream_is_marked({}), IsEmpty()) << "that claims nothing yet";
    EXPECT_THAT(script_.marks(), ElementsAre("comparing-holes-now", "now"));
    EXPECT_THAT(script_.stream_is_marked({}), ElementsAre("publish a@0"));
}

TEST_F(RelayMark, OfOtherTablesHoldsForRowsToComeWhereTheLastMessageTellsNothing) {
    script_.wal_end = lsn{0x500};
    begin(other_rules);
    script_.stream_is_marked({});
    EXPECT_EQ(script_.mark_to_be(), "now");
    EXPECT_EQ(script_.rules_hold_since(), lsn{0x500})
        << "a row that was left out before is looked for again";
}

TEST_F(RelayMark, SaysSinceWhenTheIdsOfEachTableAreThoseOfToday) {
    relay_script script{with_ids()};
    script.answers_marks = false;
    script.wal_end = lsn{0x500};
    script.description = std::string(other_rules) + " ids=orders.80-numbers.100";
    script.start();
    script.broker_connects(0, std::nullopt);
    script.postgres_connects();
    EXPECT_THAT(script.written_mark(), HasSubstr(" ids=events.500-orders.80"))
        << "what was published by another message_id meanwhile came before";
    EXPECT_THAT(script.machine().ids_hold_since(), ElementsAre(lsn{0x500}, lsn{0x80}));
    EXPECT_TRUE(script.machine().ids_are_marked());
}

TEST_F(RelayMark, OfAVersionThatKnewNoIdsHoldsForThemAsForItsRules) {
    relay_script script{with_ids()};
    script.description = std::string(same_rules) + "80";
    script.start();
    script.broker_connects(0, std::nullopt);
    script.postgres_connects();
    EXPECT_THAT(script.written_mark(), HasSubstr(" ids=events.180-orders.180"));
}

TEST_F(RelayMark, ThatCannotBeWrittenIsNoneThatTheIdsAreKeptIn) {
    relay_script script{with_ids()};
    script.answers_marks = false;
    script.start();
    script.broker_connects(0, std::nullopt);
    EXPECT_THAT(script.machine().ids_hold_since(), ElementsAre(std::nullopt, std::nullopt));
    script.postgres_connects();
    script.stream_is_marked(refused);
    EXPECT_THAT(script.machine().ids_hold_since(), Not(Contains(std::nullopt)));
    EXPECT_FALSE(script.machine().ids_are_marked());
}

TEST_F(RelayMark, IsWrittenToItsEndBeforeAStop) {
    begin(other_rules);
    EXPECT_THAT(script_.stops(), Not(Contains("finish_postgres")));
    EXPECT_THAT(script_.stream_is_marked({}), Not(Contains("finish_postgres")));
    EXPECT_EQ(script_.mark_to_be(), "now");
    EXPECT_THAT(script_.stream_is_marked({}), Contains("finish_postgres"));
}

TEST_F(RelayMark, DisorderBeginsWhereTheStreamEndsOnceItHasLostMessages) {
    script_.description = std::string(same_rules) + " disordered=45-50-180";
    script_.start();
    script_.broker_connects(2, commit_position{lsn{0x100}, lsn{1}, 0});
    script_.postgres_connects_with(relay_script::origin, lsn{0x101});
    EXPECT_EQ(script_.disordered_after(), 2U);
}

TEST_F(RelayMark, IsWrittenToItsEndWithoutARegardToASlotThatComesMeanwhile) {
    begin(other_rules);
    script_.postgres_fails();
    script_.passes(1s);
    script_.stops();
    EXPECT_THAT(script_.postgres_connects_with(relay_script::origin, lsn{0x1000}),
                ElementsAre("close_postgres"));
    script_.stream_is_marked({});
    EXPECT_THAT(script_.stream_is_marked({}), Contains("finish 0"));
}

TEST_F(RelayMark, ThatCannotBeWrittenBecauseTheBrokerIsAwayKeepsTheReplicationConnection) {
    begin(other_rules);
    script_.broker_fails();
    EXPECT_THAT(script_.stream_is_marked(refused), Not(Contains("close_postgres")));
    script_.passes(1s);
    script_.broker_connects(0);
    EXPECT_THAT(script_.marks(), ElementsAre("comparing-holes-now", "comparing-holes-now"));
}

TEST_F(RelayMark, KeepsTheReplicationConnectionWhereItKnowsFirstThatTheBrokerIsAway) {
    begin(other_rules);
    const error no_answer{errc::broker_unavailable, "JetStream does not answer"};
    EXPECT_THAT(script_.stream_is_marked(no_answer),
                AllOf(Contains("close_broker"), Not(Contains("close_postgres"))));
    EXPECT_THAT(script_.last_log(), HasSubstr("JetStream does not answer; trying again in"));
    script_.passes(1s);
    script_.broker_connects(0);
    EXPECT_THAT(script_.marks(), ElementsAre("comparing-holes-now", "comparing-holes-now"));
}

TEST_F(RelayMark, SaysAtOnceThatALaterMessageMayHavePassedAnEarlierOne) {
    begin(same_rules);
    script_.transaction(0x100, {"a"});
    script_.acks(1);
    script_.transaction(0x108, {"b"});
    script_.transaction(0x110, {"c"});
    script_.broker_fails();
    script_.passes(1s);
    const auto placed = [](std::uint64_t commit) {
        return position{{7, 1}, {lsn{commit}, test::some_row, 0}};
    };
    script_.placed = {
        {1, placed(0x100), "a"}, {2, placed(0x108), "forged"}, {3, placed(0x110), "c"}};
    script_.final_id = "c";
    script_.broker_connects(3, placed(0x110).at);
    EXPECT_EQ(script_.mark_to_be(), "comparing-ids-holes-now")
        << "too much may be written behind them for the next relay to see it";
}

TEST_F(RelayMark, IsWrittenBeforeTheSlotMovesPastRowsThatAreLeftOut) {
    begin(other_rules);
    script_.transaction(0x100, {});
    script_.passes(20s);
    EXPECT_EQ(script_.reported(), lsn{}) << "the next start would miss them";
    script_.stream_is_marked({});
    script_.passes(1s);
    EXPECT_EQ(script_.reported(), lsn{});
    script_.stream_is_marked({});
    script_.passes(1s);
    EXPECT_EQ(script_.reported(), lsn{0x101});
}

TEST_F(RelayMark, ThatAServerWithoutTheMessagesLetPassGoesNoFurther) {
    begin(other_rules);
    // Rows that wait for the mark cannot be what the stream has.
    script_.transaction(0x100, {"a", "b", "c"});
    EXPECT_THAT(script_.stream_is_marked(3), ElementsAre("close_broker"));
    EXPECT_THAT(script_.last_log(), HasSubstr("stream S ends with sequence 3, but"));
    script_.passes(1s);
    script_.description = script_.written_mark();
    script_.broker_connects(3, at(0x90).at);
    script_.passes(1s);
    EXPECT_THAT(script_.postgres_connects(), ElementsAre("read_stored since 0/0"))
        << "by the rules of now, the last message would be a claim";
    EXPECT_THAT(script_.marks(), ElementsAre("comparing-holes-now"));
}

TEST_F(RelayMark, DoesNotHoldForAMessageThatCameInBeforeItWasWritten) {
    begin(other_rules);
    script_.stream_is_marked(0);
    EXPECT_THAT(script_.stream_is_marked(1), ElementsAre("close_broker"));
    script_.passes(1s);
    // Sent by a relay of other rules, whose tables are no longer asked for.
    script_.description =
        "walrelay slot=slot database=app system=7 timeline=1 rules=now.0 disordered=0-4096-1";
    script_.broker_connects(1, at(0x90).at);
    script_.passes(1s);
    EXPECT_EQ(script_.disordered_until(), 4096U) << "a whole window of them can come late";
    script_.postgres_connects();
    EXPECT_THAT(script_.stream_is_marked(1), ElementsAre("read_stored since 0/0"));
}

TEST_F(RelayMark, RowThatWaitsForItHasNotComeToTheStreamByThisRelay) {
    begin(other_rules);
    script_.transaction(0x100, {"a"});
    script_.stream_is_marked(1);
    script_.passes(1s);
    script_.description = script_.written_mark();
    EXPECT_THAT(script_.broker_connects(1, commit_position{lsn{0x100}, lsn{1}, 0}),
                Contains("close_postgres"))
        << "what else the stream has is not known";
}

TEST_F(RelayMark, ThatTheStreamWasSeenWholeForHolds) {
    begin(other_rules);
    script_.stream_is_marked(0);
    EXPECT_THAT(script_.stream_is_marked(0), IsEmpty());
    EXPECT_THAT(script_.transaction(0x100, {"a"}), ElementsAre("publish a@0"));
}

TEST_F(RelayMark, ThatCannotBeWrittenHoldsBackWhatALaterStartWouldMisjudge) {
    begin(other_rules);
    script_.transaction(0x100, {"a"});
    EXPECT_THAT(script_.stream_is_marked(refused), Contains("close_postgres"));
    EXPECT_THAT(script_.last_log(), HasSubstr("nothing is published until it is changed"));
    EXPECT_THAT(script_.last_log(), HasSubstr("allow it"));
    script_.broker_connects(0, std::nullopt);
    script_.passes(1s);
    script_.postgres_connects();
    EXPECT_THAT(script_.marks(), ElementsAre("comparing-holes-now", "comparing-holes-now"));
    script_.transaction(0x100, {"a"});
    script_.stream_is_marked({});
    EXPECT_THAT(script_.stream_is_marked({}), ElementsAre("publish a@0"));
}

TEST_F(RelayMark, ThatAnOperatorHadToWriteIsFoundAtTheNextLook) {
    begin(other_rules);
    EXPECT_EQ(script_.mark_to_be(), "now");
    EXPECT_THAT(script_.stream_is_marked(refused), Contains("connect_broker"));
    script_.description = same_rules;
    script_.broker_connects(0, std::nullopt);
    script_.passes(1s);
    script_.postgres_connects();
    EXPECT_THAT(script_.transaction(0x100, {"a"}), ElementsAre("publish a@0"));
}

TEST_F(RelayMark, IsWrittenAlsoWhereSomebodyElseWritesAllTheTime) {
    begin(other_rules);
    EXPECT_THAT(script_.stream_is_marked(3), Contains("close_broker"));
    script_.passes(1s);
    // This look knows of what was doubted, so that it is no stale one.
    script_.broker_connects(4, std::nullopt);
    script_.passes(1s);
    script_.postgres_connects();
    script_.stored_is_read(nothing_stored());
    script_.transaction(0x100, {"a"});
    script_.stream_is_marked(6);
    EXPECT_THAT(script_.stream_is_marked(7), ElementsAre("publish a@4"));
}

TEST_F(RelayMark, OfASharedStreamHasRowsComparedAlsoWhereNoneOfTheLastMessagesIsOurs) {
    script_.description = shared_stream;
    script_.start();
    script_.broker_connects(4, std::nullopt);
    script_.postgres_connects();
    EXPECT_FALSE(script_.machine().wants_frames()) << "until the stream is read";
    script_.stored_is_read(nothing_stored());
    EXPECT_THAT(script_.log_lines(), Contains(HasSubstr("nats.sole_writer was false before")));
}

TEST_F(RelayMark, ThatCouldNotBeWrittenIsWrittenBeforeABackfill) {
    begin(other_rules);
    script_.stream_is_marked(refused);
    script_.broker_connects(0, std::nullopt);
    script_.passes(1s);
    script_.postgres_connects_with_rows(lsn{0x200}, 0);
    EXPECT_THAT(script_.marks(), ElementsAre("comparing-holes-now", "comparing-holes-now"));
    EXPECT_THAT(script_.old_row("a"), IsEmpty());
    script_.stream_is_marked({});
    EXPECT_THAT(script_.stream_is_marked({}), ElementsAre("publish a@0"));
}

TEST_F(RelayMark, ThatIsNotThereHoldsNothingUp) {
    begin("");
    EXPECT_THAT(script_.marks(), ElementsAre("comparing-ids-holes-now"));
    EXPECT_THAT(script_.transaction(0x100, {"a"}), ElementsAre("publish a@0"));
    EXPECT_THAT(script_.stream_is_marked(refused), IsEmpty());
    EXPECT_THAT(script_.last_log(), HasSubstr("every start compares the rows"));
    script_.acks(1);
    EXPECT_THAT(script_.transaction(0x200, {"b"}), ElementsAre("publish b@1"));
    EXPECT_THAT(script_.marks(), ElementsAre("comparing-ids-holes-now"))
        << "asked for once in a connection";
}

TEST_F(RelayMark, ThatHoldsIsNotWrittenAgain) {
    begin(same_rules);
    EXPECT_THAT(script_.marks(), IsEmpty());
    EXPECT_THAT(script_.transaction(0x100, {"a"}), ElementsAre("publish a@0"));
}

TEST_F(RelayMark, IsWrittenBeforeAComparisonReadsTheStream) {
    script_.answers_marks = false;
    script_.description = other_rules;
    script_.start();
    script_.broker_connects(1, commit_position{lsn{0x100}, lsn{0xF0}, 0});
    EXPECT_THAT(script_.postgres_connects(), IsEmpty());
    EXPECT_THAT(script_.marks(), ElementsAre("comparing-holes-now"));
    EXPECT_FALSE(script_.machine().wants_frames());
    EXPECT_THAT(script_.stream_is_marked({}), ElementsAre("read_stored since 0/0"));
}

TEST_F(RelayMark, RemembersThatRowsCanBeMissingWhereSomebodyElseHasWritten) {
    script_.answers_marks = false;
    script_.description = same_rules;
    const commit_position newer{lsn{0x100}, lsn{0xF0}, 0};
    const commit_position older{lsn{0x90}, lsn{0x80}, 0};
    script_.placed = {{1, {relay_script::origin, newer}, "a"},
                      {2, {relay_script::origin, older}, "b"}};
    script_.start();
    script_.broker_connects(2, newer, older);
    script_.postgres_connects();
    EXPECT_THAT(script_.marks(), ElementsAre("comparing-ids-holes-now"));
}

/// Which can have the place of a row, and be out of view at the next look.
TEST_F(RelayMark, RemembersThatRowsCanBeMissingWhereAStrangersMessageStandsAmongItsOwn) {
    const commit_position older{lsn{0x90}, lsn{0x80}, 0};
    const commit_position newer{lsn{0x100}, lsn{0xF0}, 0};
    for (const std::string disordered : {"", " disordered=1-2-ff"}) {
        relay_script script{with_rules()};
        script.answers_marks = false;
        script.description = same_rules + disordered;
        script.placed = {{1, {relay_script::origin, older}, "a"},
                         {3, {relay_script::origin, newer}, "c"}};
        script.shared = true;
        script.start();
        script.broker_connects(3, newer);
        script.postgres_connects();
        if (disordered.empty()) {
            EXPECT_THAT(script.marks(), ElementsAre("comparing-ids-holes-now"));
        } else {
            EXPECT_THAT(script.marks(), IsEmpty()) << "it was compared since";
        }
    }
}

TEST_F(RelayMark, RemembersThatRowsCanBeMissingWhereAStrangersMessageCanStandBeforeWhatIsSeen) {
    const commit_position last{lsn{0x100}, lsn{0xF0}, 0};
    for (const std::uint64_t first_seen : {1U, 12U}) {
        relay_script script{with_rules()};
        script.answers_marks = false;
        script.description = same_rules;
        script.placed = {{first_seen, {relay_script::origin, last}, "c"}};
        script.safe_sequence = first_seen;
        script.shared = true;
        script.start();
        script.broker_connects(14, last);
        script.postgres_connects();
        if (first_seen == 1) {
            EXPECT_THAT(script.marks(), IsEmpty()) << "nothing stands before it";
        } else {
            EXPECT_THAT(script.marks(), ElementsAre("comparing-ids-holes-now"));
        }
    }
}

TEST_F(RelayMark, RemembersThatRowsCanBeMissingWhereWhatWasSentIsNotInMemoryAnyMore) {
    begin(same_rules);
    script_.transaction(0x100, {"a", "b"});
    script_.broker_fails();
    script_.max_payload_bytes /= 2;
    script_.passes(1s);
    script_.broker_connects(0);
    EXPECT_THAT(script_.marks(), ElementsAre("comparing-ids-holes-now"))
        << "b can be stored by now where somebody else has taken the place of a";
}

TEST_F(RelayMark, RemembersThatRowsCanBeMissingWhereTheSlotGoesBackBehindTheRules) {
    script_.answers_marks = false;
    script_.description =
        "walrelay slot=slot database=app system=7 timeline=1 rules=now.200 disordered=1-2-180";
    script_.start();
    script_.broker_connects(3, commit_position{lsn{0x250}, lsn{0x240}, 0});
    script_.postgres_connects_with(relay_script::origin, lsn{0x100});
    EXPECT_THAT(script_.marks(), ElementsAre("comparing-holes-now"))
        << "their table may have been left out when they came";
}

TEST_F(RelayMark, WithoutThatNothingIsCompared) {
    script_.answers_marks = false;
    script_.description = other_rules;
    script_.start();
    script_.broker_connects(1, commit_position{lsn{0x100}, lsn{0xF0}, 0});
    script_.postgres_connects();
    EXPECT_THAT(script_.stream_is_marked(refused), Contains("close_postgres"));
}

TEST_F(RelayMark, ComparesAlsoWhereThereCannotBeOne) {
    script_.answers_marks = false;
    script_.description = "";
    script_.start();
    script_.broker_connects(1, commit_position{lsn{0x100}, lsn{0xF0}, 0});
    EXPECT_THAT(script_.postgres_connects(), IsEmpty());
    EXPECT_THAT(script_.stream_is_marked(refused), ElementsAre("read_stored since 0/0"));
}

/// A table has a newer row than "a" and "b" that the stream and the slot do not have.
class RelayMarkAndMissingRow : public testing::Test {
protected:
    bool misses_it(const std::string& rules) {
        constexpr std::uint64_t second_commit = 0x200;
        const auto at_second = [](int time) { return wall_time(std::chrono::seconds(time)); };
        relay_script script(with_rules());
        script.description = "walrelay slot=slot database=app system=7 timeline=1 rules=" + rules;
        script.recent = {{"a", at_second(10), 1}, {"b", at_second(20), 2}};
        script.placed = {{1, {relay_script::origin, {lsn{0x100}, lsn{0xF0}, 0}}, "a"},
                         {2, {relay_script::origin, {lsn{second_commit}, lsn{0x1F0}, 0}}, "b"}};
        script.newest_rows = relay::roll{
            {{0, "c", at_second(30)}, {0, "a", at_second(9)}}, lsn{0x300}, at_second(100)};
        script.start();
        script.broker_connects(2, commit_position{lsn{second_commit}, lsn{0x1F0}, 0});
        script.postgres_connects_with(relay_script::origin, lsn{second_commit + 1});
        if (!script.machine().wants_frames()) {
            script.stored_is_read(std::make_shared<relay::stored_rows>(relay::stored_rows_request{
                lsn{second_commit + 1}, {relay_script::origin, {}}, true}));
        }
        return Matches(Contains("look_for_rows c"))(
            script.frame(test::keepalive_frame(lsn{0x300})));
    }
};

TEST_F(RelayMarkAndMissingRow, MissesItUnderTheSameRules) {
    EXPECT_TRUE(misses_it("now.1"));
}

TEST_F(RelayMarkAndMissingRow, MissesItAlsoBehindAComparison) {
    EXPECT_TRUE(misses_it("now.1 disordered=1-2-201"));
}

TEST_F(RelayMarkAndMissingRow, MissesItAlsoWhileAComparisonHasNotEnded) {
    EXPECT_TRUE(misses_it("comparing-ids-now.1 disordered=1-"));
}

TEST_F(RelayMarkAndMissingRow, DoesNotMissWhatMayBeOfOtherRules) {
    EXPECT_TRUE(misses_it("now.101"));
    EXPECT_FALSE(misses_it("now.201"));
}

}  // namespace
}  // namespace walrelay
