#include "relay/machine/tail_trust.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace walrelay::relay {
namespace {

using kind = tail_answer::kind;
using testing::HasSubstr;

constexpr std::uint64_t our_system = 7;

/// A server on timeline 2, which left timeline 1 at 1000; its WAL ends at 5000, the slot stands at
/// 900, and the stream was filled from there under the rules of now.
class TailTrust : public testing::Test {
protected:
    void tail_is(std::uint32_t timeline, std::uint64_t commit, std::uint64_t system = our_system) {
        tail = {10, position{{system, timeline}, {lsn{commit}, lsn{commit - 1}, 0}}};
        tail.final_position = tail.last_position;
        tail.safe_sequence = tail.last_sequence;
    }
    tail_answer answer() { return judge(question()); }
    tail_question question() {
        return {tail, stream, mark, rules, server, lsn{900}, accepts_history};
    }
    std::string refusal() {
        const auto given = answer();
        return given.what == kind::refused ? given.why->what : "not refused";
    }

    stream_tail tail;
    std::string stream = "S";
    std::string rules = "0123456789abcdef";
    server_identity server{{{our_system, 2}, {{1, lsn{1000}}}}, lsn{5000}};
    std::optional<stream_owner> mark =
        stream_owner{"slot", "db", our_system, 2, {{1, lsn{1000}}}, rules};
    bool accepts_history = false;
};

TEST_F(TailTrust, WantsToMeetTheRowThatTheSlotStillSends) {
    tail_is(2, 2000);
    EXPECT_EQ(answer().what, kind::claim);
    tail_is(1, 952);
    EXPECT_EQ(answer().what, kind::claim);
}

TEST_F(TailTrust, BelievesWhatTheSlotDoesNotSendAnyMore) {
    tail_is(1, 896);
    EXPECT_EQ(answer().what, kind::exact);
}

TEST_F(TailTrust, ComparesWhereNoMarkSaysWhetherRowsCameLate) {
    tail_is(1, 896);
    mark.reset();
    EXPECT_EQ(answer().what, kind::compare);
}

TEST_F(TailTrust, BelievesRowsFromBeforeTheSlot) {
    tail.last_position = position{{our_system, 2}, {before_slot(lsn{2000}), {}, 5}};
    EXPECT_EQ(answer().what, kind::exact);
}

TEST_F(TailTrust, RefusesWhatLiesBeyondTheWalOfTheServer) {
    tail_is(2, 5000);
    EXPECT_THAT(refusal(), HasSubstr("beyond the WAL of the server (it ends at 0/1388)"));
    tail_is(2, 4992);
    EXPECT_EQ(answer().what, kind::claim);
}

TEST_F(TailTrust, RefusesAnOldPrimary) {
    server = {{{our_system, 1}}, lsn{5000}};
    tail_is(1, 952);
    EXPECT_THAT(refusal(), HasSubstr("the server is on timeline 1, and stream S has messages of "
                                     "timeline 2"));
    mark.reset();
    tail_is(2, 952);
    EXPECT_THAT(refusal(), HasSubstr("this is an old primary"));
}

TEST_F(TailTrust, RefusesAnotherStandbyThatWasPromotedToTheSameNumber) {
    server.line.ancestors = {{1, lsn{1100}}};
    tail_is(2, 2000);
    EXPECT_THAT(refusal(), HasSubstr("another standby was promoted"));
}

TEST_F(TailTrust, RefusesATimelineThatDoesNotDescendFromTheStreams) {
    server.line = {{our_system, 3}, {{1, lsn{1000}}}};
    tail_is(2, 952);
    EXPECT_THAT(refusal(), HasSubstr("does not descend from the timeline 2"));
    mark.reset();
    EXPECT_THAT(refusal(), HasSubstr("does not descend from the timeline 2"));
}

TEST_F(TailTrust, TakesAServerThatHasLostItsHistoryFileForTheSame) {
    server.line.ancestors.clear();
    tail_is(2, 2000);
    EXPECT_EQ(answer().what, kind::claim);
}

TEST_F(TailTrust, ComparesAfterAPromotion) {
    server = {{{our_system, 3}, {{1, lsn{1000}}, {2, lsn{3000}}}}, lsn{6000}};
    tail_is(2, 2000);
    EXPECT_EQ(answer().what, kind::compare);
    EXPECT_THAT(answer().remark, HasSubstr("another timeline"));
    EXPECT_TRUE(answer().compares_ids);
    tail_is(2, 3000);
    EXPECT_EQ(answer().what, kind::compare);
    EXPECT_THAT(answer().remark, HasSubstr("a branch that was left"));
    EXPECT_TRUE(answer().compares_ids);
    mark->rules = "another";
    EXPECT_FALSE(answer().compares_ids) << "message ids may have changed as well";
}

TEST_F(TailTrust, ComparesIdsUntilAComparisonOfThemHasEnded) {
    tail_is(2, 952);
    mark->rules = comparing_ids_rules;
    EXPECT_EQ(answer().what, kind::compare);
    EXPECT_TRUE(answer().compares_ids);
}

TEST_F(TailTrust, ComparesWhereTheRulesHaveChangedOrAreNotKnown) {
    tail_is(2, 2000);
    mark->rules = "another";
    EXPECT_THAT(answer().remark, HasSubstr("the configured tables have changed"));
    mark->rules = shared_rules;
    EXPECT_THAT(answer().remark, HasSubstr("sole_writer was false"));
    mark->rules = comparing_rules;
    EXPECT_THAT(answer().remark, HasSubstr("an earlier comparison"));
    mark.reset();
    EXPECT_EQ(answer().what, kind::compare);
}

TEST_F(TailTrust, ComparesWhatWasPublishedBesideOthersAlsoWhereTheSlotIsPast) {
    tail_is(1, 896);
    EXPECT_EQ(answer().what, kind::exact);
    mark->rules = shared_rules;
    EXPECT_EQ(answer().what, kind::compare);
    EXPECT_THAT(answer().remark, HasSubstr("sole_writer was false"));
}

TEST_F(TailTrust, ComparesWhereTheSlotHasGoneBackToBeforeTheRules) {
    tail_is(2, 2000);
    mark->since = lsn{900};
    EXPECT_EQ(answer().what, kind::claim);
    mark->since = lsn{901};
    EXPECT_THAT(answer().remark, HasSubstr("gone back to where other tables were configured"));
    EXPECT_FALSE(answer().compares_ids);
}

TEST_F(TailTrust, ComparesWhereTheLastMessageCanBeOfTheRulesBefore) {
    tail_is(2, 2000);
    mark->disordered_until = 9;
    EXPECT_EQ(answer().what, kind::claim);
    mark->disordered_until = 10;
    EXPECT_THAT(answer().remark, HasSubstr("can be of another configuration"));
    tail_is(2, 896);
    EXPECT_EQ(answer().what, kind::exact);
}

TEST_F(TailTrust, ComparesWhereTheSlotHasGoneBackIntoADisorder) {
    tail_is(1, 896);
    mark->disordered_until = 10;
    mark->disordered_below = lsn{900};
    EXPECT_EQ(answer().what, kind::exact);
    mark->disordered_below = lsn{901};
    EXPECT_EQ(answer().what, kind::compare) << "rows behind the slot came before the last one";
    mark->disordered_until = 9;
    EXPECT_EQ(answer().what, kind::exact) << "the last one came after all of them";
}

TEST_F(TailTrust, ComparesWhereAMessageBehindADisorderIsOfARowBeforeItsEnd) {
    mark->disordered_until = 9;
    mark->disordered_below = lsn{1201};
    tail_is(2, 896);
    tail.placed = {{9, *tail.last_position, "a"}, {10, *tail.last_position, "forged"}};
    EXPECT_EQ(answer().what, kind::compare);
    EXPECT_TRUE(answer().compares_ids);
    tail_is(2, 1200);
    tail.placed = {{10, *tail.last_position, "a"}};
    mark->disordered_below = lsn{900};
    EXPECT_EQ(answer().what, kind::claim);
}

/// A comparison ended there, and rows that lie before its beginning were never sent to it.
TEST_F(TailTrust, ComparesWhereTheSlotHasGoneBackToBeforeAComparisonEnded) {
    mark->disordered_until = 9;
    tail_is(2, 1200);
    mark->disordered_below = lsn{900};
    EXPECT_EQ(answer().what, kind::claim);
    mark->disordered_below = lsn{901};
    EXPECT_EQ(answer().what, kind::compare);
    EXPECT_THAT(answer().remark, HasSubstr("before an earlier comparison ended"));
}

TEST_F(TailTrust, BelievesNoPlaceWhileRowsAreCompared) {
    tail_is(2, 896);
    mark->rules = std::string(comparing_ids_rules) + "-" + rules;
    EXPECT_EQ(answer().what, kind::compare);
    EXPECT_TRUE(answer().compares_ids);
    mark->rules = std::string(comparing_rules) + "-" + rules;
    EXPECT_EQ(answer().what, kind::compare);
    EXPECT_FALSE(answer().compares_ids);
}

TEST_F(TailTrust, ComparesIdsWherePositionsOfTheHistoryDoNotAscend) {
    tail_is(2, 896);
    const auto at = [](std::uint32_t timeline, std::uint64_t commit) {
        return position{{our_system, timeline}, {lsn{commit}, lsn{commit - 1}, 0}};
    };
    tail.placed = {{8, at(1, 950)}, {9, at(2, 1100)}, {10, at(2, 1200)}};
    EXPECT_EQ(answer().what, kind::exact);
    // Of timeline 1 as well, but after it was left, so that it says nothing.
    tail.placed = {{8, at(1, 1500)}, {9, at(2, 1100)}, {10, at(2, 1200)}};
    EXPECT_EQ(answer().what, kind::exact);
    tail.placed = {{8, at(1, 950)}, {9, at(2, 940)}, {10, at(2, 1200)}};
    EXPECT_EQ(answer().what, kind::compare);
    EXPECT_TRUE(answer().compares_ids);
    mark->disordered_until = 8;
    EXPECT_EQ(answer().what, kind::exact);
}

TEST_F(TailTrust, ComparesPositionsOfTheFirstVersion) {
    tail.last_position = position{{our_system, 2}, {lsn{2000}, {}, 5}};
    EXPECT_EQ(answer().what, kind::compare);
}

TEST_F(TailTrust, ComparesIdsAsWellWhereTheStreamIsNotInOrder) {
    tail_is(2, 2000);
    tail.final_position = position{{our_system, 2}, {lsn{1500}, lsn{1400}, 0}};
    EXPECT_EQ(answer().what, kind::compare);
    EXPECT_TRUE(answer().compares_ids);
}

TEST_F(TailTrust, KnowsNothingOfAnotherSystem) {
    tail_is(2, 2000, 8);
    EXPECT_EQ(answer().what, kind::nothing);
    mark->system_identifier = 8;
    mark->timeline = 9;
    EXPECT_EQ(answer().what, kind::nothing);
}

TEST_F(TailTrust, ComparesEverythingWhereAnOperatorAcceptsTheHistory) {
    accepts_history = true;
    tail_is(2, 9000);
    EXPECT_EQ(answer().what, kind::compare);
    EXPECT_TRUE(answer().compares_ids);
    tail_is(3, 2000);
    EXPECT_EQ(answer().what, kind::compare);
    EXPECT_FALSE(refuse_history(question()).has_value());
}

TEST_F(TailTrust, RemembersThatAnOperatorHasAcceptedTheHistory) {
    tail_is(3, 2000);
    EXPECT_EQ(answer().what, kind::refused);
    mark->disordered_until = 10;
    EXPECT_EQ(answer().what, kind::compare) << "nothing was published since";
    mark->disordered_until = 9;
    EXPECT_EQ(answer().what, kind::refused) << "came after that";
}

TEST_F(TailTrust, CheckSaysWhatTheNextRunWillDo) {
    tail_is(2, 2000);
    EXPECT_TRUE(tail_findings(question(), true).empty());
    rules = "another";
    ASSERT_EQ(tail_findings(question(), true).size(), 1U);
    EXPECT_EQ(tail_findings(question(), true).front().severity, finding_severity::note);
    EXPECT_TRUE(tail_findings(question(), false).empty());
    tail_is(3, 2000);
    for (const bool sole_writer : {true, false}) {
        const auto found = tail_findings(question(), sole_writer);
        ASSERT_EQ(found.size(), 1U);
        EXPECT_EQ(found.front().severity, finding_severity::error);
        EXPECT_THAT(found.front().what, HasSubstr("old primary"));
    }
}

}  // namespace
}  // namespace walrelay::relay
