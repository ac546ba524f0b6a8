// The cursor over wal2json's text: what it takes, and what it leaves to simdjson.
#include "wal/wal2json/wal2json_cursor.hpp"

#include <gtest/gtest.h>

#include <string>

namespace walrelay::wal {
namespace {

/// A cursor over a copy of the text that is just as long as it is, beside a room of the same size:
/// a sanitizer sees one byte too many of either.
class cursor_over {
public:
    explicit cursor_over(const std::string& text)
        : text_(text.begin(), text.end()), room_(text.size()) {}

    wal2json_cursor cursor() { return {{text_.data(), text_.size()}, room_.data()}; }

private:
    std::vector<char> text_;
    std::vector<char> room_;
};

/// The string, if all of the JSON is taken for one.
std::optional<std::string> string_of(const std::string& json) {
    cursor_over over{json};
    auto cursor = over.cursor();
    std::string_view text;
    if (!cursor.take_string(text) || !cursor.at_end()) {
        return std::nullopt;
    }
    return std::string{text};
}

/// The value, if all of the JSON is taken for one; "refused" if not.
std::string value_of(const std::string& json) {
    cursor_over over{json};
    auto cursor = over.cursor();
    field value;
    if (!cursor.take_value(value) || !cursor.at_end()) {
        return "refused";
    }
    return value ? "text " + std::string{*value} : "null";
}

TEST(Wal2jsonCursor, TakesStringsOfAnyLength) {
    for (std::size_t length = 0; length < 40; ++length) {
        const std::string text(length, 'x');
        EXPECT_EQ(string_of('"' + text + '"'), text);
        EXPECT_EQ(string_of('"' + text), std::nullopt);
    }
}

TEST(Wal2jsonCursor, TakesEveryEscapeWhereverItStands) {
    for (std::size_t before = 0; before < 20; ++before) {
        const std::string text(before, 'x');
        EXPECT_EQ(string_of('"' + text + R"(\"\\\/\b\f\n\r\ty")"), text + "\"\\/\b\f\n\r\ty");
        EXPECT_EQ(string_of('"' + text + R"(\""y")"), std::nullopt);
        EXPECT_EQ(string_of('"' + text + R"(\")"), std::nullopt);
        EXPECT_EQ(string_of('"' + text + '\\'), std::nullopt);
    }
}

TEST(Wal2jsonCursor, LeavesEscapesOfDigitsAndUnknownOnesToOthers) {
    for (int letter = 0; letter < 256; ++letter) {
        const auto character = static_cast<char>(letter);
        const bool known = std::string_view{R"("\/bfnrt)"}.find(character) != std::string::npos;
        EXPECT_EQ(string_of(std::string{"\"\\"} + character + "0041\"").has_value(), known)
            << letter;
    }
}

TEST(Wal2jsonCursor, TakesEveryByteButControlCharactersWhereverItStands) {
    for (int letter = 0; letter < 256; ++letter) {
        const auto character = static_cast<char>(letter);
        if (character == '"' || character == '\\') {
            continue;
        }
        for (std::size_t before = 0; before < 17; ++before) {
            const auto text = std::string(before, '~') + character + std::string(17 - before, ' ');
            const auto read = string_of('"' + text + '"');
            EXPECT_EQ(read, letter < 0x20 ? std::nullopt : std::optional{text}) << letter;
        }
    }
}

TEST(Wal2jsonCursor, TakesEveryKindOfValue) {
    EXPECT_EQ(value_of("null"), "null");
    EXPECT_EQ(value_of("true"), "text t");
    EXPECT_EQ(value_of("false"), "text f");
    EXPECT_EQ(value_of(R"("null")"), "text null");
    EXPECT_EQ(value_of(R"("")"), "text ");
    for (const std::string number :
         {"0", "-1", "1.50", "12345678901234567890.0123456789", "1e+40", "5e-324"}) {
        EXPECT_EQ(value_of(number), "text " + number);
    }
}

TEST(Wal2jsonCursor, TakesNothingElseForAValue) {
    for (const std::string json : {"", "nul", "nulls", "True", "truer", "-", "e", ".", "NaN", "x",
                                   "1a", " 1", "1 ", "[1]", "{}", "'a'"}) {
        EXPECT_EQ(value_of(json), "refused") << json;
    }
}

TEST(Wal2jsonCursor, StaysInFrontOfALiteralThatIsNotThere) {
    cursor_over over{R"({"a":1)"};
    auto cursor = over.cursor();
    EXPECT_FALSE(cursor.take(R"({"b":)"));
    EXPECT_FALSE(cursor.take(R"({"a":12)"));
    EXPECT_EQ(cursor.offset_bytes(), 0U);
    EXPECT_TRUE(cursor.take(R"({"a":)"));
    EXPECT_EQ(cursor.offset_bytes(), 5U);
    EXPECT_FALSE(cursor.at_end());
    EXPECT_TRUE(cursor.take("1"));
    EXPECT_TRUE(cursor.at_end());
    EXPECT_FALSE(cursor.take("1"));
}

TEST(Wal2jsonCursor, KeepsTheStringsThatItGaveOut) {
    cursor_over over{R"("first\n""second")"};
    auto cursor = over.cursor();
    std::string_view first;
    std::string_view second;
    ASSERT_TRUE(cursor.take_string(first) && cursor.take_string(second));
    EXPECT_EQ(first, "first\n");
    EXPECT_EQ(second, "second");
}

}  // namespace
}  // namespace walrelay::wal
