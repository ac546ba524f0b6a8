#include "core/progress.hpp"

#include <gtest/gtest.h>

namespace walrelay {
namespace {

TEST(Progress, SaysRowsRateShareAndTimeLeft) {
    EXPECT_EQ(describe({.done = 41'000, .total = 100'000, .seconds = 4.1}, "rows"),
              "41,000 of 100,000 rows, 10,000 a second, 41 %, 6 s left");
}

TEST(Progress, SaysThatATotalIsAnEstimate) {
    EXPECT_EQ(describe({.done = 10, .total = 2'000, .is_estimate = true, .seconds = 1}, "rows"),
              "10 of about 2,000 rows, 10 a second, 0 %, 4 min left");
}

TEST(Progress, PromisesNothingOnceMoreIsDoneThanWasExpected) {
    EXPECT_EQ(describe({.done = 30, .total = 20, .is_estimate = true, .seconds = 3}, "rows"),
              "30 of about 20 rows, 10 a second");
}

TEST(Progress, KnowsNoRateBeforeTheFirstRow) {
    EXPECT_EQ(describe({.done = 0, .total = 20, .seconds = 3}, "rows"), "0 of 20 rows");
    EXPECT_EQ(describe({.done = 5, .total = 20, .seconds = 0}, "rows"), "5 of 20 rows");
}

TEST(Progress, TellsLongTimesInMinutesAndHours) {
    EXPECT_EQ(describe({.done = 1, .total = 601, .seconds = 1}, "rows"),
              "1 of 601 rows, 1 a second, 0 %, 10 min left");
    EXPECT_EQ(describe({.done = 1, .total = 36'001, .seconds = 1}, "rows"),
              "1 of 36,001 rows, 1 a second, 0 %, 10 h left");
}

TEST(Progress, SaysOneOfOneAndManyOfMany) {
    EXPECT_EQ(counted(0, "row"), "0 rows");
    EXPECT_EQ(counted(1, "dead letter"), "1 dead letter");
    EXPECT_EQ(counted(41'000, "row"), "41,000 rows");
}

TEST(Progress, SetsCommasBetweenThousands) {
    EXPECT_EQ(with_thousands(0), "0");
    EXPECT_EQ(with_thousands(999), "999");
    EXPECT_EQ(with_thousands(1'000), "1,000");
    EXPECT_EQ(with_thousands(12'345'678), "12,345,678");
}

}  // namespace
}  // namespace walrelay
