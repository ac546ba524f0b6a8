#include "relay/machine/write_back_duty.hpp"

#include <gtest/gtest.h>

namespace walrelay::relay {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr monotonic_time start{seconds(1000)};

commit_position at(std::uint64_t commit) {
    return {lsn{commit}, lsn{commit}, 0};
}

struct duty_of_two_rows : testing::Test {
    duty_of_two_rows() {
        for (std::uint64_t row = 1; row <= 2; ++row) {
            duty.rows().await({.table = 1, .where = at(row), .key = std::to_string(row)});
        }
    }
    write_back_duty duty{true, {milliseconds(100), seconds(10)}, 1};
};

using WriteBackDuty = duty_of_two_rows;

TEST_F(WriteBackDuty, WritesWhatIsStoredOneBatchAtATime) {
    const auto batch = duty.next(at(1), start);
    ASSERT_TRUE(batch);
    EXPECT_EQ(batch->rows.size(), 1U);
    EXPECT_TRUE(duty.is_under_way());
    EXPECT_EQ(duty.table(), 1U);
    EXPECT_FALSE(duty.next(at(2), start));
    EXPECT_EQ(duty.written(start), std::nullopt);
    EXPECT_TRUE(duty.next(at(2), start));
}

TEST_F(WriteBackDuty, TriesAFailedBatchAgainAfterAWhile) {
    ASSERT_TRUE(duty.next(at(2), start));
    const auto delay = duty.failed(start);
    EXPECT_GT(delay, milliseconds(0));
    EXPECT_EQ(duty.retry_at(), start + delay);
    EXPECT_FALSE(duty.next(at(2), start));
    EXPECT_FALSE(duty.retry(start));
    EXPECT_TRUE(duty.retry(start + delay));
    const auto again = duty.next(at(2), start + delay);
    ASSERT_TRUE(again);
    EXPECT_EQ(again->rows.size(), 2U);
}

TEST_F(WriteBackDuty, TellsHowLongABatchTookThatWasToldToGetNoAnswer) {
    ASSERT_TRUE(duty.next(at(2), start));
    EXPECT_EQ(duty.stall().deadline(), start + stall_watch::patience);
    duty.stall().ask();
    EXPECT_EQ(duty.stall().tell(start + seconds(8)), seconds(8));
    EXPECT_EQ(duty.written(start + seconds(20)), seconds(20));
    EXPECT_EQ(duty.stall().deadline(), std::nullopt);
}

TEST_F(WriteBackDuty, ForgetsWithTheConnection) {
    ASSERT_TRUE(duty.next(at(1), start));
    static_cast<void>(duty.failed(start));
    duty.forget();
    EXPECT_EQ(duty.retry_at(), std::nullopt);
    EXPECT_TRUE(duty.rows().empty());
}

}  // namespace
}  // namespace walrelay::relay
