// What tables of libraries need beside their columns: a text in place of NULL, a member of a JSON
// column, rows without payload, NULL as the sign that a row is to be sent again.
#include "integration/e2e/relay_bench.hpp"
#include "support/eventually.hpp"

#include <gmock/gmock.h>

namespace walrelay::test {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* table = R"sql(
CREATE TABLE outbox_events (id bigint, stream text, body text, headers jsonb, sent_at timestamptz,
                            attempts int NOT NULL DEFAULT 0);
ALTER TABLE outbox_events REPLICA IDENTITY FULL;
)sql";

constexpr const char* outbox = R"toml(
[[outbox]]
table = 'public.outbox_events'
columns = { payload = 'body' }
subject = "%.{stream|'none'}"
body = 'payload'
null_payload = 'tombstone'
headers = { "Content-Type" = "application/json", "Tenant" = "{headers->>'tenant'}" }
republish = { column = 'sent_at', is = 'null' }
)toml";

class LibraryNeeds : public e2e_test {
protected:
    void SetUp() override {
        bench.execute(table);
        bench.set_outbox(outbox);
    }
};

TEST_P(LibraryNeeds, NullsAndMembersHaveAWay) {
    bench.start();
    bench.execute(
        "INSERT INTO outbox_events VALUES (1, 'orders', '{}', '{\"tenant\": \"t1\"}'),"
        " (2, NULL, NULL, '{\"tenant\": null}'), (3, NULL, '', NULL)");
    ASSERT_TRUE(bench.wait_for_messages(3));
    const auto sent = bench.messages();
    EXPECT_EQ(sent[0].subject, bench.name() + ".orders");
    EXPECT_EQ(sent[0].headers.at("Content-Type"), "application/json");
    EXPECT_EQ(sent[0].headers.at("Tenant"), "t1");
    EXPECT_EQ(sent[0].headers.count("Walrelay-Tombstone"), 0U);
    EXPECT_EQ(sent[1].subject, bench.name() + ".none");
    EXPECT_EQ(sent[1].headers.at("Walrelay-Tombstone"), "true");
    EXPECT_EQ(sent[1].headers.count("Tenant"), 0U);
    EXPECT_EQ(sent[1].body, "");
    EXPECT_EQ(sent[2].headers.count("Walrelay-Tombstone"), 0U);
    bench.stop();
    const auto verified = bench.command({"verify"});
    EXPECT_EQ(verified.exit_code, 0) << verified.output << verified.errors;
}

TEST_P(LibraryNeeds, AChangeToNullPublishesAgain) {
    bench.start();
    bench.execute("INSERT INTO outbox_events VALUES (1, 'a', 'x'), (2, 'a', 'x')");
    ASSERT_TRUE(bench.wait_for_messages(2));
    bench.execute("UPDATE outbox_events SET attempts = 1");
    bench.execute("UPDATE outbox_events SET sent_at = now()");
    bench.execute("UPDATE outbox_events SET sent_at = NULL WHERE id = 2");
    bench.execute("INSERT INTO outbox_events VALUES (3, 'a', 'x')");
    ASSERT_TRUE(bench.wait_for_messages(4));
    bench.stop();
    const auto sent = bench.messages();
    ASSERT_EQ(sent.size(), 4U);
    EXPECT_THAT(sent[2].headers.at("Nats-Msg-Id"), testing::StartsWith("2;republish-"));
    EXPECT_EQ(sent[3].headers.at("Nats-Msg-Id"), "3");
}

TEST_P(LibraryNeeds, CheckNamesWhatTheTableLacks) {
    const auto checked = bench.command({"check"});
    EXPECT_EQ(checked.exit_code, 1);
    EXPECT_THAT(checked.output, HasSubstr("\nok       nothing forbids to start; a warning"));
    EXPECT_THAT(checked.output, HasSubstr("has no index that begins with id, by which its rows are "
                                          "written back"));
    EXPECT_THAT(checked.output, Not(HasSubstr("can be NULL"))) << "a text stands in its place";
    bench.execute("ALTER TABLE outbox_events ADD PRIMARY KEY (id)");
    bench.set_outbox(
        "[[outbox]]\ntable = 'public.outbox_events'\ncolumns = { payload = 'body' }\n"
        "subject = '%.{stream}'\nrepublish = { column = 'sent_at', value = 'NULL' }\n");
    const auto again = bench.command({"check"});
    EXPECT_EQ(again.exit_code, 1);
    EXPECT_THAT(again.output, Not(HasSubstr("has no index")));
    EXPECT_THAT(again.output, HasSubstr("stream can be NULL, and the subject"));
    EXPECT_THAT(again.output, HasSubstr("which no row can have"));
    EXPECT_THAT(again.output, HasSubstr("is = \"null\""));
}

TEST_P(LibraryNeeds, CheckNamesTheRightsOfVerifyAndTheStartupCheck) {
    const auto role = "reads_nothing_of_" + bench.database();
    bench.execute(
        "CREATE SCHEMA shop; ALTER TABLE outbox_events SET SCHEMA shop;"
        "ALTER TABLE shop.outbox_events ADD PRIMARY KEY (id);"
        "CREATE ROLE " +
        role + " LOGIN REPLICATION");
    bench.set_outbox(
        "[[outbox]]\ntable = 'shop.outbox_events'\ncolumns = { payload = 'body' }\n"
        "subject = '%.{stream}'\n");
    const auto init = bench.command({"init"});
    ASSERT_EQ(init.exit_code, 0) << init.errors;
    bench.set_conninfo(bench.conninfo() + " user=" + role);
    const auto checked = bench.command({"check"});
    const auto usage = "GRANT USAGE ON SCHEMA \"shop\" TO \"" + role + "\";";
    const auto select =
        "GRANT SELECT (\"id\", \"xmin\") ON \"shop\".\"outbox_events\" TO \"" + role + "\";";
    EXPECT_THAT(checked.output, HasSubstr(usage));
    EXPECT_THAT(checked.output, HasSubstr(select));
    EXPECT_THAT(checked.output, HasSubstr(" of table shop.outbox_events, so"));
    bench.execute(usage + select);
    EXPECT_THAT(bench.command({"check"}).output,
                Not(HasSubstr(" of table shop.outbox_events, so")));
    for (const auto* name : {"slot_start", "replay", "halt", "witness", "dead_letter"}) {
        const auto grant = [&](const std::string& rights) {
            return "GRANT " + rights + " ON walrelay." + name + " TO \"" + role + "\";";
        };
        auto needed = grant("SELECT, INSERT, UPDATE");
        if (checked.output.find(needed) == std::string::npos) {
            needed = grant("SELECT, INSERT, UPDATE, DELETE");
        }
        EXPECT_THAT(checked.output, HasSubstr(needed));
        bench.execute("GRANT USAGE ON SCHEMA walrelay TO \"" + role + "\";" + needed);
    }
    const auto verified = bench.command({"verify", "--since-slot"});
    EXPECT_EQ(verified.exit_code, 0) << verified.errors;
}

INSTANTIATE_TEST_SUITE_P(, LibraryNeeds, both_plugins(), plugin_name);

}  // namespace
}  // namespace walrelay::test
