// A message that is filled again and again: its weight, its headers, its memory.
#include "core/message.hpp"

#include <gtest/gtest.h>

namespace walrelay {
namespace {

TEST(Message, WeighsAllThatGoesOut) {
    message sent;
    EXPECT_EQ(sent.size_bytes(), 0U);
    sent.id = "id";
    sent.subject = "events.a";
    sent.body = "12345";
    EXPECT_EQ(sent.size_bytes(), 15U);
    sent.add_header("Name", "value");
    EXPECT_EQ(sent.size_bytes(), 15U + 4U + 5U + 4U);
}

TEST(Message, KeepsHeadersInTheOrderTheyWereAdded) {
    message sent;
    sent.add_header("One", "1");
    sent.add_header("Two", "2");
    ASSERT_EQ(sent.header_count(), 2U);
    EXPECT_EQ(sent.header_at(0), (header{"One", "1"}));
    EXPECT_EQ(sent.header_at(1), (header{"Two", "2"}));
}

TEST(Message, IsEmptyOnceCleared) {
    message sent;
    sent.where = {{1, 2}, {lsn{3}, {}, 4}};
    sent.committed_at = wall_time{std::chrono::microseconds{5}};
    sent.id = "id";
    sent.subject = "subject";
    sent.body = "body";
    sent.add_header("One", "1");
    sent.clear(1024);
    EXPECT_EQ(sent.where, position{});
    EXPECT_EQ(sent.committed_at, wall_time{});
    EXPECT_EQ(sent.id + sent.subject + sent.body, "");
    EXPECT_EQ(sent.header_count(), 0U);
    EXPECT_EQ(sent.size_bytes(), 0U);
}

TEST(Message, HasNothingOfTheLastOneWhenFilledAgain) {
    message sent;
    sent.add_header("First-Long-Name", "a long value");
    sent.add_header("Second", "2");
    sent.clear(1024);
    sent.add_header("Third", "3");
    ASSERT_EQ(sent.header_count(), 1U);
    EXPECT_EQ(sent.header_at(0), (header{"Third", "3"}));
}

TEST(Message, KeepsMemoryUpToTheLimit) {
    message sent;
    sent.body.assign(1000, 'x');
    const auto* const memory = sent.body.data();
    sent.clear(4096);
    sent.body.assign(1000, 'y');
    EXPECT_EQ(sent.body.data(), memory);
}

TEST(Message, GivesMemoryBackBeyondTheLimit) {
    message sent;
    sent.body.assign(100'000, 'x');
    sent.add_header("Name", std::string(100'000, 'y'));
    sent.clear(4096);
    EXPECT_LE(sent.body.capacity(), 4096U);
    sent.add_header("Name", "short");
    EXPECT_LE(sent.header_at(0).value.capacity(), 4096U);
}

}  // namespace
}  // namespace walrelay
