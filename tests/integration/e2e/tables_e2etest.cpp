// Outbox tables of every shape, and tables that change their shape while they are relayed.
#include "integration/e2e/relay_bench.hpp"

namespace walrelay::test {
namespace {

class Tables : public e2e_test {
protected:
    /// The body of the message with that id, as `expression` over `body jsonb` makes of it.
    std::string of_body(const std::string& id, const std::string& expression) {
        for (const auto& message : bench.messages()) {
            if (message.header("Nats-Msg-Id") == id) {
                return bench.session()
                    .query("SELECT (" + expression + ")::text FROM (SELECT $1::jsonb AS body) AS m",
                           {message.body})
                    .front()
                    .front()
                    .value_or("null");
            }
        }
        return "no message " + id;
    }
};

constexpr const char* partitioned = R"(
CREATE TABLE outbox_events (
    id uuid NOT NULL, aggregate_id varchar(255) NOT NULL, aggregate_type varchar(255) NOT NULL,
    event_type varchar(255) NOT NULL, event_data jsonb NOT NULL, metadata jsonb,
    status varchar(50) NOT NULL, version bigint NOT NULL, created_at timestamptz NOT NULL,
    PRIMARY KEY (id, version)
) PARTITION BY RANGE (version);
CREATE TABLE first_part PARTITION OF outbox_events FOR VALUES FROM (1) TO (100);
CREATE TABLE second_part PARTITION OF outbox_events FOR VALUES FROM (100) TO (1000)
    PARTITION BY RANGE (version);
CREATE TABLE second_part_low PARTITION OF second_part FOR VALUES FROM (100) TO (200);
CREATE TABLE second_part_rest PARTITION OF second_part DEFAULT;
)";

TEST_P(Tables, PartitionedOutboxIsOneTable) {
    bench.execute(partitioned);
    bench.start();
    bench.execute(insert_events(50, 250));

    bench.expect_relayed(event_ids(50, 250));
}

TEST_P(Tables, PartitionCreatedWhileRunningIsFollowed) {
    bench.execute(partitioned);
    bench.start();
    bench.execute(insert_events(1, 10));
    ASSERT_TRUE(bench.wait_for_messages(10));

    bench.execute(
        "CREATE TABLE third_part PARTITION OF outbox_events FOR VALUES FROM (1000) TO"
        " (2000)");
    bench.execute(insert_events(1000, 1010));
    // Attached with columns in another order, in another schema.
    bench.execute(
        "CREATE SCHEMA archive; CREATE TABLE archive.fourth_part (version bigint NOT NULL,"
        " id uuid NOT NULL, created_at timestamptz NOT NULL, status varchar(50) NOT NULL,"
        " event_data jsonb NOT NULL, metadata jsonb, event_type varchar(255) NOT NULL,"
        " aggregate_type varchar(255) NOT NULL, aggregate_id varchar(255) NOT NULL);"
        "ALTER TABLE outbox_events ATTACH PARTITION archive.fourth_part FOR VALUES FROM (2000) TO"
        " (3000)");
    bench.execute(insert_events(2000, 2010));
    bench.execute(
        "BEGIN; CREATE TABLE fifth_part PARTITION OF outbox_events FOR VALUES FROM (3000)"
        " TO (4000); " +
        insert_events(3000, 3010) + "COMMIT");

    auto expected = event_ids(1, 10);
    for (const std::uint64_t first : {1000U, 2000U, 3000U}) {
        const auto part = event_ids(first, first + 10);
        expected.insert(expected.end(), part.begin(), part.end());
    }
    bench.expect_relayed(expected);
    EXPECT_EQ(of_body(event_id(2005), "body->'event_data'->>'n'"), "2005");
}

TEST_P(Tables, PartitionsThatAreDetachedOrDroppedBeforeTheyAreReadAreRelayed) {
    bench.execute(partitioned);
    bench.start();
    bench.execute(insert_events(1, 5));
    ASSERT_TRUE(bench.wait_for_messages(5));
    bench.stop();
    bench.execute(insert_events(6, 10));
    bench.execute(insert_events(110, 115));
    bench.execute(insert_events(300, 305));
    bench.execute(
        "ALTER TABLE outbox_events DETACH PARTITION first_part; DROP TABLE second_part_low");
    bench.start();
    bench.execute(insert_events(306, 310));

    auto expected = event_ids(1, 10);
    for (const auto& [first, last] : {std::pair{110U, 115U}, std::pair{300U, 310U}}) {
        const auto part = event_ids(first, last);
        expected.insert(expected.end(), part.begin(), part.end());
    }
    bench.expect_relayed(expected);
}

TEST_P(Tables, APartitionThatNobodySawIsRelayedOrAskedFor) {
    bench.execute(partitioned);
    bench.start();
    bench.execute(insert_events(1, 5));
    ASSERT_TRUE(bench.wait_for_messages(5));
    bench.stop();
    bench.execute(
        "CREATE TABLE unseen PARTITION OF outbox_events FOR VALUES FROM (1000) TO (2000)");
    bench.execute(insert_events(1000, 1005));
    bench.execute("DROP TABLE unseen");
    bench.execute(
        "CREATE TABLE unseen PARTITION OF outbox_events FOR VALUES FROM (2000) TO (3000)");
    bench.execute(insert_events(2000, 2005));
    bench.execute("ALTER TABLE outbox_events DETACH PARTITION unseen");
    if (bench.plugin() == "wal2json") {
        const auto refused = bench.command({"run"});
        EXPECT_EQ(refused.exit_code, 3) << refused.errors;
        const auto from = refused.errors.find("INSERT INTO walrelay.partition");
        ASSERT_NE(from, std::string::npos) << refused.errors;
        bench.execute(refused.errors.substr(from, refused.errors.find(';', from) - from));
    }
    bench.start();

    auto expected = event_ids(1, 5);
    for (const std::uint64_t first : {1000U, 2000U}) {
        const auto part = event_ids(first, first + 5);
        expected.insert(expected.end(), part.begin(), part.end());
    }
    bench.expect_relayed(expected);
}

/// pgoutput names the partition where the publication was made without the root.
class TablesByLeaf : public testing::Test {
protected:
    void SetUp() override {
        bench.execute(partitioned);
        bench.execute("CREATE PUBLICATION " + bench.name() + " FOR TABLE outbox_events");
        bench.start();
        bench.execute(insert_events(1, 5));
        ASSERT_TRUE(bench.confirms_messages(5));
        bench.stop();
    }

    relay_bench bench{shared_postgres(), shared_nats(), "pgoutput"};
};

TEST_F(TablesByLeaf, PartitionsThatAreDetachedOrDroppedBeforeTheyAreReadAreRelayed) {
    bench.execute(insert_events(6, 10));
    bench.execute(insert_events(110, 115));
    bench.execute(
        "ALTER TABLE outbox_events DETACH PARTITION first_part; DROP TABLE second_part_low");
    bench.start();
    auto expected = event_ids(1, 10);
    const auto part = event_ids(110, 115);
    expected.insert(expected.end(), part.begin(), part.end());
    bench.expect_relayed(expected);
}

TEST_F(TablesByLeaf, APartitionThatNobodySawIsAskedFor) {
    bench.execute(
        "CREATE TABLE unseen PARTITION OF outbox_events FOR VALUES FROM (1000) TO (2000)");
    bench.execute(insert_events(1000, 1005));
    bench.execute("ALTER TABLE outbox_events DETACH PARTITION unseen");
    const auto refused = bench.command({"run"});
    EXPECT_EQ(refused.exit_code, 3) << refused.errors;
    const auto from = refused.errors.find("INSERT INTO walrelay.partition");
    ASSERT_NE(from, std::string::npos) << refused.errors;
    bench.execute(refused.errors.substr(from, refused.errors.find(';', from) - from));
    bench.start();
    auto expected = event_ids(1, 5);
    const auto part = event_ids(1000, 1005);
    expected.insert(expected.end(), part.begin(), part.end());
    bench.expect_relayed(expected);
}

TEST_P(Tables, RowsOfADetachedPartitionAreItsOwn) {
    bench.execute(partitioned);
    bench.start();
    bench.execute(insert_events(1, 5));
    ASSERT_TRUE(bench.wait_for_messages(5));
    bench.stop();
    bench.execute(insert_events(6, 10));
    bench.execute("ALTER TABLE outbox_events DETACH PARTITION first_part");
    bench.start();
    ASSERT_TRUE(bench.wait_for_messages(10));
    bench.execute(insert_events(11, 20, "order-1", "first_part"));
    bench.execute(insert_events(300, 305));

    auto expected = event_ids(1, 10);
    const auto part = event_ids(300, 305);
    expected.insert(expected.end(), part.begin(), part.end());
    bench.expect_relayed(expected);
}

TEST_P(Tables, NamesWithBlanksQuotesAndUpperCaseAreTakenAsTheyAre) {
    bench.execute(R"(CREATE SCHEMA "My ""odd"" Schema";
        CREATE TABLE "My ""odd"" Schema"."Out Box.Événements" (
            "Payload, of it" jsonb, "Id" text PRIMARY KEY, "the 'Type'" text, "Aggregate" text))");
    bench.set_outbox(R"([[outbox]]
        table = '"My ""odd"" Schema"."Out Box.Événements"'
        columns.id = 'Id'
        columns.event_type = "the 'Type'"
        columns.aggregate_id = 'Aggregate'
        columns.payload = 'Payload, of it'
        subject = '%.{event_type}')");
    bench.start();
    bench.execute(R"(INSERT INTO "My ""odd"" Schema"."Out Box.Événements"
        VALUES ('{"a": 1}', 'one', 'happened', 'x'))");

    bench.expect_relayed({"one"});
    const auto message = bench.messages().front();
    EXPECT_EQ(message.subject, bench.name() + ".happened");
    EXPECT_EQ(
        of_body("one", "body"),
        R"({"id": "one", "event_data": {"a": 1}, "event_type": "happened", "aggregate_id": "x"})");
}

TEST_P(Tables, OnlyTheNamedTableIsRelayed) {
    bench.create_table();
    bench.execute("CREATE SCHEMA other; " + create_outbox_events("other.outbox_events") +
                  create_outbox_events("outbox_events_2"));
    bench.start();
    bench.execute("BEGIN; " + insert_event(1, "a", "other.outbox_events") + insert_event(2) +
                  insert_event(3, "a", "outbox_events_2") + insert_event(4) + "COMMIT");

    bench.expect_relayed({event_id(2), event_id(4)});
}

TEST_P(Tables, AlteredTableIsFollowedByName) {
    bench.create_table();
    bench.start();
    bench.execute(insert_event(1));
    bench.execute("ALTER TABLE outbox_events DROP COLUMN last_error, DROP COLUMN metadata");
    bench.execute(
        "ALTER TABLE outbox_events ADD COLUMN metadata json, ADD COLUMN extra int"
        " DEFAULT 7; " +
        insert_event(2));
    bench.execute("ALTER TABLE outbox_events RENAME COLUMN extra TO \"Extra, renamed\"");
    bench.execute(insert_event(3));
    bench.execute(
        "ALTER TABLE outbox_events ALTER COLUMN aggregate_id TYPE text, ALTER COLUMN"
        " version TYPE numeric");
    bench.execute("BEGIN; " + insert_event(4) +
                  "ALTER TABLE outbox_events DROP COLUMN \"Extra, renamed\"; " + insert_event(5) +
                  "ALTER TABLE outbox_events ADD COLUMN last text DEFAULT 'x'; " + insert_event(6) +
                  "COMMIT");
    bench.execute(insert_event(7));

    bench.expect_relayed(event_ids(1, 7));
    for (const std::uint64_t number : {1U, 2U, 3U, 4U, 5U, 6U, 7U}) {
        const auto expected = std::to_string(number) + " order-1 placed test";
        EXPECT_EQ(of_body(event_id(number),
                          "concat_ws(' ', body->'event_data'->>'n', body->>'aggregate_id',"
                          " body->>'event_type', body->'metadata'->>'source')"),
                  expected);
    }
}

TEST_P(Tables, TableDroppedAndCreatedAgainIsFollowed) {
    bench.create_table();
    bench.start();
    bench.execute(insert_events(1, 3));
    ASSERT_TRUE(bench.wait_for_messages(3));
    // A publication loses a table that is dropped, and wants to be told of the new one.
    const bool by_publication = bench.plugin() == "pgoutput";
    bench.execute("BEGIN; DROP TABLE outbox_events; " + create_outbox_events() +
                  (by_publication
                       ? "ALTER PUBLICATION " + bench.name() + " ADD TABLE outbox_events; "
                       : std::string()) +
                  "COMMIT");
    bench.execute(insert_events(4, 6));

    bench.expect_relayed(event_ids(1, 6));
}

TEST_P(Tables, SeveralTablesShareOneStreamInCommitOrder) {
    bench.create_table();
    bench.execute(
        "CREATE TABLE wallet (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,"
        " event_type varchar NOT NULL, payload text NOT NULL, sent boolean NOT NULL"
        " DEFAULT false)");
    bench.set_outbox(R"([[outbox]]
        table = "outbox_events"
        subject = "%.{aggregate_type}.{event_type}"
        [[outbox]]
        table = "public.wallet"
        subject = "%.wallet.{event_type}-out-0"
        message_id = "wallet-{id}"
        body = "payload")");
    bench.start();
    const std::string insert_into_wallet =
        "INSERT INTO wallet (event_type, payload) VALUES ('FundsAdded', '{\"amount\": 5}'); ";
    bench.execute("BEGIN; " + insert_event(1) + insert_into_wallet + insert_event(2) +
                  insert_into_wallet + "COMMIT");
    bench.execute(insert_into_wallet);

    bench.expect_relayed({event_id(1), "wallet-1", event_id(2), "wallet-2", "wallet-3"});
    const auto messages = bench.messages();
    EXPECT_EQ(messages.at(1).subject, bench.name() + ".wallet.FundsAdded-out-0");
    EXPECT_EQ(messages.at(1).body, "{\"amount\": 5}");
    EXPECT_EQ(messages.at(0).subject, bench.name() + ".order.placed");
}

int times(const std::string& text, const std::string& part) {
    int count = 0;
    for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
        ++count;
    }
    return count;
}

TEST_P(Tables, TablesOfOthersThatAreMadeWhileRunningCostNoConnection) {
    bench.execute(partitioned);
    if (bench.plugin() == "pgoutput") {
        bench.execute("CREATE PUBLICATION " + bench.name() +
                      " FOR ALL TABLES WITH (publish = 'insert', publish_via_partition_root)");
    }
    bench.execute("CREATE SCHEMA jobs");
    bench.start();
    const auto run_job = [&](std::uint64_t number) {
        const auto table = "jobs.day_" + std::to_string(number);
        bench.execute("CREATE TABLE " + table + " (id bigint, note text)");
        bench.execute("INSERT INTO " + table + " SELECT n, 'x' FROM generate_series(1, 3) AS n");
        bench.execute(insert_event(number));
        if (number % 2 == 0) {
            bench.execute("DROP TABLE " + table);
        }
    };
    for (std::uint64_t number = 1; number <= 20; ++number) {
        run_job(number);
    }
    ASSERT_TRUE(bench.wait_for_messages(20));
    EXPECT_EQ(times(bench.relay().log(), "streaming from slot"), 1) << bench.relay().log();
    bench.stop();
    EXPECT_EQ(times(bench.relay().log(), " warning "), 0) << bench.relay().log();

    // What came meanwhile, of tables of which some are gone.
    for (std::uint64_t number = 21; number <= 40; ++number) {
        run_job(number);
    }
    bench.start();
    bench.expect_relayed(event_ids(1, 40));
    EXPECT_EQ(times(bench.relay().log(), "streaming from slot"), 1) << bench.relay().log();
    EXPECT_EQ(times(bench.relay().log(), " warning "), 0) << bench.relay().log();
}

TEST_P(Tables, ATableThatIsAttachedWhileRunningIsFollowed) {
    bench.execute(partitioned);
    bench.execute("CREATE TABLE waiting (LIKE outbox_events)");
    bench.start();
    bench.execute(insert_events(1, 5));
    ASSERT_TRUE(bench.wait_for_messages(5));
    bench.execute(
        "ALTER TABLE outbox_events ATTACH PARTITION waiting FOR VALUES FROM (1000) TO (2000)");
    bench.execute(insert_events(1000, 1005));

    auto expected = event_ids(1, 5);
    const auto part = event_ids(1000, 1005);
    expected.insert(expected.end(), part.begin(), part.end());
    bench.expect_relayed(expected);
}

INSTANTIATE_TEST_SUITE_P(, Tables, both_plugins(), plugin_name);

}  // namespace
}  // namespace walrelay::test
