#include "audit/order_check.hpp"

#include <gtest/gtest.h>

namespace walrelay::audit {
namespace {

position at(std::uint64_t commit, std::uint64_t ordinal, std::uint32_t timeline = 1) {
    return {{7, timeline}, {lsn{commit}, {}, ordinal}};
}

TEST(OrderCheck, LetsGrowingPositionsPass) {
    order_check order;
    EXPECT_FALSE(order.add(1, at(10, 0)));
    EXPECT_FALSE(order.add(2, at(10, 1)));
    EXPECT_FALSE(order.add(5, at(11, 0)));
}

TEST(OrderCheck, NamesTheMessageBefore) {
    order_check order;
    EXPECT_FALSE(order.add(1, at(10, 0)));
    EXPECT_FALSE(order.add(3, at(12, 4)));
    const auto broken = order.add(4, at(12, 3));
    ASSERT_TRUE(broken);
    EXPECT_EQ(broken->sequence, 3U);
    EXPECT_EQ(broken->at, at(12, 4).at);
}

TEST(OrderCheck, AnEqualPositionIsNoOrder) {
    order_check order;
    EXPECT_FALSE(order.add(1, at(10, 0)));
    EXPECT_TRUE(order.add(2, at(10, 0)));
}

TEST(OrderCheck, OneStrayMessageIsOneFinding) {
    order_check order;
    EXPECT_FALSE(order.add(1, at(10, 0)));
    EXPECT_FALSE(order.add(2, at(99, 0)));
    EXPECT_TRUE(order.add(3, at(11, 0)));
    EXPECT_FALSE(order.add(4, at(12, 0)));
}

TEST(OrderCheck, EachHistoryHasAnOrderOfItsOwn) {
    order_check order;
    EXPECT_FALSE(order.add(1, at(10, 0, 1)));
    EXPECT_FALSE(order.add(2, at(5, 0, 2)));
    EXPECT_EQ(order.last_history(), 1U);
    EXPECT_FALSE(order.add(3, at(11, 0, 1)));
    EXPECT_TRUE(order.add(4, at(5, 0, 2)));
    EXPECT_EQ(order.history_at(order.last_history()).timeline, 2U);
}

}  // namespace
}  // namespace walrelay::audit
