#include "traces/span_queue.hpp"

#include <gtest/gtest.h>

#include <string>
#include <thread>

namespace walrelay::traces {
namespace {

using namespace std::chrono_literals;

span named(const std::string& id) {
    span made;
    made.message_id = id;
    return made;
}

queue_limits limits_of(std::size_t spans, std::size_t batch) {
    return {.spans = spans, .batch_spans = batch, .gather = 1h};
}

TEST(SpanQueue, GivesThemOutInOrderAsSoonAsABatchIsFull) {
    span_queue queue(limits_of(10, 2));
    for (const auto* id : {"1", "2", "3", "4"}) {
        ASSERT_TRUE(queue.push(named(id)));
    }
    for (const std::string first : {"1", "3"}) {
        const auto batch = queue.take_batch();
        ASSERT_EQ(batch.size(), 2U);
        EXPECT_EQ(batch.front().message_id, first);
    }
}

TEST(SpanQueue, TakesNoMoreThanItsLimit) {
    span_queue queue(limits_of(3, 3));
    for (int count = 0; count < 3; ++count) {
        EXPECT_TRUE(queue.push(named("a")));
    }
    EXPECT_FALSE(queue.push(named("a")));
    EXPECT_EQ(queue.take_batch().size(), 3U);
    EXPECT_TRUE(queue.push(named("a")));
}

TEST(SpanQueue, CountsBytes) {
    const auto large = named(std::string(1000, 'x'));
    auto limits = limits_of(100, 100);
    limits.bytes = 3 * large.size_bytes();
    limits.batch_bytes = 2 * large.size_bytes();
    span_queue queue(limits);
    for (int count = 0; count < 3; ++count) {
        EXPECT_TRUE(queue.push(large));
    }
    EXPECT_FALSE(queue.push(large));
    EXPECT_EQ(queue.take_batch().size(), 2U);
    EXPECT_TRUE(queue.push(large));
    EXPECT_EQ(queue.take_batch().size(), 2U);
}

TEST(SpanQueue, GivesALargeSpanOutAlone) {
    auto limits = limits_of(100, 100);
    limits.batch_bytes = 10;
    span_queue queue(limits);
    EXPECT_TRUE(queue.push(named("a")));
    EXPECT_TRUE(queue.push(named("b")));
    EXPECT_EQ(queue.take_batch().size(), 1U);
    EXPECT_EQ(queue.take_batch().size(), 1U);
}

TEST(SpanQueue, GivesOutWhatIsLeftOnceItIsClosed) {
    span_queue queue(limits_of(10, 2));
    for (const auto* id : {"1", "2", "3"}) {
        ASSERT_TRUE(queue.push(named(id)));
    }
    queue.close();
    EXPECT_FALSE(queue.push(named("4")));
    EXPECT_EQ(queue.take_batch().size(), 2U);
    EXPECT_EQ(queue.take_batch().size(), 1U);
    EXPECT_TRUE(queue.take_batch().empty());
    queue.pause(1h);
}

TEST(SpanQueue, WakesWhoeverWaitsWhenItIsClosed) {
    span_queue queue(limits_of(10, 2));
    std::thread waiting([&queue] {
        EXPECT_TRUE(queue.take_batch().empty());
        queue.pause(1h);
    });
    queue.close();
    waiting.join();
}

}  // namespace
}  // namespace walrelay::traces
