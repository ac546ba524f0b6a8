// The parser of wal2json's objects: memory from row to row, and rows of any size.
#include "wal/wal2json/wal2json_object.hpp"

#include <gtest/gtest.h>

#include <string>

namespace walrelay::wal {
namespace {

std::string row_of(const std::string& value) {
    return R"({"action":"I","schema":"s","table":"t",)"
           R"("columns":[{"name":"c","typeoid":25,"value":")" +
           value + R"("}]})";
}

TEST(Wal2jsonObject, ReadsRowsOfAnySizeOneAfterTheOther) {
    wal2json_parser parser;
    for (const std::size_t size : {0U, 1U, 4'000U, 5'000U, 100'000U, 1U, 3'000'000U, 2'000'000U,
                                   4'000'000U, 10U, 1'048'576U, 64U}) {
        const std::string value(size, 'v');
        const auto read = parser.parse(row_of(value));
        ASSERT_TRUE(read) << size;
        EXPECT_EQ((*read)->fields.at(0), value) << size;
    }
}

TEST(Wal2jsonObject, HasRoomForRowsOfEscapesOnly) {
    wal2json_parser parser;
    for (const std::size_t count : {1U, 1'000U, 500'000U}) {
        std::string escapes;
        for (std::size_t index = 0; index < count; ++index) {
            escapes += "\\u00e9";
        }
        const auto read = parser.parse(row_of(escapes));
        ASSERT_TRUE(read) << count;
        EXPECT_EQ((*read)->fields.at(0)->size(), 2 * count);
    }
}

TEST(Wal2jsonObject, UsesTheSameMemoryForTheNextRow) {
    wal2json_parser parser;
    const auto first = parser.parse(row_of("one"));
    ASSERT_TRUE(first);
    const auto* const fields = (*first)->fields.data();
    const auto* const text = (*first)->fields[0]->data();
    const auto second = parser.parse(row_of("two"));
    ASSERT_TRUE(second);
    EXPECT_EQ((*second)->fields.data(), fields);
    EXPECT_EQ((*second)->fields[0]->data(), text);
}

TEST(Wal2jsonObject, HasNothingLeftOfTheLastOne) {
    wal2json_parser parser;
    ASSERT_TRUE(parser.parse(row_of("one")));
    const auto read = parser.parse(R"({"action":"C"})");
    ASSERT_TRUE(read);
    EXPECT_FALSE((*read)->schema);
    EXPECT_FALSE((*read)->table);
    EXPECT_FALSE((*read)->has_columns);
    EXPECT_TRUE((*read)->columns.empty());
    EXPECT_TRUE((*read)->fields.empty());
}

TEST(Wal2jsonObject, CanBeReadAfterAnError) {
    wal2json_parser parser;
    ASSERT_FALSE(parser.parse(R"({"action":)"));
    ASSERT_FALSE(parser.parse(""));
    const auto read = parser.parse(row_of("one"));
    ASSERT_TRUE(read);
    EXPECT_EQ((*read)->fields.at(0), "one");
}

TEST(Wal2jsonObject, SaysTruncatedOfWhatEndsEarly) {
    wal2json_parser parser;
    EXPECT_EQ(parser.parse("").error().code, errc::frame_truncated);
    EXPECT_EQ(parser.parse(R"({"action":"C)").error().code, errc::frame_truncated);
    EXPECT_EQ(parser.parse(R"({"action":"C")").error().code, errc::frame_truncated);
}

}  // namespace
}  // namespace walrelay::wal
