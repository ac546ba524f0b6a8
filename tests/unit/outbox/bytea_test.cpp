// Hexadecimal digits as bytes and as base64.
#include "outbox/bytea.hpp"

#include <gtest/gtest.h>

#include <random>

namespace walrelay::outbox {
namespace {

using std::string_literals::operator""s;

std::string base64(std::string_view digits) {
    std::string text;
    EXPECT_TRUE(append_base64(text, digits));
    return text;
}

TEST(Bytea, BecomesItsBytesBehindWhatIsThere) {
    std::string bytes = "x";
    EXPECT_TRUE(append_bytes(bytes, "00ff0aAbcD"));
    EXPECT_EQ(bytes, "x\x00\xff\x0a\xab\xcd"s);
}

TEST(Bytea, CanBeEmpty) {
    std::string bytes;
    EXPECT_TRUE(append_bytes(bytes, ""));
    EXPECT_EQ(bytes, "");
    EXPECT_EQ(base64(""), "");
}

TEST(Bytea, IsRefusedUnlessItIsPairsOfDigits) {
    for (const char* digits : {"0", "abc", "0g", "\\x00", "0 ", "zz"}) {
        std::string bytes = "kept";
        EXPECT_FALSE(append_bytes(bytes, digits)) << digits;
        EXPECT_FALSE(append_base64(bytes, digits)) << digits;
        EXPECT_EQ(bytes, "kept");
    }
}

// The vectors of RFC 4648, section 10.
TEST(Bytea, BecomesBase64WithPadding) {
    EXPECT_EQ(base64("66"), "Zg==");
    EXPECT_EQ(base64("666f"), "Zm8=");
    EXPECT_EQ(base64("666f6f"), "Zm9v");
    EXPECT_EQ(base64("666f6f62"), "Zm9vYg==");
    EXPECT_EQ(base64("666f6f6261"), "Zm9vYmE=");
    EXPECT_EQ(base64("666f6f626172"), "Zm9vYmFy");
    EXPECT_EQ(base64("fbffbf"), "+/+/");
}

TEST(Bytea, GivesBackAnyBytes) {
    constexpr unsigned seed = 99;
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    for (int round = 0; round < 200; ++round) {
        std::string wanted(random() % 40, '\0');
        std::string digits;
        for (auto& byte : wanted) {
            byte = static_cast<char>(random());
            constexpr const char* hexadecimal = "0123456789abcdef";
            digits += hexadecimal[static_cast<unsigned char>(byte) >> 4U];
            digits += hexadecimal[static_cast<unsigned char>(byte) & 15U];
        }
        std::string bytes;
        EXPECT_TRUE(append_bytes(bytes, digits));
        EXPECT_EQ(bytes, wanted);
    }
}

}  // namespace
}  // namespace walrelay::outbox
