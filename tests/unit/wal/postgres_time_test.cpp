// PostgreSQL's two forms of a time.
#include "wal/postgres_time.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace walrelay::wal {
namespace {

using std::chrono_literals::operator""h;
using std::chrono_literals::operator""min;
using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;
using std::chrono_literals::operator""us;
using std::chrono_literals::operator""y;
using std::chrono::sys_days;

constexpr wall_time january = sys_days{2026y / 1 / 31} + 12h + 34min + 56s;

TEST(PostgresTime, CountsFromTheYear2000) {
    EXPECT_EQ(from_postgres_time(0), wall_time{sys_days{2000y / 1 / 1}});
    EXPECT_EQ(from_postgres_time(-1), wall_time{sys_days{2000y / 1 / 1}} - 1us);
    EXPECT_EQ(to_postgres_time(sys_days{2000y / 1 / 2}), 86'400'000'000);
}

TEST(PostgresTime, ComesBackTheSame) {
    for (const std::int64_t each :
         {std::int64_t{0}, std::int64_t{823'091'696'789'012}, furthest_time, -furthest_time}) {
        const auto time = from_postgres_time(each);
        ASSERT_TRUE(time) << each;
        EXPECT_EQ(to_postgres_time(*time), each);
    }
}

TEST(PostgresTime, EndsWhereADifferenceCouldNotBeHeld) {
    EXPECT_EQ(from_postgres_time(furthest_time + 1), std::nullopt);
    EXPECT_EQ(from_postgres_time(-furthest_time - 1), std::nullopt);
    EXPECT_EQ(from_postgres_time(std::numeric_limits<std::int64_t>::max()), std::nullopt);
    EXPECT_EQ(from_postgres_time(std::numeric_limits<std::int64_t>::min()), std::nullopt);
    const auto whole = *from_postgres_time(furthest_time) - *from_postgres_time(-furthest_time);
    EXPECT_GT(whole.count(), 0);
}

TEST(Timestamp, IsReadWithAnyNumberOfDecimals) {
    EXPECT_EQ(parse_timestamp("2026-01-31 12:34:56+00"), january);
    EXPECT_EQ(parse_timestamp("2026-01-31 12:34:56.7+00"), january + 700ms);
    EXPECT_EQ(parse_timestamp("2026-01-31 12:34:56.000001+00"), january + 1us);
    EXPECT_EQ(parse_timestamp("2026-01-31 12:34:56.789012+00"), january + 789'012us);
    EXPECT_EQ(parse_timestamp("2024-02-29 00:00:00+00"), wall_time{sys_days{2024y / 2 / 29}});
}

TEST(Timestamp, IsNotReadFromAnythingElse) {
    for (const auto* text : {"",
                             "+00",
                             "2026-01-31 12:34:56",
                             "2026-01-31 12:34:56+01",
                             "2026-01-31 12:34:56-00",
                             "2026-01-31T12:34:56+00",
                             "2026-01-31 12:34:56.+00",
                             "2026-01-31 12:34:56.1234567+00",
                             "2026-01-31 12:34:56,5+00",
                             "2026-02-29 12:34:56+00",
                             "2026-13-01 12:34:56+00",
                             "2026-00-01 12:34:56+00",
                             "2026-01-31 24:34:56+00",
                             "2026-01-31 12:60:56+00",
                             "2026-01-31 12:34:61+00",
                             "20a6-01-31 12:34:56+00",
                             "2026-01-31 12:34:5x+00",
                             "2026-01-31 12:34:56.12x+00",
                             "31.01.2026 12:34:56+00",
                             "2026-01-31 12:34:56+00 BC"}) {
        EXPECT_EQ(parse_timestamp(text), std::nullopt) << text;
    }
}

}  // namespace
}  // namespace walrelay::wal
