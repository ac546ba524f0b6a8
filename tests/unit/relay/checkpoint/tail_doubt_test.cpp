#include "relay/checkpoint/tail_doubt.hpp"

#include <gtest/gtest.h>

namespace walrelay::relay {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr monotonic_time start{seconds(1000)};

TEST(TailDoubt, BelievesASingleServerAfterThreeLooksAndASecond) {
    tail_doubt doubt;
    EXPECT_TRUE(doubt.doubts(false, start));
    EXPECT_TRUE(doubt.doubts(false, start + milliseconds(500)));
    EXPECT_TRUE(doubt.doubts(false, start + milliseconds(999)));
    EXPECT_FALSE(doubt.doubts(false, start + seconds(1)));
}

TEST(TailDoubt, WantsThreeLooksHoweverLongTheyTake) {
    tail_doubt doubt;
    EXPECT_TRUE(doubt.doubts(false, start));
    EXPECT_TRUE(doubt.doubts(false, start + seconds(60)));
    EXPECT_FALSE(doubt.doubts(false, start + seconds(61)));
}

TEST(TailDoubt, GivesAClusterTheTimeThatALostLeaderNeedsToNotice) {
    tail_doubt doubt;
    for (int look = 0; look < 24; ++look) {
        EXPECT_TRUE(doubt.doubts(true, start + seconds(look)));
    }
    EXPECT_FALSE(doubt.doubts(true, start + seconds(25)));
}

TEST(TailDoubt, CountsOnlyAPartOfATimeInWhichNobodyLooked) {
    tail_doubt doubt;
    EXPECT_TRUE(doubt.doubts(true, start));
    EXPECT_TRUE(doubt.doubts(true, start + seconds(100)));
    EXPECT_TRUE(doubt.doubts(true, start + seconds(101))) << "another server, seen for a second";
    EXPECT_TRUE(doubt.doubts(true, start + seconds(114)));
    EXPECT_FALSE(doubt.doubts(true, start + seconds(124)));
}

TEST(TailDoubt, BeginsAnewAfterALookThatShowsAll) {
    tail_doubt doubt;
    EXPECT_TRUE(doubt.doubts(false, start));
    EXPECT_TRUE(doubt.doubts(false, start));
    doubt.settled();
    EXPECT_TRUE(doubt.doubts(false, start + seconds(60)));
}

}  // namespace
}  // namespace walrelay::relay
