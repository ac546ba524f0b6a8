#include "core/one_line.hpp"

#include <gtest/gtest.h>

namespace walrelay {
namespace {

TEST(OneLine, LeavesOrdinaryTextAsItIs) {
    EXPECT_EQ(one_line("Grüße, 世界 🎉 \\ \"quoted\""), "Grüße, 世界 🎉 \\ \"quoted\"");
    EXPECT_EQ(one_line(""), "");
}

TEST(OneLine, ShowsWhatATerminalWouldObey) {
    EXPECT_EQ(one_line("a\nb\tc\r\x1b[2J\x7f"), "a\\nb\\tc\\x0d\\x1b[2J\\x7f");
    EXPECT_EQ(one_line(std::string_view("\0", 1)), "\\x00");
    EXPECT_EQ(one_line("\xc2\x9b"), "\\u009b") << "C1: a control sequence in one character";
}

TEST(OneLine, ShowsWhatWouldTurnOrBreakTheLine) {
    EXPECT_EQ(one_line("\u202eabc\u2066\u2069\u200f\u061c"),
              "\\u202eabc\\u2066\\u2069\\u200f\\u061c");
    EXPECT_EQ(one_line("a\u2028b\u2029"), "a\\u2028b\\u2029");
}

TEST(OneLine, ShowsBytesThatAreNoText) {
    EXPECT_EQ(one_line("\xff\xc3"), "\\xff\\xc3");
    EXPECT_EQ(one_line("\xc0\x8a"), "\\xc0\\x8a") << "an overlong line feed";
    EXPECT_EQ(one_line("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "half a surrogate pair";
    EXPECT_EQ(one_line("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80") << "beyond Unicode";
}

TEST(OneLine, LeavesTheMiddleOutOfWhatIsTooLong) {
    EXPECT_EQ(one_line("abcdefghij", 10), "abcdefghij");
    EXPECT_EQ(one_line("abcdefghijk", 4), "ab ... (7 bytes left out) ... jk");
    EXPECT_EQ(one_line("éééééé", 6), "é ... (6 bytes left out) ... éé") << "no half characters";
}

}  // namespace
}  // namespace walrelay
