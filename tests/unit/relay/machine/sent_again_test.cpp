#include "relay/machine/sent_again.hpp"

#include <gtest/gtest.h>

namespace walrelay::relay {
namespace {

const position tail{{7, 1}, {lsn{900}, lsn{890}}};

TEST(SentAgain, CountsWhatWasSkippedUntilTheTailIsMet) {
    sent_again rows;
    rows.begin(lsn{100}, tail, 5);
    ASSERT_TRUE(rows.is_open());
    const auto found = rows.met(12);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->from, lsn{100});
    EXPECT_EQ(found->up_to, tail);
    EXPECT_EQ(found->rows, 7U);
    EXPECT_FALSE(rows.is_open());
}

TEST(SentAgain, SaysNothingWhereNoRowWas) {
    sent_again rows;
    rows.begin(lsn{100}, tail, 5);
    EXPECT_FALSE(rows.met(5));
}

TEST(SentAgain, IsOfTheFirstConnectionAlone) {
    sent_again rows;
    rows.begin(lsn{100}, std::nullopt, 0);
    EXPECT_FALSE(rows.is_open());
    rows.begin(lsn{100}, tail, 0);
    EXPECT_FALSE(rows.is_open());
}

}  // namespace
}  // namespace walrelay::relay
