// Values of each kind as JSON, read back by a parser of another make.
#include "outbox/json_value.hpp"

#include "outbox/complaints.hpp"
#include "unit/outbox/random_text.hpp"

#include <gtest/gtest.h>
#include <simdjson.h>

namespace walrelay::outbox {
namespace {

using std::string_literals::operator""s;

std::string json_of(std::string_view text, type_kind kind) {
    std::string json;
    EXPECT_EQ(append_json_value(json, text, kind), "") << text;
    return json;
}

std::string_view complaint_about(std::string_view text, type_kind kind) {
    std::string json;
    return append_json_value(json, text, kind);
}

TEST(JsonString, EscapesQuotesBackslashesAndControlBytes) {
    EXPECT_EQ(json_of("a\"b\\c/d", type_kind::text), R"("a\"b\\c/d")");
    EXPECT_EQ(json_of("\b\f\n\r\t", type_kind::text), R"("\b\f\n\r\t")");
    EXPECT_EQ(json_of("\x01\x1f"s + "\x7f", type_kind::text), "\"\\u0001\\u001f\x7f\"");
    EXPECT_EQ(json_of("Größe 日本 😀", type_kind::text), "\"Größe 日本 😀\"");
    EXPECT_EQ(json_of("", type_kind::text), R"("")");
}

TEST(JsonString, IsReadBackByAParserWhateverTheText) {
    constexpr unsigned seed = 31337;
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    simdjson::dom::parser parser;
    for (int round = 0; round < 3000; ++round) {
        const auto text = test::random_text(random, "ab\"\\/\b\f\n\r\t\x01\x1e u00\x7f", 20);
        const auto json = json_of(text, type_kind::text);
        const simdjson::padded_string document(json);
        std::string_view read;
        ASSERT_EQ(parser.parse(document).get_string().get(read), simdjson::SUCCESS) << json;
        EXPECT_EQ(read, text);
    }
}

TEST(JsonValue, EmbedsJsonByteForByte) {
    EXPECT_EQ(json_of("{ \"b\" : 1e400,\n\"a\":\"\\u00fc\" }", type_kind::json),
              "{ \"b\" : 1e400,\n\"a\":\"\\u00fc\" }");
}

TEST(JsonValue, KeepsNumbersDigitForDigit) {
    for (const char* number : {"0", "-42", "9223372036854775807", "0.10", "1e+20", "-1.5e-07",
                               "123456789012345678901234567890.12345"}) {
        EXPECT_EQ(json_of(number, type_kind::number), number);
    }
}

TEST(JsonValue, MakesStringsOfWhatJsonHasNoNumberFor) {
    EXPECT_EQ(json_of("NaN", type_kind::number), R"("NaN")");
    EXPECT_EQ(json_of("Infinity", type_kind::number), R"("Infinity")");
    EXPECT_EQ(json_of("-Infinity", type_kind::number), R"("-Infinity")");
}

TEST(JsonValue, SpellsBooleansOut) {
    EXPECT_EQ(json_of("t", type_kind::boolean), "true");
    EXPECT_EQ(json_of("f", type_kind::boolean), "false");
    EXPECT_EQ(complaint_about("yes", type_kind::boolean), complaint::not_boolean);
}

TEST(JsonValue, PutsByteaInBase64) {
    EXPECT_EQ(json_of("00ff", type_kind::bytea), R"("AP8=")");
    EXPECT_EQ(complaint_about("0", type_kind::bytea), complaint::not_hexadecimal);
}

TEST(JsonValue, PutsTimestampsInRfc3339) {
    EXPECT_EQ(json_of("2024-02-29 12:30:05.5+00", type_kind::timestamp),
              R"("2024-02-29T12:30:05.5Z")");
    EXPECT_EQ(complaint_about("infinity", type_kind::timestamp), complaint::not_rfc3339);
}

}  // namespace
}  // namespace walrelay::outbox
