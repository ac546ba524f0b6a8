#include "relay/machine/roll_call.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace walrelay::relay {
namespace {

using std::chrono::seconds;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

constexpr lsn end{100};

wall_time at(int second) {
    return wall_time(seconds(second));
}

roll rows(std::vector<roll_row> asked, int taken_at = 1000) {
    return {std::move(asked), end, at(taken_at)};
}

/// A stream that has had "a" at 10 and "b" at 20.
roll_call after_two_messages() {
    roll_call call;
    call.stream_has({{"a", at(10), 1}, {"b", at(20), 2}}, {}, {});
    return call;
}

std::vector<std::string> ids_at(roll_call& call, lsn where) {
    std::vector<std::string> ids;
    for (const auto& row : call.slot_has_come_to(where)) {
        ids.push_back(row.id);
    }
    return ids;
}

TEST(RollCall, AsksForNobodyWhomItHasHeard) {
    roll_call call;
    EXPECT_FALSE(call.wants_rows());
    call.hear();
    EXPECT_TRUE(call.wants_rows());
    call.delivered("a");
    auto asked = rows({{0, "a", at(1)}, {0, "b", at(2)}, {0, "c", at(3)}});
    asked.is_exact = true;
    call.begin(asked);
    EXPECT_FALSE(call.is_hearing());
    call.delivered("b");
    EXPECT_THAT(ids_at(call, end), UnorderedElementsAre("c"));
    EXPECT_FALSE(call.wants_rows());
}

TEST(RollCall, TellsSinceWhenSomebodyIsAwaited) {
    roll_call call;
    EXPECT_FALSE(call.oldest_awaited());
    auto asked = rows({{0, "a", at(2)}, {0, "b", at(1)}, {1, "no time", {}}});
    asked.is_exact = true;
    call.begin(asked);
    EXPECT_EQ(call.oldest_awaited(), at(1));
    call.delivered("b");
    EXPECT_EQ(call.oldest_awaited(), at(2));
    call.delivered("a");
    static_cast<void>(call.slot_has_come_to(end));
    EXPECT_FALSE(call.oldest_awaited());
}

TEST(RollCall, KnowsNothingOfWhatTheLastLookDidNotShow) {
    for (const auto& later : {std::vector<recent_message>{}, {{"b", at(20), 2}}}) {
        auto call = after_two_messages();
        call.stream_has(later, {}, {});
        auto asked = rows({{0, "a", at(10)}});
        asked.is_exact = true;
        call.begin(asked);
        EXPECT_THAT(ids_at(call, end), UnorderedElementsAre("a"));
    }
}

TEST(RollCall, RemembersNotMoreThanItCan) {
    roll_call call;
    call.hear();
    for (int row = 0; call.is_hearing() && row < 1000000; ++row) {
        call.delivered(std::to_string(row));
    }
    EXPECT_FALSE(call.is_hearing());
    EXPECT_EQ(call.heard(), 0U);
}

TEST(RollCall, DoesNotBeginToHearWhileSomebodyIsAskedFor) {
    roll_call call;
    auto asked = rows({{0, "a", at(1)}});
    asked.is_exact = true;
    call.begin(asked);
    call.hear();
    EXPECT_FALSE(call.is_hearing());
    call.delivered("a");
    EXPECT_THAT(ids_at(call, end), IsEmpty());
}

TEST(RollCall, EndsAtOnceWhereTheStreamHasEveryRow) {
    auto call = after_two_messages();
    call.begin(rows({{0, "b", at(19)}, {0, "a", at(9)}}));
    EXPECT_FALSE(call.is_open());
    EXPECT_THAT(ids_at(call, end), IsEmpty());
}

TEST(RollCall, GivesTheRowsThatTheSlotHasNotBroughtWhenItHasComeFarEnough) {
    auto call = after_two_messages();
    call.begin(rows({{0, "d", at(40)}, {0, "c", at(30)}, {0, "b", at(19)}, {0, "a", at(9)}}));
    ASSERT_TRUE(call.is_open());
    EXPECT_THAT(ids_at(call, lsn{99}), IsEmpty());
    EXPECT_TRUE(call.is_open());
    EXPECT_THAT(ids_at(call, end), UnorderedElementsAre("c", "d"));
    EXPECT_FALSE(call.is_open());
    EXPECT_THAT(ids_at(call, lsn{200}), IsEmpty());
}

TEST(RollCall, TellsOfEachRowWhichTableHasIt) {
    auto call = after_two_messages();
    call.begin(rows({{7, "c", at(30)}, {7, "b", at(19)}, {0, "a", at(9)}}));
    EXPECT_THAT(call.slot_has_come_to(end), UnorderedElementsAre(roll_row{7, "c", at(30)}));
}

TEST(RollCall, EndsWhereTheSlotBringsTheRows) {
    auto call = after_two_messages();
    call.begin(rows({{0, "c", at(30)}, {0, "b", at(19)}, {0, "a", at(9)}}));
    call.delivered("other");
    call.delivered("c");
    EXPECT_THAT(ids_at(call, lsn{50}), IsEmpty());
    EXPECT_FALSE(call.is_open());
}

TEST(RollCall, TakesALaterLookAtTheStreamForAnAnswer) {
    auto call = after_two_messages();
    call.begin(rows({{0, "c", at(30)}, {0, "b", at(19)}, {0, "a", at(9)}}));
    call.stream_has({{"c", at(31), 3}}, {}, {});
    EXPECT_THAT(ids_at(call, end), IsEmpty());
}

TEST(RollCall, AsksForNoRowFromBeforeTheOldestMessageThatWasLookedAt) {
    auto call = after_two_messages();
    // Made before "a" was stored: it may have been committed before there was a slot.
    call.begin(rows({{0, "b", at(19)}, {0, "early", at(9)}, {0, "a", at(5)}}));
    EXPECT_FALSE(call.is_open());
}

TEST(RollCall, AsksForNoRowFromBeforeTheConfigurationChanged) {
    roll_call call;
    call.stream_has({{"a", at(10), 1}, {"b", at(20), 2}, {"d", at(40), 3}}, {1, 2}, {});
    call.begin(rows({{0, "left out", at(15)}, {0, "e", at(50)}, {0, "a", at(9)}}));
    EXPECT_THAT(ids_at(call, end), UnorderedElementsAre("e"));
    roll_call all_before;
    all_before.stream_has({{"a", at(10), 1}, {"b", at(20), 2}}, {1, 2}, {});
    all_before.begin(rows({{0, "e", at(50)}, {0, "a", at(9)}}));
    EXPECT_FALSE(all_before.is_open());
}

TEST(RollCall, AsksForRowsBehindWhichOneOfTheOldConfigurationCameLate) {
    roll_call call;
    call.stream_has({{"a", at(10), 1}, {"b", at(20), 2}, {"late", at(40), 3}}, {1, 3}, {});
    call.begin(rows({{0, "c", at(25)}, {0, "a", at(9)}}));
    EXPECT_THAT(ids_at(call, end), UnorderedElementsAre("c"));
}

TEST(RollCall, AsksForNoRowOfATableThatTheStreamHasNothingOf) {
    auto call = after_two_messages();
    call.begin(rows({{1, "x", at(30)}, {0, "b", at(19)}, {0, "a", at(9)}}));
    EXPECT_FALSE(call.is_open());
}

TEST(RollCall, AsksForNobodyWhereNothingIsKnownOfTheStream) {
    roll_call call;
    call.begin(rows({{0, "x", at(30)}}));
    EXPECT_FALSE(call.is_open());
}

TEST(RollCall, AllowsForAClockOfTheRowsThatIsAhead) {
    auto call = after_two_messages();
    // The rows' clock is 100 s ahead: "early" was made at 8 on the broker's.
    call.begin(
        rows({{0, "c", at(130)}, {0, "early", at(108)}, {0, "b", at(119)}, {0, "a", at(107)}}));
    EXPECT_THAT(ids_at(call, end), UnorderedElementsAre("c"));
}

TEST(RollCall, AsksForNoRowOfTheFuture) {
    auto call = after_two_messages();
    call.begin(rows({{0, "c", at(1001)}, {0, "b", at(19)}, {0, "a", at(9)}}, 1000));
    EXPECT_FALSE(call.is_open());
}

}  // namespace
}  // namespace walrelay::relay
