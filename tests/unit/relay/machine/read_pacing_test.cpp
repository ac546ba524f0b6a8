#include "relay/machine/read_pacing.hpp"

#include <gtest/gtest.h>

namespace walrelay::relay {
namespace {

using namespace std::chrono_literals;

TEST(ReadPacing, HoldsNothingUpThatIsOnTime) {
    read_pacing pacing;
    pacing.took(300);
    EXPECT_EQ(pacing.end_turn(), 0us);
    pacing.took(300);
    pacing.was_sent_after(900us);
    EXPECT_EQ(pacing.end_turn(), 0us);
}

TEST(ReadPacing, LetsRowsGatherWhereTheyAreLateAndFew) {
    read_pacing pacing;
    pacing.took(300);
    pacing.was_sent_after(3ms);
    EXPECT_EQ(pacing.end_turn(), 500us);
    pacing.took(300);
    EXPECT_EQ(pacing.end_turn(), 500us) << "nothing has told that it caught up";
}

TEST(ReadPacing, ReadsOnWhereThereIsMuch) {
    read_pacing pacing;
    pacing.was_sent_after(1h);
    pacing.took(6000);
    pacing.took(6000);
    EXPECT_EQ(pacing.end_turn(), 0us);
    pacing.took(6000);
    EXPECT_EQ(pacing.end_turn(), 500us) << "each turn counts for itself";
}

TEST(ReadPacing, EndsWhereItHasCaughtUp) {
    read_pacing pacing;
    pacing.was_sent_after(1h);
    pacing.was_sent_after(100us);
    EXPECT_EQ(pacing.end_turn(), 0us);
}

TEST(ReadPacing, TakesAClockThatWasSetBackForOneThatIsOnTime) {
    read_pacing pacing;
    pacing.was_sent_after(-1h);
    EXPECT_EQ(pacing.end_turn(), 0us);
}

}  // namespace
}  // namespace walrelay::relay
