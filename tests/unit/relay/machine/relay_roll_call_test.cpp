// The relay machine's startup check: rows of the tables that neither the stream nor the slot
// brings.

#include "unit/relay/machine/relay_script.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

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

constexpr std::uint64_t first = 800;
constexpr std::uint64_t second = 1600;

class RelayAndMissingRow : public testing::Test {
protected:
    /// The stream has "a" and "b", and the table a newer row that the slot has gone past.
    RelayAndMissingRow() {
        script_.recent = {{"a", at_second(10), 1}, {"b", at_second(20), 2}};
        script_.newest_rows =
            roll{{{0, "c", at_second(30)}, {0, "a", at_second(9)}}, lsn{second}, at_second(100)};
        script_.start();
        script_.broker_connects(2, commit_position{lsn{first}, lsn{1}, 0});
        script_.postgres_connects_with(relay_script::origin, lsn{first + 1});
    }
    /// And sends the row that the stream ends with.
    void slot_is_back() {
        script_.newest_rows.reset();
        script_.postgres_connects_with(relay_script::origin, lsn{first});
        script_.broker_connects(2, commit_position{lsn{first}, lsn{1}, 0});
        script_.passes(1ms);
        script_.postgres_connects_with(relay_script::origin, lsn{first});
        script_.transaction(first, {"b"});
    }
    /// The search has not found it, and the stream is as it was.
    std::vector<std::string> is_missing() {
        script_.frame(test::keepalive_frame(lsn{second}));
        script_.rows_are_missing({"c"});
        script_.broker_connects(2, commit_position{lsn{first}, lsn{1}, 0});
        return script_.rows_are_missing({"c"});
    }
    static wall_time at_second(int time) { return wall_time(std::chrono::seconds(time)); }

    relay_script script_;
};

TEST_F(RelayAndMissingRow, MissesIt) {
    EXPECT_THAT(script_.frame(test::keepalive_frame(lsn{second})), Contains("look_for_rows c"));
}

TEST_F(RelayAndMissingRow, DoesNotSayThatItKnowsWhatBecameOfIt) {
    is_missing();
    EXPECT_THAT(script_.log_lines(), Contains(AllOf(HasSubstr("Either the slot moved past them"),
                                                    HasSubstr("or the stream lost their messages"),
                                                    HasSubstr("or PostgreSQL did not send them"))));
}

TEST_F(RelayAndMissingRow, DoesNotMissItOnceAnotherServerIsThere) {
    script_.postgres_fails();
    script_.passes(1s);
    script_.ancestors = {{1, lsn{second}}};
    script_.postgres_connects_with({7, 2}, lsn{first + 1});
    EXPECT_THAT(script_.frame(test::keepalive_frame(lsn{second})),
                Not(Contains(HasSubstr("look"))));
}

TEST_F(RelayAndMissingRow, MissesItAlsoWhereACrashSetsTheSlotBack) {
    script_.postgres_fails();
    script_.passes(1s);
    slot_is_back();
    EXPECT_THAT(script_.frame(test::keepalive_frame(lsn{second})), Contains("look_for_rows c"));
}

TEST_F(RelayAndMissingRow, DoesNotMissItWhereTheDatabaseHasLostIt) {
    script_.postgres_fails();
    script_.passes(1s);
    script_.wal_end = lsn{second - 8};
    slot_is_back();
    EXPECT_THAT(script_.frame(test::keepalive_frame(lsn{second})),
                Not(Contains(HasSubstr("look"))));
}

TEST_F(RelayAndMissingRow, HaltsWhereItIsNowhere) {
    EXPECT_THAT(is_missing(), Contains("store_halt"));
}

TEST_F(RelayAndMissingRow, LooksAtTheStreamOnceMoreBeforeItHalts) {
    script_.frame(test::keepalive_frame(lsn{second}));
    EXPECT_THAT(script_.rows_are_missing({"c"}), ElementsAre("close_broker", "connect_broker"));
    EXPECT_THAT(script_.broker_connects(2, commit_position{lsn{first}, lsn{1}, 0}),
                Contains("look_for_rows c"));
}

TEST_F(RelayAndMissingRow, AsksTheSlotOnceTheStreamIsKnownToHaveLostIt) {
    script_.frame(test::keepalive_frame(lsn{second}));
    script_.rows_are_missing({"c"});
    for (int look = 0; look < 3; ++look) {
        script_.broker_connects(1, commit_position{lsn{first - 8}, lsn{1}, 0});
        script_.passes(1s);
    }
    EXPECT_THAT(script_.log_lines(), Contains(HasSubstr("has lost messages that it had acked")));
    script_.newest_rows.reset();
    EXPECT_THAT(script_.postgres_connects_with(relay_script::origin, lsn{first - 8}),
                Not(Contains(HasSubstr("look"))));
}

/// The mark says since when the rules hold that the relay works by, and on which line.
class RelayAndMessagesOfBefore : public testing::Test {
protected:
    std::vector<std::string> begin(history of_first) {
        prepare(of_first);
        script_.postgres_connects_with(relay_script::origin, lsn{first + 1});
        return script_.frame(test::keepalive_frame(lsn{second}));
    }
    void stand_by() {
        for (int tries = 0; tries < 4; ++tries) {
            script_.postgres_fails(errc::slot_in_use);
            script_.passes(1s);
        }
    }
    void prepare(history of_first) {
        script_.description = "walrelay slot=slot database=app system=7 timeline=1 rules=now.1";
        script_.placed = {{1, {of_first, {lsn{first - 8}, lsn{1}, 0}}, "a"},
                          {2, {relay_script::origin, {lsn{first}, lsn{1}, 0}}, "b"}};
        script_.recent = {{"a", wall_time(10s), 1}, {"b", wall_time(40s), 2}};
        script_.newest_rows =
            roll{{{0, "c", wall_time(30s)}, {0, "a", wall_time(9s)}}, lsn{second}, wall_time(100s)};
        script_.start();
        script_.broker_connects(2, commit_position{lsn{first}, lsn{1}, 0});
    }
    relay_script script_{[] {
        relay_options options;
        options.rules = "now";
        return options;
    }()};
};

TEST_F(RelayAndMessagesOfBefore, MissesARowThatIsYoungerThanAMessageOfTheRules) {
    EXPECT_THAT(begin(relay_script::origin), Contains("look_for_rows c"));
}

TEST_F(RelayAndMessagesOfBefore, DoesNotMissWhatWasReadBeforeItSawThatOthersHadOtherTables) {
    prepare(relay_script::origin);
    stand_by();
    script_.postgres_connects_with(relay_script::origin, lsn{first + 1});
    // It looks at the stream that another relay has written to until now.
    script_.description = "walrelay slot=slot database=app system=7 timeline=1 rules=other.1";
    script_.broker_connects(2, commit_position{lsn{first}, lsn{1}, 0});
    script_.passes(1ms);
    script_.postgres_connects_with(relay_script::origin, lsn{first + 1});
    script_.stream_is_marked({});
    script_.stored_is_read(std::make_shared<stored_rows>(
        stored_rows_request{lsn{first + 1}, {relay_script::origin, {}}, true}));
    EXPECT_THAT(script_.frame(test::keepalive_frame(lsn{second})),
                Not(Contains(HasSubstr("look"))));
    EXPECT_TRUE(script_.machine().wants_frames());
}

TEST_F(RelayAndMessagesOfBefore, MissesWhatWasReadBeforeItSawThatOthersHadTheSameTables) {
    prepare(relay_script::origin);
    stand_by();
    script_.postgres_connects_with(relay_script::origin, lsn{first + 1});
    script_.newest_rows.reset();
    script_.broker_connects(2, commit_position{lsn{first}, lsn{1}, 0});
    script_.passes(1ms);
    script_.postgres_connects_with(relay_script::origin, lsn{first + 1});
    EXPECT_THAT(script_.frame(test::keepalive_frame(lsn{second})), Contains("look_for_rows c"));
}

TEST_F(RelayAndMessagesOfBefore, DoesNotMissWhatIsOnlyYoungerThanOneOfABranchThatWasLeft) {
    EXPECT_THAT(begin({7, 9}), Not(Contains(HasSubstr("look"))));
}

TEST_F(RelayAndMissingRow, LooksAgainWhereTheConnectionEndsMeanwhile) {
    script_.frame(test::keepalive_frame(lsn{second}));
    script_.postgres_fails();
    EXPECT_THAT(script_.rows_are_missing({"c"}), IsEmpty());
    script_.passes(1s);
    script_.newest_rows.reset();
    EXPECT_THAT(script_.postgres_connects_with(relay_script::origin, lsn{first + 1}),
                Contains("look_for_rows c"));
}

TEST_F(RelayAndMissingRow, LooksNoMoreWhereAnotherServerAnswers) {
    script_.frame(test::keepalive_frame(lsn{second}));
    script_.postgres_fails();
    script_.passes(1s);
    script_.ancestors = {{1, lsn{first + 8}}};
    EXPECT_THAT(script_.postgres_connects_with({7, 2}, lsn{first + 1}),
                Not(Contains(HasSubstr("look"))));
    EXPECT_THAT(script_.rows_are_missing({"c"}), IsEmpty());
}

TEST_F(RelayAndMissingRow, DoesNotMissItBeforeTheTailIsMet) {
    script_.postgres_fails();
    script_.passes(1s);
    script_.broker_fails();
    script_.passes(1s);
    script_.broker_connects(2, commit_position{lsn{second + 8}, lsn{1}, 0});
    script_.passes(1ms);
    script_.postgres_connects_with(relay_script::origin, lsn{first + 1});
    EXPECT_THAT(script_.transaction(second, {"d"}), Not(Contains(HasSubstr("look"))));
    EXPECT_THAT(script_.transaction(second + 8, {"b"}), Contains("look_for_rows c"));
}

/// All rows that the witness does not cover are called. The stream has no mark, and gets one.
TEST(RelayWithoutAMark, MissesARowAlsoOverTheNextConnection) {
    constexpr lsn told{500};
    relay_options options;
    options.rules = "now";
    relay_script script(options);
    script.recent = {{"a", wall_time(10s), 1}};
    script.newest_rows = roll{{{0, "c", wall_time(5s)}}, lsn{second}, wall_time(100s), true};
    script.newest_rows->later_than = told;
    script.witness = {witness{"S", wall_time(1h), 0, {}, told, relay_script::origin, 1}, true,
                      told};
    const commit_position tail{lsn{400}, lsn{1}, 0};
    script.placed = {{1, {relay_script::origin, tail}, "a"}};
    script.description = "";
    script.start();
    script.broker_connects(1, tail);
    script.postgres_connects_with(relay_script::origin, lsn{first});
    script.postgres_fails();
    script.broker_connects(1, tail);
    script.passes(1s);
    script.postgres_connects_with(relay_script::origin, lsn{first});
    stored_rows_request wanted;
    wanted.line = {relay_script::origin};
    const auto stored = std::make_shared<stored_rows>(wanted);
    stored->add(1, position{relay_script::origin, tail}, "a");
    stored->end(true, removed_messages::none);
    script.stored_is_read(stored);
    EXPECT_THAT(script.frame(test::keepalive_frame(lsn{second})), Contains("look_for_rows c"));
}

/// The stream has removed messages since the look by which the rows were called.
TEST(RelayBesideLimits, CallsAnewWhereTheStreamMayHaveHadTheMessage) {
    const commit_position tail{lsn{first}, lsn{1}, 0};
    relay_script script;
    script.placed = {{2, {relay_script::origin, tail}, "b"}};
    script.first_sequence = 2;
    script.first_stored = wall_time(20s);
    script.newest_rows =
        roll{{{0, "c", wall_time(30s)}}, lsn{second}, wall_time(100s), true, true, lsn{first}};
    script.start();
    script.broker_connects(2, tail);
    script.postgres_connects_with(relay_script::origin, lsn{first + 1});
    script.broker_fails();
    script.passes(1s);
    script.first_stored = wall_time(40s);  // more of it was removed meanwhile
    EXPECT_THAT(script.broker_connects(2, tail), Contains("close_postgres"));
}

/// The slot stands after what the witness names.
class RelayBesideAMovedSlot : public testing::Test {
protected:
    RelayBesideAMovedSlot() {
        script_.witness = {witness{"S", wall_time(1h), 0, {}, lsn{first}, relay_script::origin, 1},
                           true, lsn{first}};
        script_.placed = {{2, {relay_script::origin, tail}, "b"}};
        script_.recent = {{"b", wall_time(20s), 2}};
        script_.start();
    }
    static roll asks_for(std::vector<roll_row> rows) {
        return {std::move(rows), lsn{second}, wall_time(100s), true, true, lsn{first}};
    }
    std::vector<std::string> begin() {
        script_.broker_connects(2, tail);
        return script_.postgres_connects_with(relay_script::origin, lsn{second});
    }
    static constexpr commit_position tail{lsn{first}, lsn{1}, 0};
    relay_script script_;
};

/// It was changed since, and its message can be one that limits have removed.
TEST_F(RelayBesideAMovedSlot, DoesNotMissWhatIsOlderThanTheStream) {
    script_.first_sequence = 2;
    script_.first_stored = wall_time(20s);
    script_.newest_rows = asks_for({{0, "older", wall_time(5s)}, {0, "b", wall_time(19s)}});
    begin();
    EXPECT_THAT(script_.frame(test::keepalive_frame(lsn{second})),
                Not(Contains(HasSubstr("look_for_rows"))));
    EXPECT_THAT(script_.log_lines(), Contains(HasSubstr("that is not noticed")))
        << "nor does it prove anything";
}

TEST_F(RelayBesideAMovedSlot, MissesWhatIsNewerThanTheStreamAndWhatHasNoTime) {
    script_.first_sequence = 2;
    script_.first_stored = wall_time(20s);
    script_.newest_rows = asks_for({{0, "older", wall_time(5s)},
                                    {0, "newer", wall_time(21s)},
                                    {0, "timeless", wall_time(0s)}});
    begin();
    EXPECT_THAT(script_.frame(test::keepalive_frame(lsn{second})),
                Contains(AllOf(HasSubstr("look_for_rows"), HasSubstr("newer"),
                               HasSubstr("timeless"), Not(HasSubstr("older")))));
}

TEST_F(RelayBesideAMovedSlot, MissesWhatIsOlderWhereNothingWasRemoved) {
    script_.newest_rows = asks_for({{0, "older", wall_time(5s)}});
    begin();
    EXPECT_THAT(script_.frame(test::keepalive_frame(lsn{second})), Contains("look_for_rows older"));
}

TEST_F(RelayBesideAMovedSlot, CallsAnewWhereTheStreamBeginsLaterMeanwhile) {
    script_.first_sequence = 2;
    script_.first_stored = wall_time(20s);
    script_.newest_rows = asks_for({{0, "newer", wall_time(21s)}});
    begin();
    script_.broker_fails();
    script_.passes(1s);
    script_.first_stored = wall_time(22s);
    EXPECT_THAT(script_.broker_connects(2, tail), Contains("close_postgres"));
}

TEST_F(RelayBesideAMovedSlot, ConnectsAnewWhereTheRowsCannotBeReadForNow) {
    script_.newest_rows_unread = error{errc::postgres_lost, "somebody else holds a lock"};
    for (int again = 0; again < 10; ++again) {
        EXPECT_THAT(begin(), Contains("close_postgres"));
        EXPECT_THAT(script_.last_log(),
                    AllOf(HasSubstr("which tell whether somebody has moved it, could not be read: "
                                    "somebody else holds a lock"),
                          HasSubstr("trying again")));
        script_.passes(1min);
    }
    script_.newest_rows_unread.reset();
    script_.newest_rows = asks_for({{0, "c", wall_time(30s)}});
    EXPECT_THAT(begin(), Not(Contains("close_postgres")));
    EXPECT_THAT(script_.frame(test::keepalive_frame(lsn{second})), Contains("look_for_rows c"));
}

/// A server that is too slow for it is so tomorrow.
TEST_F(RelayBesideAMovedSlot, GoesOnUnprovedWhereTheRowsAreNeverReadInTime) {
    script_.newest_rows = asks_for({});
    script_.newest_rows->is_whole = false;
    script_.newest_rows->took_too_long = true;
    for (int again = 0; again < 3; ++again) {
        EXPECT_THAT(begin(), Contains("close_postgres"));
        script_.passes(1min);
    }
    EXPECT_THAT(begin(), Not(Contains("close_postgres")));
    EXPECT_THAT(script_.log_lines(), Contains(HasSubstr("that is not noticed")));
}

class RelayThatGoesOnWithout : public RelayAndMissingRow {
protected:
    RelayThatGoesOnWithout() {
        script_.postgres_fails();
        script_.passes(1s);
        script_.goes_on_without = true;
        script_.postgres_connects_with(relay_script::origin, lsn{first + 1});
        script_.frame(test::keepalive_frame(lsn{second}));
    }
};

TEST_F(RelayThatGoesOnWithout, KeepsThatNobodyIsToMissTheRow) {
    const auto actions = script_.rows_are_missing({"c"});
    EXPECT_THAT(actions, Contains("leave_out c"));
    EXPECT_THAT(actions, Not(Contains("store_halt")));
    EXPECT_THAT(script_.rows_are_left_out({}), IsEmpty());
}

TEST_F(RelayThatGoesOnWithout, SaysWhenThatIsNotKept) {
    script_.rows_are_missing({"c"});
    script_.rows_are_left_out(error{errc::postgres_lost, "the connection ended"});
    EXPECT_THAT(script_.last_log(), HasSubstr("the next start misses these rows again"));
}

TEST_F(RelayThatGoesOnWithout, KeepsNothingWhereNothingIsMissing) {
    EXPECT_THAT(script_.rows_are_missing({}), Not(Contains(HasSubstr("leave_out"))));
}

/// A relay that streams, and hears what comes.
class RelayThatHears : public testing::Test {
protected:
    RelayThatHears() {
        script_.start();
        script_.broker_connects(0, std::nullopt);
        script_.postgres_connects_with(relay_script::origin, lsn{first});
        EXPECT_TRUE(script_.hears_new_rows());
        script_.transaction(first, {"a"});
    }
    static roll called(std::vector<std::string> ids) {
        roll asked;
        for (auto& id : ids) {
            asked.rows.push_back({0, std::move(id), {}});
        }
        asked.committed_before = lsn{second};
        asked.is_exact = true;
        return asked;
    }

    relay_script script_;
};

TEST_F(RelayThatHears, MissesARowThatDoesNotCome) {
    script_.new_rows_are_called(called({"a", "b", "c"}));
    script_.transaction(first + 100, {"b"});
    EXPECT_THAT(script_.frame(test::keepalive_frame(lsn{second})), Contains("look_for_rows c"));
}

/// Nothing comes over the connection any more, and nobody ends it.
TEST_F(RelayThatHears, IsAsFarBehindAsTheRowThatDoesNotCome) {
    script_.acks(1);
    script_.frame(test::keepalive_frame(lsn{first + 8}));
    const auto lag = [&] { return script_.machine().status({{}, wall_time(90s)}).lag; };
    EXPECT_EQ(lag(), 0s);
    auto asked = called({"a", "c"});
    asked.rows.back().created_at = wall_time(30s);
    script_.new_rows_are_called(asked);
    EXPECT_EQ(lag(), 60s);
    script_.transaction(first + 100, {"c"});
    script_.acks(2);
    EXPECT_EQ(lag(), 0s);
}

TEST_F(RelayThatHears, MissesNothingWhereAllHaveCome) {
    script_.new_rows_are_called(called({"a"}));
    EXPECT_THAT(script_.frame(test::keepalive_frame(lsn{second})),
                Not(Contains(HasSubstr("look_for_rows"))));
    EXPECT_TRUE(script_.hears_new_rows()) << "again";
}

TEST_F(RelayThatHears, AsksForNothingThatItHeardOverAnotherConnection) {
    script_.postgres_fails();
    script_.passes(1s);
    script_.postgres_connects_with(relay_script::origin, lsn{first});
    script_.new_rows_are_called(called({"z"}));
    EXPECT_THAT(script_.frame(test::keepalive_frame(lsn{second})),
                Not(Contains(HasSubstr("look_for_rows"))));
}

}  // namespace
}  // namespace walrelay::relay
