// The keys of [[outbox]]: table, columns, headers, body.
#include "config/load.hpp"
#include "unit/config/loading.hpp"

namespace walrelay::config {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

TEST(OutboxTables, KeepTheOrderOfTheFile) {
    const auto loaded = must_load_beside_essentials("[[outbox]]\ntable = \"a.b\"\n");
    ASSERT_EQ(loaded.outbox.size(), 2U);
    EXPECT_EQ(loaded.outbox[0].table, (table_name{"public", "events"}));
    EXPECT_EQ(loaded.outbox[1].table, (table_name{"a", "b"}));
}

TEST(OutboxTables, TakeColumnNamesAsTheyAre) {
    const auto loaded = must_load_beside_essentials(
        "columns = { id = \"Event Id\", aggregate_type = \"a\", aggregate_id = \"b\", "
        "event_type = \"c\", payload = \"d\", metadata = \"e\", version = \"f\", "
        "created_at = \"g\" }\n");
    const outbox_columns& columns = loaded.outbox[0].columns;
    EXPECT_EQ(columns.id, "Event Id");
    EXPECT_EQ(columns.aggregate_type, "a");
    EXPECT_EQ(columns.aggregate_id, "b");
    EXPECT_EQ(columns.event_type, "c");
    EXPECT_EQ(columns.payload, "d");
    EXPECT_EQ(columns.metadata, "e");
    EXPECT_EQ(columns.version, "f");
    EXPECT_EQ(columns.created_at, "g");
}

TEST(OutboxTables, LeaveRolesThatAreNotNamedUnset) {
    const auto loaded = must_load_beside_essentials("columns = { id = \"a\" }\n");
    EXPECT_EQ(loaded.outbox[0].columns.payload, std::nullopt);
}

TEST(OutboxTables, RefuseEveryUnknownRole) {
    EXPECT_THAT(
        problems_beside_essentials("[outbox.columns]\naggregat_id = \"a\"\ncolour = \"b\"\n"),
        ElementsAre("walrelay.toml:6: outbox.columns.aggregat_id: is not a role of a "
                    "column; fix: write aggregate_id, or remove it",
                    "walrelay.toml:7: outbox.columns.colour: is not a role of a column; "
                    "fix: remove it; a template may name any column without giving it "
                    "a role"));
}

TEST(OutboxTables, RefuseARoleWithoutAColumn) {
    EXPECT_THAT(problems_beside_essentials("columns = { id = \"\", version = 1 }\n"),
                ElementsAre("walrelay.toml:5: outbox.columns.id: names no column; fix: "
                            "write the name of the column, or remove the role",
                            "walrelay.toml:5: outbox.columns.version: expected a string, found an "
                            "integer; fix: write it in quotes"));
}

TEST(OutboxTables, WantATableOfColumnsAndHeaders) {
    EXPECT_THAT(problems_beside_essentials("columns = \"id\"\nheaders = []\n"),
                ElementsAre("walrelay.toml:5: outbox.columns: expected a table of strings, found a "
                            "string; fix: write it in braces, such as { name = \"text\" }",
                            "walrelay.toml:6: outbox.headers: expected a table of strings, found a "
                            "list; fix: write it in braces, such as { name = \"text\" }"));
}

TEST(OutboxTables, KeepTheOrderOfHeaders) {
    const auto loaded =
        must_load_beside_essentials("headers = { Zulu = \"{a}\", Alpha = \"b\", Mike = \"\" }\n");
    EXPECT_THAT(loaded.outbox[0].headers,
                ElementsAre(Pair("Zulu", "{a}"), Pair("Alpha", "b"), Pair("Mike", "")));
}

TEST(OutboxTables, RefuseReservedHeaders) {
    EXPECT_THAT(problems_beside_essentials(
                    "headers = { Nats-Msg-Id = \"a\", walrelay-Position = \"b\" }\n"),
                ElementsAre("walrelay.toml:5: outbox.headers.Nats-Msg-Id: names that begin with "
                            "Nats- or Walrelay- are reserved; fix: choose another name",
                            "walrelay.toml:5: outbox.headers.walrelay-Position: names that begin "
                            "with Nats- or Walrelay- are reserved; fix: choose another "
                            "name"));
}

TEST(OutboxTables, RefuseHeadersThatAreNoTokens) {
    EXPECT_THAT(problems_beside_essentials("headers = { \"a b\" = \"c\", \"\" = \"d\" }\n"),
                ElementsAre("walrelay.toml:5: outbox.headers.a b: is not the name of a header; "
                            "fix: write letters, digits and hyphens, such as "
                            "\"Correlation-Id\"",
                            testing::StartsWith("walrelay.toml:5: outbox.headers: is not the")));
}

TEST(OutboxTables, RefuseAnUnknownBody) {
    EXPECT_THAT(problems_beside_essentials("body = \"json\"\n"),
                ElementsAre("walrelay.toml:5: invalid value \"json\" for outbox.body: use one of "
                            "event, payload, cloudevents, protobuf"));
}

}  // namespace
}  // namespace walrelay::config
