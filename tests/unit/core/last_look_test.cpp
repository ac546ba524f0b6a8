#include "core/last_look.hpp"

#include <gtest/gtest.h>

namespace walrelay {
namespace {

constexpr monotonic_time start{std::chrono::hours(1)};

TEST(LastLook, HoldsNothingBeforeItWasMade) {
    EXPECT_FALSE(last_look().still_holds("", start));
    EXPECT_FALSE(last_look().still_holds("A", start));
}

TEST(LastLook, HoldsUntilTheSignIsAnother) {
    last_look look;
    look.was_made("A", start);
    EXPECT_TRUE(look.still_holds("A", start));
    EXPECT_FALSE(look.still_holds("B", start));
}

TEST(LastLook, HoldsNothingWhereTheSignIsNotKnown) {
    last_look look;
    look.was_made("A", start);
    EXPECT_FALSE(look.still_holds("", start));
    look.was_made("", start);
    EXPECT_FALSE(look.still_holds("", start)) << "two signs that are not known are not the same";
    EXPECT_FALSE(look.still_holds("A", start));
}

TEST(LastLook, HoldsForAWhileOnly) {
    last_look look;
    look.was_made("A", start);
    EXPECT_TRUE(look.still_holds("A", start + last_look::at_most - std::chrono::seconds(1)));
    EXPECT_FALSE(look.still_holds("A", start + last_look::at_most));
}

TEST(LastLook, HoldsNothingOnceItIsForgotten) {
    last_look look;
    look.was_made("A", start);
    look.forget();
    EXPECT_FALSE(look.still_holds("A", start));
}

}  // namespace
}  // namespace walrelay
