// How a reading of a stream finds the size of batches that comes through, and what it must have
// seen.
#include "nats/requests/batch_pace.hpp"

#include "nats/requests/server_words.hpp"

#include <gtest/gtest.h>

namespace walrelay::nats {
namespace {

TEST(BatchPace, AsksForWhatCameWhereABatchWasCutShort) {
    batch_pace pace;
    pace.on_cut_short(3);
    EXPECT_EQ(pace.size(), 3U);
    pace.on_cut_short(3);
    EXPECT_EQ(pace.size(), 1U) << "half of it at most";
    pace.on_cut_short(0);
    EXPECT_EQ(pace.size(), 1U);
}

TEST(BatchPace, GrowsAgainAfterACutOfTheNetwork) {
    batch_pace pace;
    pace.on_cut_short(1);
    for (int round = 0; round < 16 * 13; ++round) {
        pace.on_complete();
    }
    EXPECT_EQ(pace.size(), batch_pace::largest);
}

TEST(BatchPace, TriesASizeThatFailsEverMoreSeldom) {
    batch_pace pace;
    pace.on_cut_short(1);
    std::uint64_t failures = 0;
    for (std::uint64_t message = 0; message < 100'000;) {
        if (pace.size() == 1) {
            pace.on_complete();
        } else {
            pace.on_cut_short(1);
            ++failures;
        }
        ++message;
    }
    EXPECT_LE(failures, 5U);
}

TEST(BatchPace, StaysBelowALimitOfTheServer) {
    batch_pace pace;
    pace.limit_to(100);
    for (int round = 0; round < 10'000; ++round) {
        pace.on_complete();
    }
    EXPECT_EQ(pace.size(), 100U);
    pace.on_cut_short(0);
    EXPECT_EQ(pace.size(), 1U);
    pace.limit_to(0);
    EXPECT_EQ(pace.size(), 1U);
}

TEST(LeastCount, IsAllOfAStreamThatDidNotChange) {
    EXPECT_EQ(least_count({1, 60, 60}, 1, 60), 60U);
    EXPECT_EQ(least_count({500, 559, 60}, 1, 559), 60U);
    EXPECT_EQ(least_count({1, 60, 55}, 1, 60), 55U) << "five were deleted from its middle";
}

TEST(LeastCount, LeavesOutWhatCanStandOutside) {
    EXPECT_EQ(least_count({1, 70, 70}, 1, 60), 60U) << "ten came meanwhile";
    EXPECT_EQ(least_count({1, 60, 60}, 41, 60), 20U);
    EXPECT_EQ(least_count({1, 60, 30}, 41, 60), 0U) << "the deleted ones can all be these";
    EXPECT_EQ(least_count({61, 60, 0}, 1, 60), 0U) << "purged";
    EXPECT_EQ(least_count({51, 60, 10}, 1, 60), 10U) << "limits took the others meanwhile";
}

TEST(ServerWords, EndWithTheLimit) {
    EXPECT_EQ(last_number_in("Exceeded MaxRequestBatch of 250"), 250U);
    EXPECT_EQ(last_number_in("consumer max ack pending exceeds system limit of 100"), 100U);
    EXPECT_EQ(last_number_in("no number"), 0U);
    EXPECT_EQ(last_number_in("7"), 7U);
    EXPECT_EQ(last_number_in(""), 0U);
}

}  // namespace
}  // namespace walrelay::nats
