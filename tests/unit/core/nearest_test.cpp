// Which known name was meant.
#include "core/nearest.hpp"

#include <gtest/gtest.h>

namespace walrelay {
namespace {

TEST(EditDistance, CountsInsertionsDeletionsReplacementsAndSwaps) {
    EXPECT_EQ(edit_distance("", ""), 0U);
    EXPECT_EQ(edit_distance("slot", "slot"), 0U);
    EXPECT_EQ(edit_distance("", "abc"), 3U);
    EXPECT_EQ(edit_distance("slt", "slot"), 1U);
    EXPECT_EQ(edit_distance("sloot", "slot"), 1U);
    EXPECT_EQ(edit_distance("slat", "slot"), 1U);
    EXPECT_EQ(edit_distance("solt", "slot"), 1U);
    EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
}

TEST(FoldedName, IsTheSameInEverySpelling) {
    for (const auto* each : {"outboxevents", "OutboxEvents", "outbox_events", "OUTBOX_Events_"}) {
        EXPECT_EQ(folded_name(each), "outboxevents");
    }
}

TEST(Nearest, PicksTheNameWithTheFewestChanges) {
    EXPECT_EQ(nearest("straem", {"subjects", "stream", "replicas"}), "stream");
}

TEST(Nearest, TakesABeginningForTheWholeName) {
    EXPECT_EQ(nearest("password", {"user", "password_file"}), "password_file");
}

TEST(Nearest, FindsNothingWhereNothingIsNear) {
    EXPECT_EQ(nearest("favourite_colour", {"level", "format"}), std::nullopt);
    EXPECT_EQ(nearest("x", {}), std::nullopt);
}

}  // namespace
}  // namespace walrelay
