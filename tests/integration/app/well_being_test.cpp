#include "app/well_being.hpp"

#include <gtest/gtest.h>

namespace walrelay::app {
namespace {

using namespace std::chrono_literals;

class WellBeing : public testing::Test {
protected:
    /// The line that is due once so much time has passed, or nothing.
    std::string after(std::chrono::milliseconds time, relay_state state, std::uint64_t stored = 0) {
        now_.monotonic += time;
        counts_.messages_stored += stored;
        status_.state = state;
        const auto line = of_.line_at(status_, counts_, now_);
        return line ? line->text() : "";
    }

    relay_status status_;
    relay_counts counts_;
    well_being of_{60s};

private:
    instant now_;
};

TEST_F(WellBeing, SaysOnceThatTheRelayHasCaughtUp) {
    EXPECT_EQ(after(0s, relay_state::starting), "");
    EXPECT_EQ(after(1s, relay_state::catching_up, 40000), "");
    EXPECT_EQ(after(1100ms, relay_state::streaming, 1000),
              "caught up after 2.1 s, 41,000 messages stored");
    EXPECT_EQ(after(1s, relay_state::streaming, 5), "");
}

TEST_F(WellBeing, SaysThatItHasRecovered) {
    EXPECT_EQ(after(0s, relay_state::streaming), "");
    EXPECT_EQ(after(1s, relay_state::waiting_broker), "");
    EXPECT_EQ(after(5s, relay_state::waiting_postgres), "");
    EXPECT_EQ(after(7s, relay_state::streaming, 999),
              "recovered after 12.0 s, 999 messages stored");
}

TEST_F(WellBeing, CountsATakeOverFromItsBeginning) {
    EXPECT_EQ(after(0s, relay_state::streaming), "");
    EXPECT_EQ(after(1s, relay_state::waiting_postgres), "");
    EXPECT_EQ(after(1s, relay_state::standby), "");
    EXPECT_EQ(after(30s, relay_state::standby), "");
    EXPECT_EQ(after(1s, relay_state::catching_up), "");
    EXPECT_EQ(after(2s, relay_state::streaming, 1), "caught up after 2.0 s, 1 message stored");
}

TEST_F(WellBeing, SaysFromTimeToTimeThatAllIsWell) {
    status_.lag = 20ms;
    status_.window_messages = 3;
    status_.window_limit_messages = 4096;
    counts_.tables.resize(1);
    counts_.tables.front().dead_letters = {1, 1};
    EXPECT_EQ(after(0s, relay_state::streaming), "");
    EXPECT_EQ(after(59s, relay_state::streaming, 1000), "");
    EXPECT_EQ(after(1s, relay_state::streaming, 200),
              "streaming: 1,200 messages stored in 60 s, lag 0.0 s, 3 of 4,096 messages in the "
              "window, 2 dead letters since the start");
    EXPECT_EQ(after(59s, relay_state::streaming), "");
    EXPECT_EQ(after(1s, relay_state::standby), "standby: another relay holds the slot");
}

TEST_F(WellBeing, SaysNothingOfAServerThatIsAway) {
    EXPECT_EQ(after(0s, relay_state::streaming), "");
    EXPECT_EQ(after(61s, relay_state::waiting_broker), "") << "warnings do";
    EXPECT_EQ(after(61s, relay_state::halted), "");
}

TEST_F(WellBeing, CanBeToldToSaveItsHeartbeat) {
    of_ = well_being(0s);
    EXPECT_EQ(after(0s, relay_state::catching_up), "");
    EXPECT_EQ(after(1h, relay_state::catching_up), "");
    EXPECT_EQ(after(1s, relay_state::streaming), "caught up after 3601.0 s, 0 messages stored");
    EXPECT_EQ(after(1h, relay_state::streaming), "");
}

}  // namespace
}  // namespace walrelay::app
