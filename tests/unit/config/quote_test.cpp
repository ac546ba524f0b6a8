// Text of a user inside a message.
#include "config/quote.hpp"

#include <gtest/gtest.h>

namespace walrelay::config {
namespace {

TEST(Quote, ShowsControlCharactersAsTheirCodes) {
    EXPECT_EQ(in_quotes("a\n\x1b\x7f"), "\"a\\x0a\\x1b\\x7f\"");
}

TEST(Quote, KeepsCharactersBeyondAscii) {
    EXPECT_EQ(printable("\u00e4\u4e2d"), "\u00e4\u4e2d");
}

TEST(Quote, CutsLongTextBetweenCharacters) {
    EXPECT_EQ(printable(std::string(200, 'a')), std::string(200, 'a'));
    EXPECT_EQ(printable(std::string(201, 'a')), std::string(200, 'a') + "...");
    EXPECT_EQ(printable(std::string(199, 'a') + "\u00e4"), std::string(199, 'a') + "...");
}

}  // namespace
}  // namespace walrelay::config
