#include "app/awaited_row.hpp"

#include <gtest/gtest.h>

namespace walrelay::app {
namespace {

using namespace std::chrono_literals;

constexpr wall_time made{10s};

TEST(AwaitedRow, IsToldOfOnceItWasAwaitedAtTheLookBefore) {
    awaited_row row;
    EXPECT_TRUE(row.looked(made)) << "the slot may be a moment behind";
    const auto told = row.looked(made);
    ASSERT_FALSE(told);
    EXPECT_EQ(told.error().code, errc::postgres_unavailable);
    EXPECT_NE(told.error().what.find("have not come yet"), std::string::npos);
    EXPECT_FALSE(row.looked(made)) << "it still has not come";
}

TEST(AwaitedRow, IsNotToldOfWhereTheSlotComesOn) {
    awaited_row row;
    EXPECT_TRUE(row.looked(made));
    EXPECT_TRUE(row.looked(made + 1s)) << "another one is the oldest now";
    EXPECT_TRUE(row.looked(std::nullopt));
    EXPECT_TRUE(row.looked(std::nullopt));
    EXPECT_TRUE(row.looked(made + 1s)) << "it was not awaited at the look before";
}

}  // namespace
}  // namespace walrelay::app
