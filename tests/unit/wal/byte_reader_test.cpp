// The cursor over bytes from outside: what it reads, and how it says what it cannot read.
#include "wal/byte_reader.hpp"

#include <gtest/gtest.h>

#include <string>

namespace walrelay::wal {
namespace {

using std::string_view_literals::operator""sv;

TEST(ByteReader, ReadsNumbersBigEndian) {
    byte_reader in{"\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\xff"sv, "message"};
    std::uint8_t one = 0;
    std::uint16_t two = 0;
    std::uint32_t four = 0;
    std::uint64_t eight = 0;
    ASSERT_TRUE(in.read(two, "two"));
    ASSERT_TRUE(in.read(four, "four"));
    ASSERT_TRUE(in.read(eight, "eight"));
    ASSERT_TRUE(in.read(one, "one"));
    EXPECT_EQ(two, 0x0102U);
    EXPECT_EQ(four, 0x03040506U);
    EXPECT_EQ(eight, 0x0708090a0b0c0d0eU);
    EXPECT_EQ(one, 0xffU);
    EXPECT_TRUE(in.read_end());
}

TEST(ByteReader, ReadsBytesAndStringsAsViews) {
    const auto bytes = "abc\0defgh"sv;
    byte_reader in{bytes, "message"};
    std::string_view string;
    std::string_view rest;
    ASSERT_TRUE(in.read_string(string, "string"));
    ASSERT_TRUE(in.read_bytes(rest, 5, "rest"));
    EXPECT_EQ(string, "abc");
    EXPECT_EQ(string.data(), bytes.data());
    EXPECT_EQ(rest, "defgh");
    EXPECT_EQ(rest.data(), bytes.data() + 4);
}

TEST(ByteReader, LeavesTheArgumentAloneWhenBytesAreMissing) {
    byte_reader in{"\x01\x02\x03"sv, "message"};
    std::uint32_t number = 77;
    std::string_view view = "before";
    EXPECT_FALSE(in.read(number, "number"));
    EXPECT_FALSE(in.read_bytes(view, 4, "bytes"));
    EXPECT_FALSE(in.read_string(view, "string"));
    EXPECT_EQ(number, 77U);
    EXPECT_EQ(view, "before");
    EXPECT_EQ(in.left_bytes(), 3U);
}

TEST(ByteReader, SaysWhichFieldIsCutWhere) {
    byte_reader in{"\x01\x02\x03"sv, "the message"};
    std::uint8_t first = 0;
    std::uint32_t second = 0;
    ASSERT_TRUE(in.read(first, "first"));
    ASSERT_FALSE(in.read(second, "second"));
    EXPECT_EQ(in.failure().code, errc::frame_truncated);
    EXPECT_EQ(in.failure().what, "the message: 'second' at byte 1 needs 4 bytes, only 2 are left");
    EXPECT_FALSE(in.failure().remedy.empty());
}

TEST(ByteReader, DoesNotTakeAHugeLengthForAShortOne) {
    byte_reader in{"\x01\x02\x03"sv, "message"};
    std::string_view view;
    std::uint8_t first = 0;
    ASSERT_TRUE(in.read(first, "first"));
    EXPECT_FALSE(in.read_bytes(view, static_cast<std::size_t>(-1), "bytes"));
    EXPECT_EQ(in.failure().code, errc::frame_truncated);
}

TEST(ByteReader, RefusesAStringWithoutItsEnd) {
    byte_reader in{"abc"sv, "message"};
    std::string_view view;
    ASSERT_FALSE(in.read_string(view, "name"));
    EXPECT_EQ(in.failure().code, errc::frame_truncated);
    EXPECT_EQ(in.failure().what, "message: 'name' at byte 0 has no terminating zero byte");
}

TEST(ByteReader, RefusesATimeThatCannotBeHeld) {
    byte_reader in{"\x7f\xff\xff\xff\xff\xff\xff\xff"sv, "message"};
    wall_time time;
    ASSERT_FALSE(in.read(time, "sent at"));
    EXPECT_EQ(in.failure().code, errc::frame_malformed);
    EXPECT_EQ(in.failure().what, "message: 'sent at' at byte 0 is outside the range of times");
}

TEST(ByteReader, RefusesBytesAfterTheEnd) {
    byte_reader in{"\x01\x02\x03"sv, "message"};
    std::uint8_t first = 0;
    ASSERT_TRUE(in.read(first, "first"));
    ASSERT_FALSE(in.read_end());
    EXPECT_EQ(in.failure().code, errc::frame_malformed);
    EXPECT_EQ(in.failure().what, "message: 'end' at byte 1 should be reached, but 2 bytes follow");
}

TEST(ByteReader, PlacesAValueThatIsNotAllowed) {
    byte_reader in{"\x01\x02"sv, "message"};
    in.name("keepalive");
    std::uint8_t number = 0;
    ASSERT_TRUE(in.read(number, "first"));
    ASSERT_TRUE(in.read(number, "second"));
    EXPECT_EQ(in.malformed("is odd").what, "keepalive: 'second' at byte 1 is odd");
    EXPECT_EQ(in.malformed("is odd").code, errc::frame_malformed);
}

}  // namespace
}  // namespace walrelay::wal
