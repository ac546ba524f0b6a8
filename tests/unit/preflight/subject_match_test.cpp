#include "preflight/preflight.hpp"

#include <gtest/gtest.h>

namespace walrelay::preflight {
namespace {

TEST(SubjectCovers, TakesTheSameSubject) {
    EXPECT_TRUE(subject_covers("events.user", "events.user"));
    EXPECT_FALSE(subject_covers("events.user", "events.order"));
}

TEST(SubjectCovers, TakesAnyTokenForAStar) {
    EXPECT_TRUE(subject_covers("events.*.*", "events.user.*"));
    EXPECT_FALSE(subject_covers("events.user.*", "events.*.*"));
    EXPECT_FALSE(subject_covers("events.*", "events.*.*"));
}

TEST(SubjectCovers, TakesAnyTailForAGreaterThan) {
    EXPECT_TRUE(subject_covers("events.>", "events.*.*"));
    EXPECT_TRUE(subject_covers(">", "events.*.*"));
    EXPECT_FALSE(subject_covers("events.>", "events"));
    EXPECT_FALSE(subject_covers("events.*", "events.>"));
    EXPECT_TRUE(subject_covers("events.>", "events.*.>"));
    EXPECT_TRUE(subject_covers(">", ">"));
    EXPECT_FALSE(subject_covers("*", ">"));
    EXPECT_FALSE(subject_covers("events.*.*", "events.*.>"));
}

}  // namespace
}  // namespace walrelay::preflight
