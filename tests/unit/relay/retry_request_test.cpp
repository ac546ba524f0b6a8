#include "relay/retry_request.hpp"

#include <gtest/gtest.h>

namespace walrelay::relay {
namespace {

TEST(RetryRequest, GivesTheRowBack) {
    auto parsed = retry_request::parse(
        R"({"table":{"schema":"odd.s","name":"o\"t"},"occasion":"retry-7-1",)"
        R"("columns":[{"name":"id","type":2950,"value":"x"},{"name":"n","type":25,"value":null},)"
        R"({"name":"t","type":25,"value":"a\u00e9\n"}]})",
        42);
    ASSERT_TRUE(parsed) << parsed.error().what;
    // The views must follow the object.
    const retry_request request = std::move(*parsed);
    EXPECT_EQ(request.table(), (table_name{"odd.s", "o\"t"}));
    EXPECT_EQ(request.occasion(), "retry-7-1");
    const auto row = request.row();
    EXPECT_EQ(row.table->revision, 42U);
    EXPECT_EQ(row.table->columns.at(0), (column{"id", 2950}));
    ASSERT_EQ(row.fields.size(), 3U);
    EXPECT_EQ(row.fields[0], "x");
    EXPECT_EQ(row.fields[1], std::nullopt);
    EXPECT_EQ(row.fields[2], "a\u00e9\n");
}

TEST(RetryRequest, RefusesEverythingElse) {
    for (const auto* const content :
         {"", "{", "[]", "null", R"({"table":{"schema":"s","name":"n"},"occasion":"o"})",
          R"({"table":{"schema":"s"},"occasion":"o","columns":[]})",
          R"({"table":{"schema":"s","name":"n"},"columns":[]})",
          R"({"table":{"schema":"s","name":"n"},"occasion":"o","columns":[{"name":"a"}]})",
          R"({"table":{"schema":"s","name":"n"},"occasion":"o",)"
          R"("columns":[{"name":"a","type":-1,"value":"x"}]})",
          R"({"table":{"schema":"s","name":"n"},"occasion":"o",)"
          R"("columns":[{"name":"a","type":99999999999,"value":"x"}]})",
          R"({"table":{"schema":"s","name":"n"},"occasion":"o",)"
          R"("columns":[{"name":"a","type":25,"value":7}]})"}) {
        const auto parsed = retry_request::parse(content, 1);
        ASSERT_FALSE(parsed) << content;
        EXPECT_EQ(parsed.error().code, errc::row_unmappable);
    }
}

}  // namespace
}  // namespace walrelay::relay
