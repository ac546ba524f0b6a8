#include "core/occasion.hpp"

#include <gtest/gtest.h>

namespace walrelay {
namespace {

TEST(Occasion, OfARetryNamesLetterAndNumber) {
    EXPECT_EQ(parse_retry("retry-7-12"), (letter_retry{7, 12}));
    for (const auto* const other :
         {"", "retry", "retry-", "retry-7", "retry-7-", "retry-7-1x", "retry--7-1", "retry-0-1",
          "retry-7-0", "retry-7-1-1", "retry-99999999999999999999-1", "replay-7-1",
          "republish-0000000000000001-1"}) {
        EXPECT_EQ(parse_retry(other), std::nullopt) << other;
    }
}

TEST(Occasion, LastIsWhatFollowsTheLastMark) {
    EXPECT_EQ(last_occasion("a;replay-1;retry-7-1"), "retry-7-1");
    EXPECT_EQ(last_occasion("a"), "a");
    EXPECT_EQ(last_occasion("a;"), "");
}

}  // namespace
}  // namespace walrelay
