#include "relay/intake/size_limits.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace walrelay::relay {
namespace {

message with_body(std::size_t bytes) {
    message made;
    made.id = "42";
    made.subject = "events.a";
    made.add_header("Content-Type", "text/plain");
    made.body.assign(bytes, 'x');
    return made;
}

TEST(SizeLimits, CountHeadersAndBodyTogether) {
    const auto headers = wire_bytes(with_body(0));
    EXPECT_EQ(wire_bytes(with_body(10)), headers + 10);
}

TEST(SizeLimits, TakeWhatFitsExactly) {
    const auto headers = wire_bytes(with_body(0));
    const size_limits limits{headers + 100, -1};
    EXPECT_TRUE(limits.check(with_body(100)));
    const auto refused = limits.check(with_body(101));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, errc::message_too_large);
    EXPECT_NE(refused.error().what.find("max_payload"), std::string::npos);
}

TEST(SizeLimits, OfTheStreamAreNamedApart) {
    const size_limits limits{0, 10};
    const auto refused = limits.check(with_body(1));
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().what.find("max_msg_size"), std::string::npos);
}

TEST(SizeLimits, TheLesserOfBothCounts) {
    EXPECT_EQ((size_limits{0, -1}.least()), std::numeric_limits<std::uint64_t>::max());
    EXPECT_EQ((size_limits{100, -1}.least()), 100U);
    EXPECT_EQ((size_limits{100, 50}.least()), 50U);
    EXPECT_EQ((size_limits{0, 50}.least()), 50U);
}

}  // namespace
}  // namespace walrelay::relay
