#include "core/figures.hpp"

#include <gtest/gtest.h>

namespace walrelay {
namespace {

TEST(Figures, TakeUnitsThatFit) {
    EXPECT_EQ(show_bytes(999), "999 B");
    EXPECT_EQ(show_bytes(48'200'000), "48.2 MB");
    EXPECT_EQ(show_seconds(0), "0.0 s");
    EXPECT_EQ(show_seconds(0.00031), "0.31 ms");
    EXPECT_EQ(show_seconds(90), "1.5 min");
    EXPECT_EQ(show_seconds(172'800), "2.0 d");
}

}  // namespace
}  // namespace walrelay
