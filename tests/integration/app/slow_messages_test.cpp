#include "app/slow_messages.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace walrelay::app {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

class SlowMessages : public testing::Test {
protected:
    SlowMessages() {
        now_.wall = wall_time{} + 1h;
        slow_.took = 250ms;
        slow_.id = "order-1\n\x1b[2J";
        slow_.subject = "events.order";
        slow_.trace = "00-ab-cd-01";
        slow_.stored_at = now_.wall;
    }

    /// The line of a status with this message, so long after the last one.
    std::string after(std::chrono::milliseconds time) {
        now_.monotonic += time;
        now_.wall += time;
        status_.slowest = slow_;
        const auto line = of_.line_at(status_, now_);
        return line ? line->text() : "";
    }

    slow_message slow_;
    slow_messages of_{100ms, wall_time{}};
    instant now_;

private:
    relay_status status_;
};

TEST_F(SlowMessages, AreNamedWithAllThatFindsThem) {
    const auto line = after(0s);
    EXPECT_THAT(line, HasSubstr("a message took 0.250 s from commit to ack: id order-1"));
    EXPECT_THAT(line, HasSubstr("subject events.order, position "));
    EXPECT_THAT(line, HasSubstr(", traceparent 00-ab-cd-01"));
    EXPECT_EQ(line.find_first_of("\n\x1b"), std::string::npos);
}

TEST_F(SlowMessages, AreNamedOnceAMinuteAtMost) {
    EXPECT_NE(after(0s), "");
    slow_.stored_at = now_.wall + 1s;
    EXPECT_EQ(after(59s), "");
    EXPECT_NE(after(1s), "");
    EXPECT_EQ(after(2min), "") << "it is the same message";
}

TEST_F(SlowMessages, BelowTheThresholdAreNotNamed) {
    slow_.took = 99ms;
    EXPECT_EQ(after(0s), "");
}

TEST_F(SlowMessages, OfBeforeTheStartAreNotNamed) {
    of_ = slow_messages(100ms, now_.wall);
    EXPECT_EQ(after(0s), "");
}

}  // namespace
}  // namespace walrelay::app
