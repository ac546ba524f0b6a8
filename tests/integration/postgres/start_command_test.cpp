#include "postgres/session/start_command.hpp"

#include "core/sql_text.hpp"

#include <gtest/gtest.h>

namespace walrelay::postgres {
namespace {

TEST(StartCommand, OfPgoutputQuotesThePublicationTwice) {
    EXPECT_EQ(start_command({.slot = "walrelay",
                             .plugin = output_plugin::pgoutput,
                             .publication = "it's \"mine\"",
                             .add_tables = {}},
                            130'000),
              "START_REPLICATION SLOT \"walrelay\" LOGICAL 0/0 (\"proto_version\" '1', "
              "\"publication_names\" '\"it''s \"\"mine\"\"\"')");
}

TEST(StartCommand, OfPgoutputAsksForMessagesWhereTheServerHasThem) {
    start_options options{
        .slot = "s", .plugin = output_plugin::pgoutput, .publication = "p", .add_tables = {}};
    EXPECT_EQ(start_command(options, 140'000).find("messages"), std::string::npos)
        << "anybody can send very large ones";
    options.message_prefixes = {"orders"};
    EXPECT_EQ(start_command(options, 140'000),
              "START_REPLICATION SLOT \"s\" LOGICAL 0/0 (\"proto_version\" '1', "
              "\"publication_names\" '\"p\"', \"messages\" 'true')");
    EXPECT_EQ(start_command(options, 139'999).find("messages"), std::string::npos);
}

TEST(StartCommand, OfWal2jsonAsksForNoTypeNames) {
    EXPECT_EQ(start_command({.slot = "s",
                             .plugin = output_plugin::wal2json,
                             .publication = "",
                             .add_tables = {},
                             .nonce = "17"},
                            130'000),
              "START_REPLICATION SLOT \"s\" LOGICAL 0/0 (\"format-version\" '2', \"include-lsn\" "
              "'1', \"include-timestamp\" '1', \"include-types\" '0', \"include-type-oids\" '1', "
              "\"include-transaction\" '1', \"actions\" 'insert', \"add-msg-prefixes\" "
              "'walrelay.none.17')");
}

TEST(StartCommand, OfWal2jsonAsksForMessagesOfMorePrefixes) {
    const start_options options{.slot = "s",
                                .plugin = output_plugin::wal2json,
                                .publication = "",
                                .add_tables = {},
                                .message_prefixes = {"orders", "a/b"}};
    EXPECT_NE(start_command(options, 130'000).find("'orders,a/b'"), std::string::npos);
}

TEST(StartCommand, OfWal2jsonAsksForTransactionIdsWhereTheyAreWanted) {
    start_options options{
        .slot = "s", .plugin = output_plugin::wal2json, .publication = "", .add_tables = {}};
    EXPECT_EQ(start_command(options, 130'000).find("xids"), std::string::npos);
    options.xids = true;
    EXPECT_NE(start_command(options, 130'000).find("\"include-xids\" '1'"), std::string::npos);
}

TEST(StartCommand, EscapesWhatWal2jsonCouldMisread) {
    const std::vector<table_name> tables{{"public", "outbox_2"}, {"a.b", "c,d e"}, {"*", "\\"}};
    EXPECT_EQ(wal2json_table_list(tables), R"(public.outbox_2,a\.b.c\,d\ e,\*.\\)");
}

TEST(SqlText, QuotesIdentifiersAndLiterals) {
    EXPECT_EQ(quote_identifier("a\"b"), "\"a\"\"b\"");
    EXPECT_EQ(quote_literal("it's"), "'it''s'");
    EXPECT_EQ(quote_literal("a\\'b"), "E'a\\\\''b'");
}

TEST(SqlText, ShowsWhatIsSent) {
    const std::vector<table_name> tables{{"public", "a"}, {"S", "b"}};
    EXPECT_EQ(create_publication_sql("walrelay", tables),
              "CREATE PUBLICATION \"walrelay\" FOR TABLE \"public\".\"a\", \"S\".\"b\" WITH "
              "(publish = 'insert', publish_via_partition_root = true);");
    EXPECT_EQ(create_slot_sql("walrelay", output_plugin::wal2json),
              "SELECT lsn FROM pg_create_logical_replication_slot('walrelay', 'wal2json');");
}

}  // namespace
}  // namespace walrelay::postgres
