#include "core/json_string.hpp"

#include <gtest/gtest.h>

namespace walrelay {
namespace {

TEST(JsonString, EscapesWhatJsonMustNotHave) {
    EXPECT_EQ(json_string("a\"b\\c\n\x01"), R"("a\"b\\c\u000a\u0001")");
}

TEST(JsonString, EscapesWhatTurnsATextOrBreaksItsLines) {
    EXPECT_EQ(json_string("a\u202Eb\u2028\u2066c\u200F\u0085\x7F"),
              R"("a\u202eb\u2028\u2066c\u200f\u0085\u007f")");
    EXPECT_EQ(json_string("\u00FC \u20AC \U0001F600"), "\"\u00FC \u20AC \U0001F600\"");
}

TEST(JsonString, HasNoByteThatIsNoCharacter) {
    EXPECT_EQ(json_string("a\xFF\xE2\x80"), R"("a\ufffd\ufffd\ufffd")");
}

TEST(PrintableJson, IsTheSameValueWithoutThoseCharacters) {
    EXPECT_EQ(printable_json("{\"k\u202E\":\"v\u2029\"}"), R"({"k\u202e":"v\u2029"})");
    EXPECT_EQ(printable_json(R"({"a":"\"\\", "b":[1]})"), R"({"a":"\"\\", "b":[1]})");
}

}  // namespace
}  // namespace walrelay
