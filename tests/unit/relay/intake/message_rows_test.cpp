// JSON objects of logical messages as rows.
#include "relay/intake/message_rows.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace walrelay::relay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// `name:type=value`, column by column.
std::vector<std::string> shown(const row_insert& row) {
    std::vector<std::string> columns;
    for (std::size_t index = 0; index < row.fields.size(); ++index) {
        const auto& about = row.table->columns[index];
        columns.push_back(about.name + ':' + std::to_string(about.type) + '=' +
                          std::string(row.fields[index].value_or("NULL")));
    }
    return columns;
}

class MessageRows : public testing::Test {
protected:
    std::vector<std::string> read(std::string_view content) {
        const auto row = rows.read(content);
        if (!row) {
            EXPECT_EQ(row.error().code, errc::row_unmappable);
            return {row.error().what};
        }
        return shown(*row);
    }
    std::string refusal(std::string_view content) {
        const auto row = rows.read(content);
        return row ? "it is taken" : row.error().what;
    }

    message_rows rows{message_source("walrelay"), {}};
};

TEST_F(MessageRows, KeysAreColumnsWithTheTypesOfJson) {
    EXPECT_THAT(read(R"({"id": 7, "name" : "Ada", "ok":true, "no": false, "note": null})"),
                ElementsAre("id:1700=7", "name:25=Ada", "ok:16=t", "no:16=f", "note:25=NULL"));
    EXPECT_THAT(read("{}"), IsEmpty());
}

TEST_F(MessageRows, HasAsManyKeysAsATableCanHaveColumns) {
    const auto with_keys = [](int count) {
        std::string content = "{";
        for (int key = 0; key < count; ++key) {
            content += (key == 0 ? "\"" : ",\"") + std::to_string(key) + "\":0";
        }
        return content + "}";
    };
    EXPECT_EQ(read(with_keys(1600)).size(), 1600U);
    EXPECT_THAT(refusal(with_keys(1601)), HasSubstr("more than 1600 keys"));
    EXPECT_THAT(refusal(with_keys(120'000)), HasSubstr("more than 1600 keys"));
}

TEST_F(MessageRows, NestedValuesStayByteForByte) {
    EXPECT_THAT(read("{\"a\":{ \"z\" : 1,\n\"b\":[ 1 , {} ] } , \"b\": [\t] }"),
                ElementsAre("a:3802={ \"z\" : 1,\n\"b\":[ 1 , {} ] }", "b:3802=[\t]"));
    EXPECT_THAT(read(R"({"a":{"\u0041":"]}\"","a":1,"a":2}})"),
                ElementsAre(R"(a:3802={"\u0041":"]}\"","a":1,"a":2})"));
}

TEST_F(MessageRows, NumbersStayAsTheyAreWritten) {
    EXPECT_THAT(
        read(R"({"a":123456789012345678901234567890,"b":-1.50e+3,"c":[98765432109876543210]})"),
        ElementsAre("a:1700=123456789012345678901234567890", "b:1700=-1.50e+3",
                    "c:3802=[98765432109876543210]"));
}

TEST_F(MessageRows, StringsAreUnescaped) {
    EXPECT_THAT(read(R"({"a\"b":"\u00fc\n\ud83d\ude00\\"})"), ElementsAre("a\"b:25=ü\n😀\\"));
}

TEST_F(MessageRows, RefuseWhatIsNoJsonObject) {
    for (const std::string_view content : {"",
                                           " ",
                                           "no JSON",
                                           "[]",
                                           "7",
                                           "\"{}\"",
                                           "null",
                                           "{\"a\":1",
                                           "{\"a\" 1}",
                                           "{a:1}",
                                           "{\"a\":01}",
                                           "{\"a\":+1}",
                                           "{\"a\":1.}",
                                           "{\"a\":nul}",
                                           "{\"a\":\"\\x\"}",
                                           "{\"a\":[1,]}",
                                           "{\"a\":{\"b\":tru}}",
                                           "{\"a\":{\"b\" 1}}",
                                           "{\"a\":\"\t\"}",
                                           "{\"a\":\"\xff\"}",
                                           "{} {}",
                                           "{}x",
                                           "{\"a\":1},",
                                           "{\"a\":[}]}",
                                           "{\"a\":[1 2]}"}) {
        EXPECT_THAT(refusal(content),
                    testing::StartsWith("a logical message with prefix walrelay "))
            << content;
    }
    EXPECT_EQ(refusal("[]"), "a logical message with prefix walrelay is no JSON object");
}

TEST_F(MessageRows, RefuseAKeyThatStandsTwice) {
    EXPECT_THAT(refusal(R"({"id":1,"id":2})"), HasSubstr("has the key \"id\" twice"));
    EXPECT_THAT(refusal(R"({"id":1,"\u0069d":2})"), HasSubstr("has the key \"id\" twice"));
}

TEST_F(MessageRows, BoundTheirDepth) {
    const auto nested = [](std::size_t levels) {
        return R"({"a":)" + std::string(levels, '[') + std::string(levels, ']') + '}';
    };
    EXPECT_EQ(read(nested(500)).size(), 1U);
    EXPECT_THAT(refusal(nested(600)), HasSubstr("key \"a\""));
    EXPECT_THAT(refusal(nested(100000)), HasSubstr("key \"a\""));
}

TEST_F(MessageRows, HaveTheNeededColumnsInAnyCase) {
    message_rows with_needed{message_source("walrelay"), {"id", "correlation_id", "id"}};
    EXPECT_THAT(shown(*with_needed.read(R"({"id":"a"})")),
                ElementsAre("id:25=a", "correlation_id:25=NULL"));
}

TEST_F(MessageRows, KeepTheDescriptionOfTheSameColumns) {
    const auto* first = rows.read(R"({"id":1,"a":"x"})")->table;
    const auto revision = first->revision;
    EXPECT_EQ(first->schema, "pg_logical_message");
    EXPECT_EQ(first->name, "walrelay");
    EXPECT_EQ(rows.read(R"({"id":2,"a":"y"})")->table->revision, revision);
    EXPECT_NE(rows.read(R"({"id":2,"a":{}})")->table->revision, revision);
    EXPECT_NE(rows.read(R"({"a":"y","id":2})")->table->revision, revision);
}

TEST_F(MessageRows, NeverGiveARevisionToOtherColumns) {
    std::map<std::uint64_t, std::vector<column>> seen;
    for (int round = 0; round < 1000; ++round) {
        const auto row = *rows.read("{\"c" + std::to_string(round % 400) + "\":1}");
        const auto [place, fresh] = seen.emplace(row.table->revision, row.table->columns);
        EXPECT_EQ(place->second, row.table->columns) << fresh;
    }
}

TEST_F(MessageRows, KeepContentThatCannotBeRead) {
    EXPECT_THAT(shown(rows.unreadable("no JSON")), ElementsAre("content:25=no JSON"));
    EXPECT_THAT(shown(rows.unreadable("\xff{")), ElementsAre("content:17=ff7b"));
    EXPECT_THAT(shown(rows.unreadable(std::string_view("a\0", 2))), ElementsAre("content:17=6100"));
}

TEST_F(MessageRows, AreNoLongerThanTheirContent) {
    const std::string large(3U << 20U, 'x');
    EXPECT_THAT(read(R"({"a":")" + large + "\"}"), ElementsAre("a:25=" + large));
    EXPECT_THAT(read(R"({"a":{}})"), ElementsAre("a:3802={}"));
}

}  // namespace
}  // namespace walrelay::relay
