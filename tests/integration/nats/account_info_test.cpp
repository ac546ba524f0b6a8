#include "nats/requests/account_info.hpp"

#include <gtest/gtest.h>

namespace walrelay::nats {
namespace {

constexpr const char* without_tiers = R"({"type": "io.nats.jetstream.api.v1.account_info_response",
 "memory": 0, "storage": 700, "reserved_storage": 1000, "streams": 2, "consumers": 1,
 "limits": {"max_memory": -1, "max_storage": 5000, "max_streams": 10, "max_consumers": 3,
            "storage_max_stream_bytes": 2000, "max_bytes_required": true}})";

constexpr const char* with_tiers = R"({"memory": 0, "storage": 700, "streams": 3,
 "limits": {"max_memory": 0, "max_storage": 0, "max_streams": 0, "max_consumers": 0},
 "tiers": {"R1": {"storage": 100, "reserved_storage": 0, "streams": 1,
                  "limits": {"max_storage": 1000, "max_streams": 1, "max_consumers": -1}},
           "R3": {"storage": 600, "streams": 2,
                  "limits": {"max_storage": 9000, "max_streams": 5, "max_consumers": 2}}}})";

TEST(AccountInfo, TellsTheLimitsOfAllStreamsTogether) {
    const auto told = account_limits_in(without_tiers, 3);
    ASSERT_TRUE(told);
    EXPECT_EQ(told->streams_max, 10);
    EXPECT_EQ(told->streams, 2);
    EXPECT_EQ(told->consumers_max, 3);
    EXPECT_EQ(told->storage_max, 5000);
    EXPECT_EQ(told->storage, 700U);
    EXPECT_EQ(told->reserved, 1000U);
    EXPECT_EQ(told->stream_bytes_max, 2000);
    EXPECT_TRUE(told->needs_max_bytes);
    EXPECT_EQ(told->copies, 3) << "each replica counts";
}

TEST(AccountInfo, TellsThoseOfTheTierOfAStreamWithSoManyReplicas) {
    const auto three = account_limits_in(with_tiers, 3);
    ASSERT_TRUE(three);
    EXPECT_EQ(three->storage_max, 9000);
    EXPECT_EQ(three->streams_max, 5);
    EXPECT_EQ(three->consumers_max, 2);
    EXPECT_EQ(three->copies, 1) << "the limit is that of one replica";
    EXPECT_FALSE(three->reserved);
    const auto one = account_limits_in(with_tiers, 1);
    ASSERT_TRUE(one);
    EXPECT_EQ(one->storage_max, 1000);
    EXPECT_EQ(one->consumers_max, -1);
    const auto five = account_limits_in(with_tiers, 5);
    ASSERT_TRUE(five);
    EXPECT_EQ(five->missing_tier, "R5");
}

TEST(AccountInfo, TellsNothingOfWhatHoldsNoLimits) {
    EXPECT_FALSE(account_limits_in("", 1));
    EXPECT_FALSE(account_limits_in("no JSON", 1));
    EXPECT_FALSE(account_limits_in("[]", 1));
    EXPECT_FALSE(account_limits_in(R"({"error": {"code": 503, "err_code": 10039}})", 1));
    const auto unlimited = account_limits_in(R"({"streams": 1, "limits": {}})", 1);
    ASSERT_TRUE(unlimited);
    EXPECT_EQ(unlimited->storage_max, -1);
    EXPECT_EQ(unlimited->streams_max, -1);
}

}  // namespace
}  // namespace walrelay::nats
