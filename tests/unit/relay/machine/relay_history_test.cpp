// The relay machine and the checkpoint: tails that must be met, histories that change, rows that
// are compared one by one.

#include "unit/relay/machine/relay_script.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace walrelay::relay {
namespace {

using namespace std::chrono_literals;
using test::relay_script;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr std::uint64_t first = 800;
constexpr std::uint64_t second = 1600;

commit_position at(std::uint64_t commit, std::uint64_t index) {
    return {lsn{commit}, test::some_row, index};
}

relay_options healing() {
    relay_options options;
    options.lane = {4, 1000, 5s};
    options.heals = true;
    return options;
}

class RelayHistory : public testing::Test {
protected:
    void begin(std::uint64_t last_sequence, std::optional<commit_position> tail) {
        script_.start();
        script_.broker_connects(last_sequence, tail);
        script_.postgres_connects();
    }
    std::vector<std::string> compared(
        const std::vector<std::pair<commit_position, std::string>>& has,
        std::uint64_t last_sequence) {
        stored_rows_request wanted;
        wanted.line = {relay_script::origin};
        const auto rows = std::make_shared<stored_rows>(wanted);
        for (const auto& [where, id] : has) {
            rows->add(last_sequence, position{relay_script::origin, where}, id);
        }
        rows->end(true, removed_messages::none);
        return script_.stored_is_read(rows);
    }

    /// Of timeline 2, which left timeline 1 there.
    void loses_a_server_that_left_at(std::uint64_t commit) {
        script_.ancestors = {{1, lsn{commit}}};
        script_.start();
        script_.broker_connects(0, std::nullopt);
        script_.postgres_connects_with({7, 2});
        script_.postgres_fails();
        script_.passes(1s);
    }

    /// The tables were others before; the stream has "a" and "c" of three rows.
    void begin_comparing() {
        script_.description = "walrelay slot=slot database=app system=7 timeline=1 rules=before";
        script_.start();
        script_.broker_connects(2, at(first, 2));
        script_.postgres_connects();
        compared({{at(first, 0), "a"}, {at(first, 2), "c"}}, 2);
    }

    relay_script script_;
};

TEST_F(RelayHistory, ConfirmsNothingOfATailUntilItsRowIsMet) {
    begin(2, at(second, 0));
    EXPECT_THAT(script_.transaction(first, {"a"}), IsEmpty());
    EXPECT_EQ(script_.machine().confirmed(), lsn{});
    script_.transaction(second, {"b"});
    EXPECT_EQ(script_.machine().confirmed(), lsn{second + 1});
    EXPECT_THAT(script_.transaction(2400, {"c"}), ElementsAre("publish c@2"));
}

TEST_F(RelayHistory, StopsWhereTheSlotGoesPastATailThatItDoesNotMeet) {
    begin(2, at(second, 0));
    script_.transaction(first, {"a"});
    EXPECT_THAT(script_.transaction(2400, {"c"}), Contains("finish_postgres"));
    EXPECT_THAT(script_.last_log(), HasSubstr("belongs to no row that the slot sends"));
    EXPECT_THAT(script_.last_log(), HasSubstr("--accept-history"));
    EXPECT_EQ(script_.machine().confirmed(), lsn{});
}

TEST_F(RelayHistory, StopsWhereTheTailStandsForAnotherRow) {
    script_.final_id = "forged";
    begin(2, at(second, 0));
    EXPECT_THAT(script_.transaction(second, {"b"}), Contains("finish_postgres"));
    EXPECT_THAT(script_.last_log(), HasSubstr("which has message id b"));
}

TEST_F(RelayHistory, StopsWhereTheTransactionOfTheTailEndsBeforeItsRow) {
    begin(2, at(second, 1));
    EXPECT_THAT(script_.transaction(second, {"b"}), Contains("finish_postgres"));
}

TEST_F(RelayHistory, StopsWhereTheServerHasNothingMoreUpToAPlaceBehindTheTail) {
    begin(2, at(second, 0));
    EXPECT_THAT(script_.frame(test::keepalive_frame(lsn{first})), IsEmpty());
    EXPECT_THAT(script_.frame(test::keepalive_frame(lsn{2400})), Contains("finish_postgres"));
}

TEST_F(RelayHistory, HealsWhatItDoesNotMeetWhereItMay) {
    relay_script script(healing());
    script.start();
    script.broker_connects(2, at(second, 0));
    script.postgres_connects();
    EXPECT_THAT(script.transaction(2400, {"c"}), Contains("close_postgres"));
    EXPECT_THAT(script.passes(1ms), Contains("connect_postgres for a gap"));
}

TEST_F(RelayHistory, RefusesATailBeyondTheWal) {
    script_.start();
    script_.broker_connects(2, at(second, 0));
    script_.wal_end = lsn{second};
    EXPECT_THAT(script_.postgres_connects(), Not(Contains(HasSubstr("publish"))));
    EXPECT_THAT(script_.log_lines(), Contains(HasSubstr("beyond the WAL of the server")));
}

TEST_F(RelayHistory, ReadsFromTheSlotAgainWhereATailIsNotOfItsOwnMessages) {
    begin(0, std::nullopt);
    EXPECT_THAT(script_.transaction(first, {"a"}), ElementsAre("publish a@0"));
    script_.acks(1);
    script_.broker_fails();
    script_.passes(1s);
    EXPECT_THAT(script_.broker_connects(2, at(second, 0)), ElementsAre("close_postgres"));
    EXPECT_THAT(script_.passes(1ms), ElementsAre("connect_postgres"));
}

TEST_F(RelayHistory, KnowsTheTailOfItsOwnMessages) {
    begin(0, std::nullopt);
    script_.transaction(first, {"a", "b"});
    script_.broker_fails();
    script_.passes(1s);
    EXPECT_THAT(script_.broker_connects(1, at(first, 0)), ElementsAre("publish b@1"));
}

TEST_F(RelayHistory, ComparesRowByRowWhereTheRulesHaveChanged) {
    script_.description = "walrelay slot=slot database=app system=7 timeline=1 rules=before";
    script_.start();
    script_.broker_connects(2, at(first, 2));
    EXPECT_THAT(script_.postgres_connects(), ElementsAre("read_stored since 0/0"));
    EXPECT_FALSE(script_.machine().wants_frames());
    EXPECT_THAT(compared({{at(first, 0), "a"}, {at(first, 2), "c"}}, 2), IsEmpty());
    EXPECT_THAT(script_.transaction(first, {"a", "b", "c"}), ElementsAre("publish b@2"));
    EXPECT_EQ(script_.machine().confirmed(), lsn{});
    script_.acks(1);
    EXPECT_EQ(script_.machine().confirmed(), lsn{first + 1});
    // Not before the last message of the stream is the greatest again.
    script_.frame(test::begin_frame(lsn{second}));
    EXPECT_THAT(script_.frame(test::insert_frame(16384, {"d", "kind", "{}"}, lsn{1500})),
                ElementsAre("publish d@3"));
    script_.acks(1);
    EXPECT_THAT(script_.marks(), ElementsAre("comparing-holes-", ""));
    EXPECT_THAT(script_.log_lines(), Contains(HasSubstr("compared:")));
}

TEST_F(RelayHistory, SetsARowAsideWhoseIdAnotherRowHasAlsoWhileItCompares) {
    begin_comparing();
    script_.transaction(first, {"a", "b"});
    EXPECT_THAT(script_.reply({outcome_class::duplicate, 1, 0, {}}), ElementsAre("read_message 1"));
    EXPECT_THAT(
        script_.message_is_read(asked_message{1, position{relay_script::origin, at(8, 0)}, "b"}),
        ElementsAre("dead_letter 0/320.1"));
}

TEST_F(RelayHistory, ComparesAgainWhereTheConnectionBreaks) {
    begin_comparing();
    script_.transaction(first, {"a", "b"});
    script_.broker_fails();
    script_.passes(1s);
    // What it has published meanwhile comes before the greatest.
    EXPECT_THAT(script_.broker_connects(3, at(first, 1)), ElementsAre("close_postgres"));
    script_.passes(1ms);
    EXPECT_THAT(script_.postgres_connects(), ElementsAre("read_stored since 0/0"));
    compared({{at(first, 0), "a"}, {at(first, 2), "c"}, {at(first, 1), "b"}}, 3);
    EXPECT_THAT(script_.transaction(first, {"a", "b", "c"}), IsEmpty());
    EXPECT_EQ(script_.machine().confirmed(), lsn{first + 1});
}

/// A row after a promotion, whose id the stream has in a message of unknown origin.
class RelayIdsGivenAgain : public RelayHistory {
protected:
    RelayIdsGivenAgain() {
        script_.ancestors = {{1, lsn{first}}};
        script_.start();
        script_.broker_connects(3, std::nullopt);
        script_.postgres_connects_with({7, 2});
        EXPECT_THAT(script_.transaction(second, {"a"}), ElementsAre("publish a@3"));
        EXPECT_THAT(script_.reply({outcome_class::duplicate, 2, 0, {}}),
                    ElementsAre("read_message 2"));
    }
    std::vector<std::string> is_of(const position& where) {
        return script_.message_is_read(asked_message{2, where, "a"});
    }
    void expect_stored() {
        EXPECT_EQ(script_.machine().confirmed(), lsn{second + 1});
        EXPECT_THAT(script_.transaction(2400, {"b"}), ElementsAre("publish b@3"));
    }
};

TEST_F(RelayIdsGivenAgain, SetsTheRowAsideWhereTheMessageIsOfTheBranchThatWasLeft) {
    EXPECT_THAT(is_of({{7, 1}, at(second, 0)}), ElementsAre("dead_letter 0/640.0"));
    EXPECT_EQ(script_.machine().confirmed(), lsn{});
}

TEST_F(RelayIdsGivenAgain, TakesAMessageFromBeforeThePromotionForTheRowsOwn) {
    EXPECT_THAT(is_of({{7, 1}, at(first - 8, 0)}), IsEmpty());
    expect_stored();
}

TEST_F(RelayIdsGivenAgain, TakesAMessageAtItsOwnPlaceForTheRowsOwnWhateverTheTimeline) {
    EXPECT_THAT(is_of({{7, 9}, at(second, 0)}), IsEmpty());
    expect_stored();
}

TEST_F(RelayIdsGivenAgain, TakesAMessageOfAnUnknownTimelineAtAnotherPlaceForAnotherRows) {
    EXPECT_THAT(is_of({{7, 9}, at(first, 0)}), ElementsAre("dead_letter 0/640.0"));
}

TEST_F(RelayIdsGivenAgain, TakesAMessageThatIsGoneForTheRowsOwn) {
    script_.answers_questions = false;
    EXPECT_THAT(script_.message_is_read(asked_message{2}), ElementsAre("ask_stream"));
    EXPECT_EQ(script_.machine().confirmed(), lsn{});
    script_.stream_answers(3);
    expect_stored();
}

TEST_F(RelayIdsGivenAgain, TakesNoMessageForTheRowsOwnThatIsLostWithTheStreamsEnd) {
    script_.answers_questions = false;
    script_.message_is_read(asked_message{2});
    EXPECT_THAT(script_.stream_answers(1), ElementsAre("close_broker"));
    EXPECT_EQ(script_.machine().confirmed(), lsn{});
}

TEST_F(RelayIdsGivenAgain, TakesNoMessageOfAnotherIdForTheRowsOwn) {
    EXPECT_THAT(script_.message_is_read(asked_message{2, std::nullopt, "of somebody else"}),
                ElementsAre("close_broker"));
    EXPECT_EQ(script_.machine().confirmed(), lsn{});
    script_.passes(1ms);
    EXPECT_THAT(script_.broker_connects(3, std::nullopt), ElementsAre("publish a@3"));
}

TEST_F(RelayIdsGivenAgain, AsksAgainOverAnotherConnectionWhereNobodyAnswers) {
    EXPECT_THAT(script_.message_is_read(error{errc::broker_unavailable, "nobody answers"}),
                ElementsAre("close_broker"));
    script_.passes(1ms);
    EXPECT_THAT(script_.broker_connects(3, std::nullopt), ElementsAre("publish a@3"));
    EXPECT_THAT(script_.reply({outcome_class::duplicate, 2, 0, {}}), ElementsAre("read_message 2"));
}

TEST_F(RelayHistory, TakesAMessageOfItsOwnThatItFindsForStored) {
    begin(1, at(first, 0));
    script_.transaction(first, {"a"});
    script_.transaction(second, {"b"});
    EXPECT_THAT(script_.reply({outcome_class::duplicate, 1, 0, {}}), ElementsAre("read_message 1"));
    script_.asked = asked_message{1, position{relay_script::origin, at(second, 0)}, "b"};
    EXPECT_THAT(script_.message_is_read(*script_.asked), ElementsAre("close_broker"));
    EXPECT_THAT(script_.passes(1ms), Contains("connect_broker"));
    script_.broker_connects(1, at(first, 0));
    EXPECT_EQ(script_.machine().confirmed(), lsn{second + 1});
}

TEST_F(RelayHistory, DoesNotAskAgainForAMessageOfItsOwnThatTheTailDoesNotShow) {
    begin(1, at(first, 0));
    script_.transaction(first, {"a"});
    script_.transaction(second, {"b"});
    script_.reply({outcome_class::duplicate, 1, 0, {}});
    script_.asked = asked_message{1, position{relay_script::origin, at(second, 0)}, "b"};
    script_.message_is_read(*script_.asked);
    script_.passes(1ms);
    script_.final_id = "forged";
    EXPECT_THAT(script_.broker_connects(2, at(8, 0)), ElementsAre("close_postgres"));
    script_.passes(1ms);
    EXPECT_THAT(script_.postgres_connects(), ElementsAre("read_stored since 0/0"));
    compared({}, 2);
    EXPECT_THAT(script_.transaction(second, {"b"}), IsEmpty());
    EXPECT_EQ(script_.machine().confirmed(), lsn{second + 1});
}

TEST_F(RelayHistory, DropsWhatItReadOfABranchThatWasLeft) {
    begin(0, std::nullopt);
    script_.broker_fails();
    script_.transaction(first, {"a"});
    script_.transaction(second, {"b"});
    script_.postgres_fails();
    script_.passes(1s);
    script_.ancestors = {{1, lsn{second}}};
    script_.postgres_connects_with({7, 2});
    EXPECT_TRUE(script_.machine().the_lane().empty());
    EXPECT_THAT(script_.broker_connects(0), Not(Contains(HasSubstr("publish"))));
    // Nothing was read before it was known what the stream has.
    script_.frame(test::relation_frame(16384, "public", "outbox", {"id", "kind", "payload"}));
    EXPECT_THAT(script_.transaction(first, {"a"}), ElementsAre("publish a@0")) << "both have it";
}

TEST_F(RelayHistory, MissesNothingWhereTheBrokerForgotOnlyRowsOfABranchThatWasLeft) {
    begin(0, std::nullopt);
    script_.transaction(first, {"a"});
    script_.transaction(second, {"b"});
    script_.transaction(second + 100, {"c"});
    script_.acks(3);
    script_.broker_fails();
    script_.postgres_fails();
    script_.ancestors = {{1, lsn{second}}};
    script_.passes(1s);
    script_.postgres_connects_with({7, 2}, lsn{second});
    for (int look = 0; look < 10 && !script_.machine().the_lane().is_open(); ++look) {
        script_.passes(500ms);
        script_.broker_connects(2, at(second, 0));
    }
    EXPECT_TRUE(script_.machine().the_lane().is_open());
    EXPECT_THAT(script_.log_lines(), Not(Contains(HasSubstr("Halted"))));
}

TEST_F(RelayHistory, ComparesAfterAPromotionWhatItHadStoredItself) {
    begin(0, std::nullopt);
    script_.transaction(first, {"a"});
    script_.acks(1);
    script_.postgres_fails();
    script_.passes(1s);
    script_.ancestors = {{1, lsn{second}}};
    script_.postgres_connects_with({7, 2});
    script_.broker_connects(1, at(first, 0));
    script_.passes(1ms);
    EXPECT_THAT(script_.postgres_connects_with({7, 2}), ElementsAre("read_stored since 0/0"))
        << "the database may have been restored in between, and have used the LSNs again";
}

TEST_F(RelayHistory, DropsWhatWasNotPublishedBeforeAnotherServerMayHaveComeInBetween) {
    begin(0, std::nullopt);
    script_.broker_fails();
    script_.transaction(first, {"of a history that is gone"});
    script_.postgres_fails();
    script_.passes(1s);
    script_.postgres_connects();
    script_.broker_connects(0);
    EXPECT_THAT(script_.transaction(first, {"a"}), ElementsAre("publish a@0"));
}

TEST_F(RelayHistory, ComparesWhereTheSlotGoesBackToBeforeTheConfiguration) {
    relay_options options;
    options.lane = {4, 1000, 5s};
    options.rules = "now";
    relay_script script(options);
    script.description = "walrelay slot=slot database=app system=7 timeline=1 rules=now.320";
    script.start();
    script.broker_connects(0, std::nullopt);
    script.postgres_connects_with(relay_script::origin, lsn{first});
    script.transaction(second, {"a"});
    script.acks(1);
    script.postgres_fails();
    script.passes(1s);
    script.postgres_connects_with(relay_script::origin, lsn{first - 8});
    script.broker_connects(1, at(second, 0));
    script.passes(1ms);
    EXPECT_THAT(script.postgres_connects_with(relay_script::origin, lsn{first - 8}),
                ElementsAre("read_stored since 0/318"));
    EXPECT_EQ(script.rules_hold_since(), lsn{first})
        << "until they are compared, the slot can go past them";
}

TEST_F(RelayHistory, ComparesWhereTheLastMessagesLeaveOutARow) {
    script_.placed_is_whole = true;
    script_.placed = {{1, {relay_script::origin, at(first, 0)}, "a"},
                      {2, {relay_script::origin, at(first + 7, 0)}, "forged"},
                      {3, {relay_script::origin, at(second, 0)}, "c"}};
    script_.final_id = "c";
    script_.start();
    script_.broker_connects(3, at(second, 0));
    script_.postgres_connects();
    EXPECT_THAT(script_.transaction(first, {"a"}), IsEmpty());
    EXPECT_THAT(script_.transaction(first + 8, {"b"}), Contains("connect_broker"));
    EXPECT_THAT(script_.log_lines(), Contains(HasSubstr("but not that of row id b")));
    EXPECT_EQ(script_.machine().confirmed(), lsn{});
    EXPECT_THAT(script_.broker_connects(3, at(second, 0)), ElementsAre("close_postgres"));
    script_.passes(1ms);
    EXPECT_THAT(script_.postgres_connects(), ElementsAre("read_stored since 0/0"));
}

TEST_F(RelayHistory, ComparesWhereTheWholeStreamLeavesOutARowBeforeItsFirst) {
    script_.placed_is_whole = true;
    script_.placed = {{1, {relay_script::origin, at(second, 0)}, "b"}};
    script_.final_id = "b";
    script_.start();
    script_.broker_connects(1, at(second, 0));
    script_.postgres_connects();
    EXPECT_THAT(script_.transaction(first, {"a"}), Contains("connect_broker"))
        << "somebody had moved the slot past it, and a crash set it back";
    EXPECT_THAT(script_.log_lines(), Contains(HasSubstr("but not that of row id a")));
}

TEST_F(RelayHistory, MissesNoRowThatIsADeadLetter) {
    script_.placed_is_whole = true;
    script_.placed = {{1, {relay_script::origin, at(first, 0)}, "a"},
                      {2, {relay_script::origin, at(second, 0)}, "c"}};
    script_.dead_letters = {{relay_script::origin, at(first + 8, 0)}};
    script_.start();
    script_.broker_connects(2, at(second, 0));
    script_.postgres_connects();
    script_.transaction(first, {"a"});
    EXPECT_THAT(script_.transaction(first + 8, {"b"}), IsEmpty());
    script_.transaction(second, {"c"});
    EXPECT_EQ(script_.machine().confirmed(), lsn{second + 1});
}

TEST_F(RelayHistory, JudgesNoRowWhileTheTailIsNotJudged) {
    begin(0, std::nullopt);
    script_.broker_fails();
    script_.passes(1s);
    script_.broker_connects(3, at(second, 0));
    EXPECT_FALSE(script_.machine().wants_frames());
    script_.broker_fails();
    script_.passes(1ms);
    script_.postgres_connects();
    EXPECT_FALSE(script_.machine().wants_frames());
}

class RelayAndForger : public RelayHistory {
protected:
    /// Of commits 800, 808, ...; what is in flight when the connection breaks.
    void send(const std::vector<std::string>& ids) {
        begin(0, std::nullopt);
        script_.transaction(first, {"first"});
        script_.acks(1);
        std::uint64_t commit = first;
        for (const auto& id : ids) {
            script_.transaction(commit += 8, {id});
        }
        script_.broker_fails();
        script_.passes(1s);
    }
    std::vector<std::string> shows(
        const std::vector<std::pair<commit_position, std::string>>& placed) {
        script_.placed.clear();
        for (const auto& [where, id] : placed) {
            script_.placed.push_back(
                {script_.placed.size() + 1, position{relay_script::origin, where}, id});
        }
        script_.final_id = placed.back().second;
        return script_.broker_connects(placed.size(), placed.back().first);
    }
};

TEST_F(RelayAndForger, KnowsWhatItSentItself) {
    send({"b", "c"});
    shows({{at(first, 0), "first"}, {at(first + 8, 0), "b"}, {at(first + 16, 0), "c"}});
    EXPECT_TRUE(script_.machine().the_lane().empty());
    EXPECT_TRUE(script_.machine().wants_frames());
}

TEST_F(RelayAndForger, MissesNothingThatComesAfterTheTail) {
    send({"b", "c"});
    shows({{at(first, 0), "first"}});
    EXPECT_EQ(script_.machine().the_lane().size(), 2U);
    EXPECT_TRUE(script_.machine().wants_frames());
}

TEST_F(RelayAndForger, ComparesWhereALaterMessageMayHavePassedAnEarlierOne) {
    send({"b", "c"});
    // In place of "b" there is a message with a position in between.
    EXPECT_THAT(
        shows({{at(first, 0), "first"}, {at(first + 7, 0), "forged"}, {at(first + 16, 0), "c"}}),
        ElementsAre("close_postgres"));
    script_.passes(1ms);
    EXPECT_THAT(script_.postgres_connects(), ElementsAre("read_stored since 0/0"));
    compared({{at(first, 0), "first"}, {at(first + 16, 0), "c"}}, 3);
    script_.transaction(first, {"first"});
    script_.frame(test::begin_frame(lsn{first + 8}));
    EXPECT_THAT(script_.frame(test::insert_frame(16384, {"b", "kind", "{}"}, lsn{first + 1})),
                ElementsAre("publish b@3"));
}

TEST_F(RelayAndForger, ComparesWhereAMessageHasTheVeryPositionOfARow) {
    send({"b", "c"});
    EXPECT_THAT(
        shows({{at(first, 0), "first"}, {at(first + 8, 0), "forged"}, {at(first + 16, 0), "c"}}),
        ElementsAre("close_postgres"));
}

TEST_F(RelayAndForger, RemembersThatItWasInDoubt) {
    send({"b", "c"});
    shows({{at(first, 0), "first"}, {at(first + 8, 0), "forged"}, {at(first + 16, 0), "c"}});
    script_.broker_fails();
    script_.passes(1s);
    shows({{at(first, 0), "first"}, {at(first + 8, 0), "forged"}, {at(first + 16, 0), "c"}});
    script_.passes(1ms);
    EXPECT_THAT(script_.postgres_connects(), ElementsAre("read_stored since 0/0"));
}

TEST_F(RelayAndForger, ComparesWherePositionsGoBack) {
    script_.start();
    script_.placed = {{1, {relay_script::origin, at(first, 0)}},
                      {2, {relay_script::origin, at(8, 0)}},
                      {3, {relay_script::origin, at(first + 16, 0)}}};
    script_.broker_connects(3, at(first + 16, 0));
    EXPECT_THAT(script_.postgres_connects(), ElementsAre("read_stored since 0/0"));
}

TEST_F(RelayAndForger, KnowsFromTheMarkUpToWhereRowsWereCompared) {
    script_.description =
        "walrelay slot=slot database=app system=7 timeline=1 rules= disordered=0-2";
    script_.start();
    script_.placed = {{1, {relay_script::origin, at(first, 0)}},
                      {2, {relay_script::origin, at(8, 0)}},
                      {3, {relay_script::origin, at(first + 16, 0)}}};
    script_.broker_connects(3, at(first + 16, 0));
    EXPECT_THAT(script_.postgres_connects(), Not(Contains("read_stored since 0/0")));
}

TEST_F(RelayHistory, RefusesAServerThatHasLessWalThanItHasRead) {
    begin(0, std::nullopt);
    script_.broker_fails();
    script_.transaction(second, {"a"});
    script_.postgres_fails();
    script_.passes(1s);
    script_.wal_end = lsn{second};
    EXPECT_THAT(script_.postgres_connects(), Contains("finish 3"));
    EXPECT_THAT(script_.log_lines(), Contains(HasSubstr("the server was restored from a copy")));
}

TEST_F(RelayHistory, RefusesATimelineThatDoesNotDescendFromTheOneThatItHasRead) {
    loses_a_server_that_left_at(second);
    script_.ancestors = {{1, lsn{first}}};
    EXPECT_THAT(script_.postgres_connects_with({7, 2}), Contains("finish 3"));
    EXPECT_THAT(script_.log_lines(),
                Contains(HasSubstr("does not descend from the timeline 2 that this relay has")));
}

TEST_F(RelayHistory, TakesNoRowOfARestoredDatabaseForOneThatTheStreamHasDropped) {
    script_.machine().accept_history();
    begin(2, at(second, 0));
    EXPECT_TRUE(script_.stream_may_have_holes());
}

TEST_F(RelayHistory, AcceptsOneHistoryOnly) {
    script_.machine().accept_history();
    loses_a_server_that_left_at(second);
    script_.ancestors = {{1, lsn{first}}};
    EXPECT_THAT(script_.postgres_connects_with({7, 2}), Contains("finish 3"));
}

TEST_F(RelayHistory, AcceptsWhatGoesOnFromAnAcceptedHistory) {
    script_.machine().accept_history();
    loses_a_server_that_left_at(first);
    script_.ancestors = {{1, lsn{first}}, {2, lsn{second}}};
    EXPECT_THAT(script_.postgres_connects_with({7, 3}), Not(Contains("finish 3")));
}

TEST_F(RelayHistory, ConfirmsNothingThatTheConnectionHasNotSent) {
    begin(0, std::nullopt);
    script_.transaction(first, {"a"});
    script_.acks();
    EXPECT_EQ(script_.machine().confirmed(), lsn{first + 1});
    script_.postgres_fails();
    script_.passes(1s);
    script_.postgres_connects();
    EXPECT_EQ(script_.machine().confirmed(), lsn{}) << "the slot stands there";
    script_.transaction(first, {"a"});
    EXPECT_EQ(script_.machine().confirmed(), lsn{first + 1});
}

TEST_F(RelayHistory, ReadsTheTailAgainWhereTheSlotHasGoneBack) {
    script_.start();
    script_.broker_connects(0, std::nullopt);
    script_.postgres_connects_with(relay_script::origin, lsn{second});
    script_.postgres_fails();
    script_.passes(1s);
    EXPECT_THAT(script_.postgres_connects_with(relay_script::origin, lsn{first}),
                Contains("connect_broker"));
}

}  // namespace
}  // namespace walrelay::relay
