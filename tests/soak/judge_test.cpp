// The judge of a soak must see what waits too long, and excuse only what a restart explains.
#include "soak/judge.hpp"

#include <gtest/gtest.h>

namespace walrelay::soak {
namespace {

using namespace std::chrono_literals;

const moment start = clock::from_time_t(1'700'000'000);

period from_to(std::chrono::milliseconds begin, std::chrono::milliseconds end) {
    return {start + begin, start + end};
}

row_wait waiting(const period& when, const std::vector<period>& excused) {
    return {.key = "row", .when = when, .unexcused = outside(when, excused)};
}

TEST(SoakJudge, FindsARowThatWaitsTooLong) {
    const auto late = find_late({waiting(from_to(0s, 1900ms), {}), waiting(from_to(5s, 8s), {}),
                                 waiting(from_to(6s, 12s), {}), waiting(from_to(20s, 23s), {})},
                                2s);

    ASSERT_EQ(late.size(), 2U);
    EXPECT_EQ(late[0].rows, 2U);
    EXPECT_EQ(late[0].when.begin, start + 5s);
    EXPECT_EQ(late[0].when.end, start + 12s);
    EXPECT_EQ(late[0].worst.unexcused, 6s);
    EXPECT_EQ(late[1].rows, 1U);
}

TEST(SoakJudge, ExcusesOnlyThePartOfAWaitThatARestartCovers) {
    const auto excused = merged({from_to(13s, 15s), from_to(10s, 14s)});
    ASSERT_EQ(excused.size(), 1U);

    const auto before = waiting(from_to(9s, 13s), excused);
    const auto around = waiting(from_to(9s, 18s), excused);
    const auto after = waiting(from_to(15s, 19s), excused);

    EXPECT_EQ(before.unexcused, 1s);
    EXPECT_EQ(around.unexcused, 4s);
    EXPECT_EQ(after.unexcused, 4s);
    EXPECT_EQ(find_late({before, around, after}, 2s).front().rows, 2U);
}

TEST(SoakJudge, ARestartExcusesUntilTheRelaySaysThatItIsConnected) {
    const restart_record fault{.kind = "kill -9 of walrelay",
                               .begun = start + 10s,
                               .over = start + 11s,
                               .of_broker = true,
                               .of_postgres = true};
    const std::vector<log_line> log{
        {.when = start + 9s, .level = "info", .text = "streaming from slot chaos with pgoutput"},
        {.when = start + 12s, .level = "info", .text = "streaming from slot chaos with pgoutput"},
        {.when = start + 13s, .level = "info", .text = "connected to the broker: stream CHAOS"}};

    const auto excuse = excuse_of(fault, log);

    EXPECT_EQ(excuse.begin, fault.begun);
    EXPECT_EQ(excuse.end, start + 13s + catch_up_limit);
}

TEST(SoakJudge, ARelayThatDoesNotConnectIsNotExcusedForEver) {
    const restart_record fault{
        .kind = "broker", .begun = start, .over = start + 1s, .of_broker = true};

    const auto unheard = excuse_of(fault, {});
    const auto late = excuse_of(
        fault, {{.when = start + 60s, .level = "info", .text = "connected to the broker: stream"}});

    EXPECT_EQ(unheard.end, fault.over + reconnect_limit + catch_up_limit);
    EXPECT_EQ(late.end, unheard.end);
}

}  // namespace
}  // namespace walrelay::soak
