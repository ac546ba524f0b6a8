// Values of each kind, from TOML and from text.
#include "config/read.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace walrelay::config {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

value typed(std::string text) {
    return {"file:1", std::move(text)};
}

value plain(std::string text) {
    return {"VARIABLE", plain_text{std::move(text)}};
}

read_result<milliseconds> duration(const std::string& text) {
    return read_duration(typed(text), {milliseconds(0)});
}

read_result<byte_size> size(const std::string& text) {
    return read_size(typed(text), {byte_size{0}, byte_size{1ULL << 40U}});
}

TEST(ReadText, TakesEveryTextButNul) {
    EXPECT_EQ(*read_text(typed("a\nb")), "a\nb");
    EXPECT_EQ(read_text(typed(std::string("a\0b", 3))).error().what, "holds a NUL character");
}

TEST(ReadBoolean, TakesTrueAndFalse) {
    EXPECT_TRUE(*read_boolean({"", true}));
    EXPECT_TRUE(*read_boolean(plain("true")));
    EXPECT_FALSE(*read_boolean(plain("false")));
}

TEST(ReadBoolean, RefusesEverythingElse) {
    EXPECT_EQ(read_boolean(plain("yes")).error(),
              complaint("\"yes\" is neither true nor false", "write true or false"));
    EXPECT_EQ(read_boolean(typed("true")).error(),
              complaint("expected a boolean, found a string", "write true or false"));
}

TEST(ReadInteger, TakesTheEndsOfTheRange) {
    EXPECT_EQ(*read_integer(plain("1"), {1, 5}), 1);
    EXPECT_EQ(*read_integer({"", std::int64_t{5}}, {1, 5}), 5);
}

TEST(ReadInteger, RefusesWhatIsOutOfRange) {
    EXPECT_EQ(read_integer(plain("0"), {1, 5}).error(),
              complaint("0 is out of range", "write a whole number from 1 to 5"));
    EXPECT_EQ(read_integer({"", std::int64_t{-6}}, {1, 9}).error(),
              complaint("-6 is out of range", "write a whole number from 1 to 9"));
}

TEST(ReadInteger, RefusesWhatIsNoInteger) {
    for (const std::string text :
         {"", "1.5", "1 ", " 1", "+1", "0x1", "1e3", "one", "99999999999999999999"}) {
        EXPECT_EQ(read_integer(plain(text), {1, 5}).error().what,
                  '"' + text + "\" is not a whole number");
    }
}

TEST(ReadDuration, KnowsItsUnits) {
    EXPECT_EQ(*duration("250ms"), milliseconds(250));
    EXPECT_EQ(*duration("5s"), milliseconds(5000));
    EXPECT_EQ(*duration("3m"), milliseconds(180'000));
    EXPECT_EQ(*duration("2h"), hours(2));
    EXPECT_EQ(*duration("7d"), hours(7 * 24));
    EXPECT_EQ(*duration("0s"), milliseconds(0));
}

TEST(ReadDuration, RefusesWhatIsNoDuration) {
    for (const std::string text :
         {"", "5", "s", "-5s", "5 s", " 5s", "1.5s", "5S", "5sec", "5us"}) {
        EXPECT_EQ(duration(text).error().what, '"' + text + "\" is not a duration");
    }
}

TEST(ReadDuration, RefusesWhatWouldOverflow) {
    EXPECT_EQ(*duration("365d"), hours(365 * 24));
    for (const std::string text :
         {"366d", "18446744073709551615ms", "18446744073709551615d", "99999999999999999999999s"}) {
        EXPECT_EQ(duration(text).error(),
                  complaint('"' + text + "\" is out of range", "write from \"0s\" to \"365d\""));
    }
}

TEST(ReadDuration, NamesWhatIsAllowed) {
    EXPECT_EQ(read_duration(typed("99ms"), {milliseconds(100)}).error(),
              complaint("\"99ms\" is out of range", "write from \"100ms\" to \"365d\""));
}

TEST(ReadSize, KnowsItsUnits) {
    EXPECT_EQ(size("7B")->bytes, 7U);
    EXPECT_EQ(size("2kB")->bytes, 2000U);
    EXPECT_EQ(size("2KiB")->bytes, 2048U);
    EXPECT_EQ(size("2MB")->bytes, 2'000'000U);
    EXPECT_EQ(size("2MiB")->bytes, 2U << 20U);
    EXPECT_EQ(size("2GB")->bytes, 2'000'000'000U);
    EXPECT_EQ(size("2GiB")->bytes, 2ULL << 30U);
}

TEST(ReadSize, RefusesWhatIsNoSize) {
    for (const std::string text : {"", "65536", "1K", "1kb", "1Mib", "-1B", "1 B", "1.5MiB"}) {
        EXPECT_EQ(size(text).error().what, '"' + text + "\" is not a byte size");
    }
}

TEST(ReadSize, RefusesWhatIsOutOfRange) {
    const bounds<byte_size> allowed{byte_size{1024}, byte_size{2048}};
    for (const std::string text :
         {"1023B", "3KiB", "99999999999999999999GiB", "9999999999999GiB"}) {
        EXPECT_EQ(read_size(typed(text), allowed).error(),
                  complaint('"' + text + "\" is out of range", "write from \"1KiB\" to \"2KiB\""));
    }
}

TEST(Show, TakesTheLargestUnitThatFits) {
    EXPECT_EQ(show(milliseconds(0)), "0s");
    EXPECT_EQ(show(milliseconds(1500)), "1500ms");
    EXPECT_EQ(show(milliseconds(90'000)), "90s");
    EXPECT_EQ(show(hours(48)), "2d");
    EXPECT_EQ(show(byte_size{0}), "0B");
    EXPECT_EQ(show(byte_size{1000}), "1000B");
    EXPECT_EQ(show(byte_size{32ULL << 20U}), "32MiB");
}

TEST(Show, IsReadBackAsTheSame) {
    for (const milliseconds each : {milliseconds(0), milliseconds(1), milliseconds(60'000)}) {
        EXPECT_EQ(*duration(show(each)), each);
    }
}

TEST(ReadList, SplitsATextAtItsCommas) {
    const auto list = read_list(plain("a, b ,,c"));
    ASSERT_EQ(list->size(), 4U);
    EXPECT_EQ(*text_of((*list)[1]), "b");
    EXPECT_EQ(*text_of((*list)[2]), "");
    EXPECT_EQ((*list)[3].where, "VARIABLE");
}

TEST(ReadList, DoesNotSplitAStringOfTheFile) {
    EXPECT_EQ(read_list(typed("a,b")).error().what, "expected a list of strings, found a string");
}

}  // namespace
}  // namespace walrelay::config
