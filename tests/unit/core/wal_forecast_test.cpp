#include "core/wal_forecast.hpp"

#include <gtest/gtest.h>

namespace walrelay {
namespace {

using namespace std::chrono_literals;

class WalForecast : public testing::Test {
protected:
    void add(std::chrono::seconds after, std::optional<std::int64_t> safe_wal_bytes) {
        forecast_.add(monotonic_time{} + after, safe_wal_bytes);
    }

    wal_forecast forecast_;
};

TEST_F(WalForecast, GoesOnAsBefore) {
    add(0s, 1000);
    add(60s, 400);
    EXPECT_EQ(forecast_.left(), 40s);
}

TEST_F(WalForecast, SaysNothingWhereTheSlotMovesOn) {
    add(0s, 1000);
    add(60s, 1000);
    EXPECT_EQ(forecast_.left(), std::nullopt);
    add(120s, 2000);
    EXPECT_EQ(forecast_.left(), std::nullopt);
}

TEST_F(WalForecast, SaysNothingAfterAFewSeconds) {
    EXPECT_EQ(forecast_.left(), std::nullopt);
    add(0s, 1000);
    add(29s, 10);
    EXPECT_EQ(forecast_.left(), std::nullopt);
}

TEST_F(WalForecast, ForgetsWhatIsLongAgo) {
    add(0s, 1'000'000);
    add(600s, 1000);
    add(660s, 400);
    EXPECT_EQ(forecast_.left(), 40s);
}

TEST_F(WalForecast, BeginsAnewAfterAGap) {
    add(0s, 1000);
    add(60s, std::nullopt);
    add(61s, 400);
    EXPECT_EQ(forecast_.left(), std::nullopt);
}

TEST_F(WalForecast, IsOverAtTheEdge) {
    add(0s, 1000);
    add(60s, -5);
    EXPECT_EQ(forecast_.left(), 0s);
}

}  // namespace
}  // namespace walrelay
