#include "support/json_schema.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace walrelay::test {
namespace {

using wrong = std::vector<std::string>;

constexpr const char* person = R"({
    "type": "object",
    "properties": {
        "name": {"type": "string", "pattern": "^[a-z]+$"},
        "age": {"type": ["integer", "null"], "minimum": 0},
        "kind": {"enum": ["user", "role"]},
        "tags": {"type": "array", "items": {"$ref": "#/$defs/tag"}}
    },
    "required": ["name"],
    "additionalProperties": false,
    "$defs": {"tag": {"type": "string"}}
})";

TEST(JsonSchema, FindsNothingWrongWithWhatFits) {
    EXPECT_EQ(violations(R"({"name":"a"})", person), wrong{});
    EXPECT_EQ(violations(R"({"name":"a","age":3,"kind":"role","tags":["x"]})", person), wrong{});
    EXPECT_EQ(violations(R"({"name":"a","age":null,"tags":[]})", person), wrong{});
}

TEST(JsonSchema, NamesThePlaceOfWhatDoesNotFit) {
    EXPECT_EQ(violations(R"({})", person), wrong{"/: lacks \"name\""});
    EXPECT_EQ(violations(R"({"name":"A"})", person),
              wrong{R"(/name: "A" does not match "^[a-z]+$")"});
    EXPECT_EQ(violations(R"({"name":"a","age":-1})", person), wrong{"/age: -1 is less than 0"});
    EXPECT_EQ(violations(R"({"name":"a","age":1.5})", person),
              wrong{R"(/age: 1.5 is no ["integer","null"])"});
    EXPECT_EQ(violations(R"({"name":"a","kind":"x"})", person),
              wrong{R"(/kind: "x" is none of ["user","role"])"});
    EXPECT_EQ(violations(R"({"name":"a","tags":["x",1]})", person),
              wrong{R"(/tags/1: 1 is no "string")"});
    EXPECT_EQ(violations(R"({"name":"a","more":1})", person), wrong{"/more: is not in the schema"});
    EXPECT_EQ(violations("[]", person), wrong{R"(/: [] is no "object")"});
    EXPECT_EQ(violations("{", person).size(), 1U);
}

TEST(JsonSchema, TakesOneOfSeveral) {
    constexpr const char* either = R"({"anyOf":[{"type":"string"},{"const":1}]})";
    EXPECT_EQ(violations("\"a\"", either), wrong{});
    EXPECT_EQ(violations("1", either), wrong{});
    EXPECT_EQ(violations("2", either).size(), 1U);
}

TEST(JsonSchema, JudgesMembersThatHaveNoNameOfTheirOwn) {
    constexpr const char* numbers = R"({"additionalProperties":{"type":"number"}})";
    EXPECT_EQ(violations(R"({"a":1,"b":2.5})", numbers), wrong{});
    EXPECT_EQ(violations(R"({"a":"1"})", numbers), wrong{R"(/a: "1" is no "number")"});
}

TEST(JsonSchema, RefusesRulesThatItWouldNotKeep) {
    EXPECT_THROW(static_cast<void>(violations("1", R"({"maximum":3})")), std::runtime_error);
}

}  // namespace
}  // namespace walrelay::test
