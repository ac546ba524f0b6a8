// Names of tables as SQL writes them.
#include "config/identifier.hpp"

#include <gtest/gtest.h>

#include <string>

namespace walrelay::config {
namespace {

TEST(TableName, DefaultsToTheSchemaPublic) {
    EXPECT_EQ(*read_table_name("events"), (table_name{"public", "events"}));
}

TEST(TableName, FoldsPartsWithoutQuotes) {
    EXPECT_EQ(*read_table_name("App.Outbox_Events$1"), (table_name{"app", "outbox_events$1"}));
}

TEST(TableName, FoldsNothingButAsciiLetters) {
    EXPECT_EQ(*read_table_name("\u00c4RGER"), (table_name{"public", "\u00c4rger"}));
}

TEST(TableName, KeepsQuotedPartsAsTheyAre) {
    EXPECT_EQ(*read_table_name(R"("Odd Schema"."My.Table")"),
              (table_name{"Odd Schema", "My.Table"}));
    EXPECT_EQ(*read_table_name(R"(App."T")"), (table_name{"app", "T"}));
}

TEST(TableName, ReadsADoubledQuoteAsOne) {
    EXPECT_EQ(*read_table_name(R"("a""b"."""")"), (table_name{"a\"b", "\""}));
}

TEST(TableName, RefusesWhatSqlWouldNotTake) {
    for (const std::string text :
         {"", ".", "a.", ".a", "a.b.c", "a b", "my-table", "1st", "a. b", "\"\"", "\"a", "\"a\"b",
          "a\"b\"", "\"a\".", "a;drop table b", "a.*"}) {
        EXPECT_TRUE(read_table_name(text).has_error()) << text;
    }
}

TEST(TableName, SaysHowToQuote) {
    EXPECT_EQ(read_table_name("my-table").error(),
              complaint("\"my-table\" is not the name of a table",
                        "write schema.table, and double quotes around a part that needs them in "
                        "SQL: public.\"My Table\""));
}

TEST(TableName, RefusesWhatPostgresWouldCutShort) {
    EXPECT_TRUE(read_table_name(std::string(63, 'a')).has_value());
    EXPECT_EQ(
        read_table_name("s." + std::string(64, 'a')).error().what,
        '"' + std::string(64, 'a') + "\" is longer than the 63 bytes of a name in PostgreSQL");
}

}  // namespace
}  // namespace walrelay::config
