// The text between the values of a table's rows.
#include "wal/wal2json/wal2json_row_template.hpp"

#include <gtest/gtest.h>

#include <string>

namespace walrelay::wal {
namespace {

relation table_of(std::vector<column> columns) {
    return {"public", "events", std::move(columns), 7};
}

std::string row_of(const std::string& columns) {
    return R"(,"schema":"public","table":"events","columns":[)" + columns + "]}";
}

/// The values, one after the other; "refused" if the row does not fit.
std::string values_of(const wal2json_row_template& text, const std::string& row) {
    std::string room(row.size(), ' ');
    std::vector<field> fields;
    if (!text.take({row, room.data()}, fields)) {
        return "refused";
    }
    std::string values;
    for (const auto& each : fields) {
        values += each ? std::string{*each} + ';' : "NULL;";
    }
    return values;
}

TEST(Wal2jsonRowTemplate, FitsTheRowsOfItsTable) {
    const wal2json_row_template text{table_of({{"id", 20}, {"note", 25}, {"ok", 16}})};
    EXPECT_EQ(text.revision(), 7U);
    EXPECT_EQ(values_of(text, row_of(R"({"name":"id","typeoid":20,"value":1},)"
                                     R"({"name":"note","typeoid":25,"value":"a \"b\""},)"
                                     R"({"name":"ok","typeoid":16,"value":true})")),
              "1;a \"b\";t;");
    EXPECT_EQ(values_of(text, row_of(R"({"name":"id","typeoid":20,"value":null},)"
                                     R"({"name":"note","typeoid":25,"value":null},)"
                                     R"({"name":"ok","typeoid":16,"value":null})")),
              "NULL;NULL;NULL;");
}

TEST(Wal2jsonRowTemplate, FitsNoOtherRow) {
    const wal2json_row_template text{table_of({{"id", 20}})};
    const std::string row = row_of(R"({"name":"id","typeoid":20,"value":1})");
    ASSERT_EQ(values_of(text, row), "1;");
    for (const auto& other :
         {row_of(R"({"name":"ID","typeoid":20,"value":1})"),
          row_of(R"({"name":"id","typeoid":23,"value":1})"),
          row_of(R"({"name":"id","typeoid":20,"value":1,"optional":true})"),
          row_of(R"({"name":"id","type":"bigint","typeoid":20,"value":1})"),
          row_of(R"({"name":"id","typeoid":20,"value": 1})"),
          row_of(R"({"name":"id","typeoid":20,"value":1},{"name":"b","typeoid":20,"value":1})"),
          row_of(""), row + " ", row + "}", row.substr(1), row.substr(0, row.size() - 1),
          std::string{R"(,"schema":"other","table":"events","columns":[)"
                      R"({"name":"id","typeoid":20,"value":1}]})"},
          std::string{}}) {
        EXPECT_EQ(values_of(text, other), "refused") << other;
    }
}

TEST(Wal2jsonRowTemplate, FitsRowsWithoutColumns) {
    const wal2json_row_template text{table_of({})};
    EXPECT_EQ(values_of(text, row_of("")), "");
    EXPECT_EQ(values_of(text, row_of("1")), "refused");
}

TEST(Wal2jsonRowTemplate, HasTypesOfTheUpperHalfNegative) {
    const wal2json_row_template text{table_of({{"id", 4'294'967'295}})};
    EXPECT_EQ(values_of(text, row_of(R"({"name":"id","typeoid":-1,"value":1})")), "1;");
}

TEST(Wal2jsonRowTemplate, HasNamesBeyondAscii) {
    const wal2json_row_template text{table_of({{"naïve/名", 25}})};
    EXPECT_EQ(values_of(text, row_of(R"({"name":"naïve/名","typeoid":25,"value":"é"})")), "é;");
}

TEST(Wal2jsonRowTemplate, FitsNothingWhereANameHasToBeEscaped) {
    for (const std::string name : {"a\"b", "a\\b", "a\nb", "a\x01"}) {
        const wal2json_row_template text{table_of({{name, 25}})};
        EXPECT_EQ(text.revision(), 7U);
        EXPECT_EQ(values_of(text, row_of(R"({"name":")" + name + R"(","typeoid":25,"value":1})")),
                  "refused");
    }
    const wal2json_row_template of_schema{{"a\"b", "t", {}, 1}};
    EXPECT_EQ(values_of(of_schema, R"(,"schema":"a"b","table":"t","columns":[]})"), "refused");
    const wal2json_row_template of_table{{"s", "a\"b", {}, 1}};
    EXPECT_EQ(values_of(of_table, R"(,"schema":"s","table":"a"b","columns":[]})"), "refused");
}

TEST(Wal2jsonRowTemplate, FitsNothingWithoutATable) {
    EXPECT_EQ(wal2json_row_template{}.revision(), 0U);
    EXPECT_EQ(values_of({}, ""), "refused");
}

}  // namespace
}  // namespace walrelay::wal
