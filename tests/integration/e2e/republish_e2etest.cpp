// Rows that an UPDATE publishes again.
#include "integration/e2e/relay_bench.hpp"
#include "support/eventually.hpp"

namespace walrelay::test {
namespace {

constexpr const char* with_republish = R"toml(
[[outbox]]
table = 'public.outbox_events'
subject = '%.{aggregate_type}.{event_type}'
pending = "status = 'pending'"
republish = { column = "status", value = "pending" }
on_published = "status = 'published', published_at = now()"
)toml";

class Republish : public e2e_test {
protected:
    void begin(const std::string& before_the_start = "") {
        bench.create_table();
        if (!before_the_start.empty()) {
            bench.execute(before_the_start);
        }
        bench.set_outbox(with_republish);
        bench.start();
    }
    [[nodiscard]] bool becomes(const std::string& where, const std::string& wanted) {
        return eventually(patience, [&] {
            return bench.session().value_of("SELECT count(*) FROM outbox_events WHERE " + where) ==
                   wanted;
        });
    }
    /// The message ids, those of republished rows without what tells one occasion from another.
    std::vector<std::string> ids() {
        std::vector<std::string> all;
        for (const auto& message : bench.messages()) {
            const auto id = message.headers.at("Nats-Msg-Id");
            const auto at = id.find(";republish-");
            all.push_back(at == std::string::npos ? id : id.substr(0, at) + " again");
        }
        return all;
    }
};

TEST_P(Republish, StatusBackToPendingPublishesExactlyOnceMore) {
    begin();
    bench.execute(insert_events(1, 3));
    ASSERT_TRUE(becomes("status = 'published'", "3"));
    bench.execute("UPDATE outbox_events SET status = 'pending' WHERE id = '" + event_id(2) + "'");
    ASSERT_TRUE(bench.wait_for_messages(4));
    ASSERT_TRUE(becomes("status = 'published'", "3"));
    // What else is updated, and walrelay's own write-backs, publish nothing.
    bench.execute("UPDATE outbox_events SET version = version + 1");
    bench.execute("UPDATE outbox_events SET status = 'failed'");
    bench.execute(insert_events(4, 4));
    ASSERT_TRUE(becomes("status = 'published'", "1"));
    ASSERT_TRUE(bench.confirmed_reaches(bench.wal_end()));
    bench.stop();
    EXPECT_EQ(ids(), (std::vector<std::string>{event_id(1), event_id(2), event_id(3),
                                               event_id(2) + " again", event_id(4)}));
    const auto verified = bench.command({"verify"});
    EXPECT_EQ(verified.exit_code, 0) << verified.output << verified.errors;
}

TEST_P(Republish, KillsAndStartsDoNotPublishItTwice) {
    begin();
    bench.execute(insert_events(1, 1));
    ASSERT_TRUE(becomes("status = 'published'", "1"));
    for (int round = 0; round < 3; ++round) {
        bench.execute("UPDATE outbox_events SET status = 'pending'");
        ASSERT_TRUE(bench.wait_for_messages(2U + static_cast<unsigned>(round)));
        bench.kill_9();
        bench.start();
    }
    ASSERT_TRUE(becomes("status = 'published'", "1"));
    ASSERT_TRUE(bench.confirmed_reaches(bench.wal_end()));
    bench.stop();
    EXPECT_EQ(bench.messages().size(), 4U);
}

TEST_P(Republish, LargeValueThatTheUpdateLeftAloneIsWhole) {
    begin("ALTER TABLE outbox_events ALTER event_data SET STORAGE EXTERNAL");
    bench.execute(
        "INSERT INTO outbox_events (id, aggregate_type, aggregate_id, event_type, event_data, "
        "status, version, created_at) VALUES ('" +
        event_id(1) +
        "', 'order', '1', 'placed', jsonb_build_object('t', repeat('x', 50000)), "
        "'pending', 1, now())");
    ASSERT_TRUE(becomes("status = 'published'", "1"));
    bench.execute("UPDATE outbox_events SET status = 'pending'");
    ASSERT_TRUE(bench.wait_for_messages(2));
    ASSERT_TRUE(becomes("status = 'published'", "1"));
    // The same with the old value in the WAL.
    bench.execute("ALTER TABLE outbox_events REPLICA IDENTITY FULL");
    bench.execute("UPDATE outbox_events SET status = 'pending'");
    ASSERT_TRUE(bench.wait_for_messages(3));
    ASSERT_TRUE(becomes("status = 'published'", "1"));
    bench.stop();
    const auto messages = bench.messages();
    ASSERT_EQ(messages.size(), 3U);
    EXPECT_GT(messages[0].body.size(), 50000U);
    for (const auto& again : {messages[1], messages[2]}) {
        EXPECT_EQ(again.body, messages[0].body);
        EXPECT_NE(again.headers.at("Nats-Msg-Id"), messages[0].headers.at("Nats-Msg-Id"));
    }
}

TEST_P(Republish, LargeValueThatTheUpdateLeftAloneIsNotFetchedBeyondTheBound) {
    bench.set_delivery("max_row_bytes = '1MiB'\n");
    begin("ALTER TABLE outbox_events ALTER event_data SET STORAGE EXTERNAL");
    bench.execute(
        "INSERT INTO outbox_events (id, aggregate_type, aggregate_id, event_type, event_data, "
        "status, version, created_at) VALUES ('" +
        event_id(1) +
        "', 'order', '1', 'placed', jsonb_build_object('t', repeat('x', 3000000)), "
        "'published', 1, now()); UPDATE outbox_events SET status = 'pending'; " +
        insert_events(2, 2));
    ASSERT_TRUE(becomes("status = 'published'", "1"));
    ASSERT_TRUE(bench.confirmed_reaches(bench.wal_end()));
    bench.stop();
    EXPECT_EQ(ids(), (std::vector<std::string>{event_id(2)}));
    EXPECT_EQ(bench.session().value_of(
                  "SELECT string_agg(split_part(message_id, ';', 1) || ' ' || (event IS NULL) || "
                  "' ' || (reason ~ 'has 30\\d+ bytes'), ', ' ORDER BY id) "
                  "FROM walrelay.dead_letter"),
              event_id(1) + " true true, " + event_id(1) + " true true");
}

TEST_P(Republish, OnlyAChangeCountsWhereTheOldRowIsKnown) {
    begin("ALTER TABLE outbox_events REPLICA IDENTITY FULL");
    bench.execute("BEGIN; " + insert_events(1, 1) + "UPDATE outbox_events SET version = 2; COMMIT");
    ASSERT_TRUE(becomes("status = 'published'", "1"));
    bench.execute("UPDATE outbox_events SET status = 'pending'");
    ASSERT_TRUE(bench.wait_for_messages(2));
    ASSERT_TRUE(becomes("status = 'published'", "1"));
    ASSERT_TRUE(bench.confirmed_reaches(bench.wal_end()));
    bench.stop();
    EXPECT_EQ(ids(), (std::vector<std::string>{event_id(1), event_id(1) + " again"}));
}

TEST_P(Republish, RepublishedRowBecomesADeadLetterAndIsRetried) {
    begin();
    bench.execute(insert_events(1, 1));
    ASSERT_TRUE(becomes("status = 'published'", "1"));
    bench.execute("UPDATE outbox_events SET status = 'pending', aggregate_type = ''");
    ASSERT_TRUE(eventually(patience, [&] {
        return bench.session().value_of("SELECT to_regclass('walrelay.dead_letter') IS NOT NULL") ==
               "t";
    }));
    ASSERT_TRUE(bench.confirmed_reaches(bench.wal_end()));
    bench.stop();
    bench.set_outbox(std::string(with_republish) + "message_id = '{id}'\n");
    bench.execute(
        "UPDATE walrelay.dead_letter SET event = replace(event::text, '\"value\":\"\"', "
        "'\"value\":\"order\"')::json");
    bench.start();
    ASSERT_EQ(bench.command({"dead-letter", "retry", "--all"}).exit_code, 0);
    ASSERT_TRUE(bench.wait_for_messages(2));
    ASSERT_TRUE(becomes("status = 'published'", "1"));
    bench.stop();
    EXPECT_TRUE(bench.messages().back().headers.at("Nats-Msg-Id").ends_with(";retry-1-1"));
}

TEST_P(Republish, TableWithoutAnIdentityIsAFinding) {
    bench.create_table();
    bench.execute("ALTER TABLE outbox_events DROP CONSTRAINT outbox_events_pkey");
    bench.set_outbox(with_republish);
    const auto looked = bench.command({"check"});
    EXPECT_EQ(looked.exit_code, 1);
    EXPECT_NE(looked.output.find("ALTER TABLE \"public\".\"outbox_events\" REPLICA IDENTITY FULL;"),
              std::string::npos)
        << looked.output;
}

TEST_P(Republish, PublicationWithoutUpdatesIsAFinding) {
    bench.create_table();
    bench.start();
    bench.stop();
    bench.set_outbox(with_republish);
    const auto looked = bench.command({"check"});
    if (bench.plugin() == "wal2json") {
        // It needs no publication.
        EXPECT_EQ(looked.exit_code, 0) << looked.output;
        return;
    }
    EXPECT_EQ(looked.exit_code, 1);
    const auto at = looked.output.find("ALTER PUBLICATION");
    ASSERT_NE(at, std::string::npos) << looked.output;
    bench.execute(looked.output.substr(at, looked.output.find(';', at) - at));
    EXPECT_EQ(bench.command({"check"}).exit_code, 0);
}

INSTANTIATE_TEST_SUITE_P(Plugins, Republish, both_plugins(), plugin_name);

}  // namespace
}  // namespace walrelay::test
