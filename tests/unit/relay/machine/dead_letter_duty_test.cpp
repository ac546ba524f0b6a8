#include "relay/machine/dead_letter_duty.hpp"

#include <gtest/gtest.h>

namespace walrelay::relay {
namespace {

using std::chrono::seconds;

constexpr monotonic_time start{seconds(1000)};

dead_letter letter_at(std::uint64_t commit) {
    dead_letter letter;
    letter.where.at = {lsn{commit}, lsn{commit}, 0};
    letter.message_id = std::to_string(commit);
    return letter;
}

TEST(DeadLetterDuty, StoresOneBatchAtATimeAndWhatCameMeanwhileNext) {
    dead_letter_duty duty(1000000);
    EXPECT_EQ(duty.next(start), nullptr);
    duty.add(letter_at(1));
    const auto first = duty.next(start);
    ASSERT_NE(first, nullptr);
    duty.add(letter_at(3));
    duty.add(letter_at(2));
    EXPECT_EQ(duty.next(start), nullptr);
    EXPECT_TRUE(duty.is_under_way());
    static_cast<void>(duty.stored(start));
    const auto second = duty.next(start);
    ASSERT_NE(second, nullptr);
    EXPECT_EQ(second->size(), 2U);
    const auto done = duty.stored(start);
    ASSERT_EQ(done.places.size(), 2U);
    EXPECT_LT(done.places[0], done.places[1]);
    EXPECT_TRUE(duty.empty());
    EXPECT_EQ(duty.count(), 3U);
}

TEST(DeadLetterDuty, NamesTheFirstAndCountsTheRest) {
    dead_letter_duty duty(1000000);
    for (std::uint64_t row = 1; row <= 200; ++row) {
        duty.add(letter_at(row));
    }
    ASSERT_NE(duty.next(start), nullptr);
    const auto done = duty.stored(start);
    EXPECT_FALSE(done.lines.empty());
    EXPECT_LT(done.lines.size(), 200U);
    EXPECT_TRUE(duty.summary_due());
    EXPECT_TRUE(duty.summary());
    EXPECT_FALSE(duty.summary());
}

TEST(DeadLetterDuty, TellsHowLongABatchTookThatWasToldToGetNoAnswer) {
    dead_letter_duty duty(1000000);
    duty.add(letter_at(1));
    ASSERT_NE(duty.next(start), nullptr);
    EXPECT_EQ(duty.stall().deadline(), start + stall_watch::patience);
    duty.stall().ask();
    static_cast<void>(duty.stall().tell(start + seconds(8)));
    EXPECT_EQ(duty.stored(start + seconds(9)).stalled_for, seconds(9));
}

TEST(DeadLetterDuty, ForgetsWithTheConnection) {
    dead_letter_duty duty(1000000);
    duty.add(letter_at(1));
    ASSERT_NE(duty.next(start), nullptr);
    duty.clear();
    EXPECT_TRUE(duty.empty());
    EXPECT_FALSE(duty.is_under_way());
    EXPECT_EQ(duty.stall().deadline(), std::nullopt);
    EXPECT_EQ(duty.count(), 0U);
}

}  // namespace
}  // namespace walrelay::relay
