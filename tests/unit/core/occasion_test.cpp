#include "core/occasion.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>

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

TEST(Occasion, IsKnownByItsForm) {
    EXPECT_EQ(occasion_of("retry-7-12"), occasion_kind::retry);
    EXPECT_EQ(occasion_of("republish-00000000000000FF-0"), occasion_kind::republication);
    EXPECT_EQ(occasion_of("republish-00000000000000FF-0-2"), occasion_kind::republication);
    EXPECT_EQ(occasion_of("replay-7"), occasion_kind::replay);
    EXPECT_EQ(occasion_of("replay-7-7123.1.00000000000000FF.00000000000000AB.0"),
              occasion_kind::replay);
    for (const auto* const other :
         {"", "7", "again", "retry", "retry-7", "retry-7-x", "republish-1", "republish-FF-0",
          "republish-00000000000000FF", "replay-", "replay-x", "replay-7-"}) {
        EXPECT_EQ(occasion_of(other), occasion_kind::none) << other;
    }
}

TEST(Occasion, IsTakenOffOneByOne) {
    std::string ids;
    for_each_row_id("a;b;replay-1;retry-7-1",
                    [&](std::string_view id) { ids.append(id).append(" "); });
    EXPECT_EQ(ids, "a;b;replay-1;retry-7-1 a;b;replay-1 a;b ");
    EXPECT_EQ(without_last_occasion("a;b"), std::nullopt);
}

TEST(Occasion, LastIsWhatFollowsTheLastMark) {
    EXPECT_EQ(last_occasion("a;replay-1;retry-7-1"), "retry-7-1");
    EXPECT_EQ(last_occasion("a"), "a");
    EXPECT_EQ(last_occasion("a;"), "");
}

}  // namespace
}  // namespace walrelay
