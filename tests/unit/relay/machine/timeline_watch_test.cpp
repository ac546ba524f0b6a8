#include "relay/machine/timeline_watch.hpp"

#include <gtest/gtest.h>

namespace walrelay::relay {
namespace {

constexpr lsn commit{100};
constexpr std::uint32_t timeline = 3;

TEST(TimelineWatch, AsksNothingOfAPrimary) {
    timeline_watch watch;
    watch.begin(false);
    EXPECT_FALSE(watch.asks_before(commit));
    EXPECT_FALSE(watch.is_asking());
}

TEST(TimelineWatch, AsksAStandbyOnceForAllThatIsOnItsWay) {
    timeline_watch watch;
    watch.begin(true);
    EXPECT_TRUE(watch.asks_before(commit));
    EXPECT_TRUE(watch.is_asking());
    const replay_place place{.up_to = lsn{500}, .timeline = timeline};
    EXPECT_EQ(watch.answered(place, timeline, commit, "s"), std::nullopt);
    EXPECT_FALSE(watch.is_asking());
    EXPECT_FALSE(watch.asks_before(lsn{500}));
    EXPECT_TRUE(watch.asks_before(lsn{501}));
}

TEST(TimelineWatch, GivesTheConnectionUpWhereTheTimelineChanged) {
    timeline_watch watch;
    watch.begin(true);
    EXPECT_TRUE(watch.asks_before(commit));
    const replay_place place{.up_to = lsn{500}, .timeline = timeline + 1};
    const auto why = watch.answered(place, timeline, commit, "s");
    ASSERT_TRUE(why);
    EXPECT_NE(why->what.find("from timeline 3 to 4"), std::string::npos) << why->what;
}

TEST(TimelineWatch, GivesTheConnectionUpWhereTheTransactionIsNotKnownToBeReplayed) {
    timeline_watch watch;
    watch.begin(true);
    EXPECT_TRUE(watch.asks_before(commit));
    const auto why =
        watch.answered(replay_place{.up_to = lsn{99}, .timeline = timeline}, timeline, commit, "s");
    ASSERT_TRUE(why);
    EXPECT_NE(why->what.find("before it tells of which timeline"), std::string::npos);
    EXPECT_TRUE(watch.asks_before(commit));
}

TEST(TimelineWatch, PassesOnThatNobodyAnswers) {
    timeline_watch watch;
    watch.begin(true);
    EXPECT_TRUE(watch.asks_before(commit));
    const error lost{errc::postgres_lost, "gone"};
    const auto why = watch.answered(lost, timeline, commit, "s");
    ASSERT_TRUE(why);
    EXPECT_EQ(why->what, "gone");
    watch.end();
    EXPECT_FALSE(watch.asks_before(commit));
}

TEST(TimelineWatch, RemembersThatTheServerCanHaveGoneOnUnderTheLastSession) {
    timeline_watch watch;
    EXPECT_FALSE(watch.may_have_gone_on());
    watch.begin(true);
    watch.end();
    EXPECT_TRUE(watch.may_have_gone_on());
    watch.begin(false);
    watch.end();
    EXPECT_FALSE(watch.may_have_gone_on());
}

}  // namespace
}  // namespace walrelay::relay
