#include "audit/printable.hpp"

#include <gtest/gtest.h>

namespace walrelay::audit {
namespace {

TEST(Printable, LeavesTextAsItIs) {
    EXPECT_EQ(printable("a;b%20 \"x\""), "a;b%20 \"x\"");
    EXPECT_EQ(printable("\u00e4\u20ac\U0001f600"), "\u00e4\u20ac\U0001f600");
    EXPECT_EQ(printable(""), "");
}

TEST(Printable, EncodesControlBytes) {
    EXPECT_EQ(printable(std::string_view("a\n\0\x1b[1m\x7f", 8)), "a%0A%00%1B[1m%7F");
}

TEST(Printable, EncodesWhatIsNotUtf8) {
    EXPECT_EQ(printable("a\xff"), "a%FF");
    EXPECT_EQ(printable("\xc3"), "%C3");
    EXPECT_EQ(printable("\xc0\xaf"), "%C0%AF");
    EXPECT_EQ(printable("\xed\xa0\x80"), "%ED%A0%80");
    EXPECT_EQ(printable("\xf4\x90\x80\x80"), "%F4%90%80%80");
}

TEST(Printable, CutsLongTextBetweenCharacters) {
    EXPECT_EQ(printable(std::string(200, 'x')), std::string(200, 'x'));
    EXPECT_EQ(printable(std::string(201, 'x')), std::string(200, 'x') + "...");
    EXPECT_EQ(printable(std::string(199, 'x') + "\u00e4"), std::string(199, 'x') + "...");
}

}  // namespace
}  // namespace walrelay::audit
