#include "relay/machine/first_transaction.hpp"

#include <gtest/gtest.h>

namespace walrelay::relay {
namespace {

TEST(FirstTransaction, IsNamedOnceHoweverOftenItsRowIsSeenToCome) {
    first_transaction first;
    EXPECT_TRUE(first.comes(lsn{100}));
    EXPECT_FALSE(first.comes(lsn{100}));
    first.is_here();
    EXPECT_FALSE(first.is_awaited());
}

TEST(FirstTransaction, IsFollowedByTheNextWhereItHadNoRowThatCounts) {
    first_transaction first;
    EXPECT_TRUE(first.comes(lsn{100}));
    EXPECT_TRUE(first.is_awaited());
    EXPECT_TRUE(first.comes(lsn{200}));
    first.is_here();
    EXPECT_FALSE(first.comes(lsn{300})) << "the rows are on their way";
}

}  // namespace
}  // namespace walrelay::relay
