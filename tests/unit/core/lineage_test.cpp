#include "core/lineage.hpp"

#include <gmock/gmock.h>

namespace walrelay {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Optional;

constexpr lsn first_switch{0x3000000};
constexpr lsn second_switch{0x5000110};

lineage third_timeline() {
    return {.origin = {7, 3}, .ancestors = {{1, first_switch}, {2, second_switch}}};
}

position at(std::uint32_t timeline, lsn commit) {
    return {{7, timeline}, {commit, {}, 0}};
}

TEST(Lineage, ReadsAHistoryFile) {
    EXPECT_THAT(
        parse_timeline_history("1\t0/3000000\tno recovery target specified\n"
                               "\n"
                               "2\t0/5000110\tbefore 2000-01-01 00:00:00+00\n"),
        Optional(ElementsAre(timeline_end{1, first_switch}, timeline_end{2, second_switch})));
}

TEST(Lineage, ReadsAHistoryFileWithCommentsAndWithoutALastNewline) {
    EXPECT_THAT(parse_timeline_history("# by hand\n 1 0/3000000"),
                Optional(ElementsAre(timeline_end{1, first_switch})));
    EXPECT_THAT(parse_timeline_history(""), Optional(IsEmpty()));
}

TEST(Lineage, ReadsNothingElse) {
    for (const auto* text : {"1", "1\t", "0\t0/3000000\t", "1\tnonsense\t", "x\t0/3000000\t",
                             "4294967296\t0/3000000\t", "1\t0/3000000\t\n2"}) {
        EXPECT_EQ(parse_timeline_history(text), std::nullopt) << text;
    }
}

TEST(Lineage, KnowsWhereItsAncestorsEnded) {
    EXPECT_EQ(third_timeline().end_of(1), first_switch);
    EXPECT_EQ(third_timeline().end_of(2), second_switch);
    EXPECT_EQ(third_timeline().end_of(3), std::nullopt);
    EXPECT_EQ(third_timeline().end_of(4), std::nullopt);
}

TEST(Lineage, IncludesItselfAndItsAncestors) {
    for (const std::uint32_t timeline : {1U, 2U, 3U}) {
        EXPECT_TRUE(third_timeline().includes(timeline)) << timeline;
    }
    EXPECT_FALSE(third_timeline().includes(4));
}

TEST(Lineage, SharesWhatLiesBeforeTheSwitchPoint) {
    const auto line = third_timeline();
    EXPECT_TRUE(line.shares(at(1, lsn{first_switch.value - 1})));
    EXPECT_FALSE(line.shares(at(1, first_switch)));
    EXPECT_TRUE(line.shares(at(2, lsn{second_switch.value - 1})));
    EXPECT_FALSE(line.shares(at(2, second_switch)));
    EXPECT_TRUE(line.shares(at(3, lsn{~0ULL})));
    EXPECT_FALSE(line.shares(at(4, lsn{1})));
}

TEST(Lineage, KnowsWhichTimelineWroteAPlace) {
    const auto line = third_timeline();
    EXPECT_EQ(line.timeline_of(lsn{first_switch.value - 1}), 1U);
    EXPECT_EQ(line.timeline_of(first_switch), 2U);
    EXPECT_EQ(line.timeline_of(second_switch), 3U);
    EXPECT_EQ((lineage{{7, 3}, {}}).timeline_of(lsn{1}), 3U);
}

TEST(Lineage, SharesNothingWithAnotherSystem) {
    EXPECT_FALSE(third_timeline().shares({{8, 3}, {lsn{1}, {}, 0}}));
    EXPECT_FALSE(third_timeline().shares({{8, 1}, {lsn{1}, {}, 0}}));
}

TEST(Lineage, SwitchPointsAreReadBackFromTheirText) {
    const auto ends = third_timeline().ancestors;
    EXPECT_EQ(to_string(ends), "1@0/3000000,2@0/5000110");
    EXPECT_EQ(parse_timeline_ends(to_string(ends)), ends);
    EXPECT_THAT(parse_timeline_ends(""), Optional(IsEmpty()));
    for (const auto* text : {"1", "1@", "@0/3000000", "0@0/3000000", "1@0/3000000,,2@0/5000110",
                             "1@0/3000000 ", "1@0/3000000;2@0/5000110"}) {
        EXPECT_EQ(parse_timeline_ends(text), std::nullopt) << text;
    }
}

}  // namespace
}  // namespace walrelay
