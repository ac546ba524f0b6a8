#include "core/latency_histogram.hpp"

#include <gtest/gtest.h>

namespace walrelay {
namespace {

using namespace std::chrono_literals;

TEST(LatencyHistogram, TakesABoundIntoTheRangeThatItEnds) {
    latency_histogram histogram;
    histogram.add(50us);
    histogram.add(51us);
    histogram.add(60s);
    histogram.add(61s);
    EXPECT_EQ(histogram.counts().front(), 1U);
    EXPECT_EQ(histogram.counts()[1], 1U);
    EXPECT_EQ(histogram.counts()[latency_histogram::range_count - 2], 1U);
    EXPECT_EQ(histogram.counts().back(), 1U);
    EXPECT_EQ(histogram.count(), 4U);
    EXPECT_EQ(histogram.sum_microseconds(), 50U + 51U + 60'000'000U + 61'000'000U);
}

TEST(LatencyHistogram, CountsWhatTwoClocksMakeNegativeAsNothing) {
    latency_histogram histogram;
    histogram.add(-5s);
    EXPECT_EQ(histogram.counts().front(), 1U);
    EXPECT_EQ(histogram.sum_microseconds(), 0U);
}

TEST(LatencyHistogram, TellsAQuantileOfWhatCameBetween) {
    latency_histogram histogram;
    histogram.add(10s);
    const auto before = histogram.counts();
    EXPECT_FALSE(quantile(before, histogram.counts(), 0.5));
    for (int times = 0; times < 99; ++times) {
        histogram.add(150us);
    }
    histogram.add(40s);
    const auto half = quantile(before, histogram.counts(), 0.5);
    ASSERT_TRUE(half);
    EXPECT_GT(*half, 100us);
    EXPECT_LE(*half, 200us);
    EXPECT_GT(*quantile(before, histogram.counts(), 0.999), 30s);
}

TEST(LatencyHistogram, TellsTheLowerEndOfTheRangeWithoutEnd) {
    latency_histogram histogram;
    histogram.add(2h);
    EXPECT_EQ(quantile({}, histogram.counts(), 0.5), 60s);
}

}  // namespace
}  // namespace walrelay
