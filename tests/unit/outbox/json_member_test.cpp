// A member of a JSON object, as `->>` of SQL gives it.
#include "outbox/json_member.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace walrelay::outbox {
namespace {

std::optional<std::string> member(std::string_view json, std::string_view key = "key") {
    json_member_reader reader;
    const auto found = reader.read(json, key);
    return found ? std::optional(std::string(*found)) : std::nullopt;
}

TEST(JsonMember, IsTextWithoutItsQuotesAndEscapes) {
    EXPECT_EQ(member(R"({"a": 1, "key": "a\"\u00fc"})"), "a\"ü");
    EXPECT_EQ(member(R"({"key": ""})"), "");
}

TEST(JsonMember, IsAnythingElseAsItIsWritten) {
    EXPECT_EQ(member(R"({"key": 1.50 , "b": 2})"), "1.50");
    EXPECT_EQ(member(R"({"key": true})"), "true");
    EXPECT_EQ(member(R"({"key": {"a": [1, 2]}})"), R"({"a": [1, 2]})");
    EXPECT_EQ(member(R"({"key": [1, "x"]})"), R"([1, "x"])");
}

TEST(JsonMember, IsTheLastOfItsName) {
    EXPECT_EQ(member(R"({"key": 1, "key": 2})"), "2");
    EXPECT_EQ(member(R"({"key": 1, "key": null})"), std::nullopt);
}

TEST(JsonMember, IsFoundByItsNameWithoutEscapes) {
    EXPECT_EQ(member(R"({"k\u0065y": 1})"), "1");
    EXPECT_EQ(member(R"({"Key": 1})"), std::nullopt);
}

TEST(JsonMember, IsNoneWhereThereIsNoSuchObject) {
    for (const std::string_view json : {"", "{}", R"({"key": null})", R"(["key"])", "\"key\"", "1",
                                        R"({"key": )", R"({"key": "x)", "{\"a\": {\"key\": 1}}"}) {
        EXPECT_EQ(member(json), std::nullopt) << json;
    }
}

TEST(JsonMember, IsReadFromRowToRow) {
    json_member_reader reader;
    EXPECT_EQ(reader.read(R"({"key": "a long text that is not kept in place"})", "key"),
              "a long text that is not kept in place");
    EXPECT_EQ(reader.read(R"({"key": "b"})", "key"), "b");
}

}  // namespace
}  // namespace walrelay::outbox
