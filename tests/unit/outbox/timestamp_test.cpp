// PostgreSQL's timestamps as RFC 3339.
#include "outbox/timestamp.hpp"

#include <gtest/gtest.h>

namespace walrelay::outbox {
namespace {

/// PostgreSQL's text as RFC 3339; empty if it cannot be.
std::string rfc3339(std::string_view text) {
    std::string written;
    const auto when = parse_timestamp(text);
    if (when) {
        EXPECT_TRUE(append_rfc3339(written, *when));
    }
    std::string at_once;
    EXPECT_EQ(append_rfc3339(at_once, text), when.has_value() && !written.empty()) << text;
    EXPECT_EQ(at_once, written) << text;
    return written;
}

TEST(Timestamp, IsWrittenInUtc) {
    EXPECT_EQ(rfc3339("2024-02-29 12:30:05+00"), "2024-02-29T12:30:05Z");
    EXPECT_EQ(rfc3339("1969-12-31 23:59:59+00"), "1969-12-31T23:59:59Z");
}

TEST(Timestamp, LosesTrailingZerosOfItsFraction) {
    EXPECT_EQ(rfc3339("2024-02-29 12:30:05.120+00"), "2024-02-29T12:30:05.12Z");
    EXPECT_EQ(rfc3339("2024-02-29 12:30:05.000000+00"), "2024-02-29T12:30:05Z");
}

TEST(Timestamp, WithoutZoneIsTakenAsUtc) {
    EXPECT_EQ(rfc3339("2024-02-29 12:30:05"), "2024-02-29T12:30:05Z");
}

TEST(Timestamp, KeepsTheFractionAsPostgresPrintsIt) {
    EXPECT_EQ(rfc3339("2024-02-29 12:30:05.123456+00"), "2024-02-29T12:30:05.123456Z");
    EXPECT_EQ(rfc3339("2024-02-29 12:30:05.5"), "2024-02-29T12:30:05.5Z");
    EXPECT_EQ(rfc3339("1960-01-01 00:00:00.000001"), "1960-01-01T00:00:00.000001Z");
}

TEST(Timestamp, OfAnotherZoneIsConverted) {
    EXPECT_EQ(rfc3339("2024-03-01 01:00:00+02"), "2024-02-29T23:00:00Z");
    EXPECT_EQ(rfc3339("2024-02-29 12:00:00-03:30"), "2024-02-29T15:30:00Z");
    EXPECT_EQ(rfc3339("1900-01-01 00:19:32+00:19:32"), "1900-01-01T00:00:00Z");
}

TEST(Timestamp, ReachesFromYear1To9999) {
    EXPECT_EQ(rfc3339("0001-01-01 00:00:00+00"), "0001-01-01T00:00:00Z");
    EXPECT_EQ(rfc3339("9999-12-31 23:59:59.999999+00"), "9999-12-31T23:59:59.999999Z");
}

TEST(Timestamp, ThatRfc3339CannotSayIsRefused) {
    for (const char* text :
         {"infinity", "-infinity", "0044-03-15 00:00:00+00 BC", "10000-01-01 00:00:00+00",
          "294276-12-31 23:59:59+00", "9999-12-31 23:59:59-01", "0001-01-01 00:00:00+01"}) {
        EXPECT_EQ(rfc3339(text), "") << text;
    }
}

TEST(Timestamp, OfAnyOtherTextIsRefused) {
    for (const char* text : {"",
                             "2024-02-29",
                             "2023-02-29 12:00:00",
                             "2023-02-29 12:00:00+00",
                             "2024-01-01 24:00:00+00",
                             "2024-01-01 00:00:00.1234567+00",
                             "2024-01-01 00:00:00.+00",
                             "0000-01-01 00:00:00+00",
                             "2024-13-01 00:00:00",
                             "2024-01-01 24:00:00",
                             "2024-01-01 00:60:00",
                             "2024-01-01 00:00:60",
                             "2024-01-01T00:00:00",
                             "2024-01-01 00:00",
                             "2024-01-01 00:00:00.",
                             "2024-01-01 00:00:00.1234567",
                             "2024-01-01 00:00:00+",
                             "2024-01-01 00:00:00 UTC",
                             "24-01-01 00:00:00",
                             "-024-01-01 00:00:00"}) {
        EXPECT_EQ(rfc3339(text), "") << text;
    }
}

TEST(Timestamp, ThatIsCutAnywhereIsRefusedOrAnotherOne) {
    const std::string whole = "2024-02-29 12:30:05";
    for (std::size_t length = 0; length < whole.size(); ++length) {
        EXPECT_FALSE(parse_timestamp(whole.substr(0, length))) << length;
    }
}

TEST(Timestamp, OutsideOfRfc3339IsNotWritten) {
    std::string text = "kept";
    EXPECT_FALSE(append_rfc3339(text, wall_time::max()));
    EXPECT_FALSE(append_rfc3339(text, wall_time::min()));
    EXPECT_EQ(text, "kept");
}

}  // namespace
}  // namespace walrelay::outbox
