// What a message says: every form of the body field by field, and the headers.
#include "integration/e2e/relay_bench.hpp"
#include "support/eventually.hpp"

#include <walrelay/v1/event.pb.h>

namespace walrelay::test {
namespace {

class Bodies : public e2e_test {
protected:
    /// Relays the one row that this statement inserts, and returns its message.
    stored_message relayed(const std::string& insert) {
        bench.start();
        bench.execute(insert);
        EXPECT_TRUE(bench.wait_for_messages(1));
        bench.stop();
        auto messages = bench.messages();
        if (messages.size() != 1) {
            throw std::runtime_error(std::to_string(messages.size()) + " messages instead of one");
        }
        return messages.front();
    }

    void use_body(const std::string& format) {
        bench.set_outbox(
            "[[outbox]]\ntable = 'outbox_events'\nbody = '" + format +
            "'\nsubject = '%.{aggregate_type}.{event_type}'\n"
            "headers = { 'Correlation-Id' = 'c-{aggregate_id}', 'Fixed' = 'as it is' }");
    }

    [[nodiscard]] std::string value_of(const std::string& sql) const {
        return bench.session().value_of(sql);
    }

    [[nodiscard]] bool equal_json(const std::string& one, const std::string& other) const {
        return bench.session()
                   .query("SELECT $1::jsonb = $2::jsonb", {one, other})
                   .front()
                   .front() == "t";
    }

    std::string metadata_ =
        R"({"source": "web", "tracestate": "vendor=1",)"
        R"( "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"})";
    std::string insert_ =
        "INSERT INTO outbox_events (id, aggregate_id, aggregate_type, event_type, event_data,"
        " metadata, status, version, created_at) VALUES ('5f0c4b0e-7d3a-4a0e-9b6b-2a5b1a7f9c11',"
        " 'u-17', 'user', 'created', '{\"name\": \"Ada\", \"n\": 1.50, \"list\": [1, null, true]}',"
        " '" +
        metadata_ + "', 'pending', 9007199254740993, '2024-02-29 23:59:59.123456+02')";
};

TEST_P(Bodies, EventIsAnEnvelopeWithEveryMappedColumn) {
    bench.create_table();
    use_body("event");
    const auto message = relayed(insert_);

    EXPECT_EQ(message.subject, bench.name() + ".user.created");
    EXPECT_EQ(message.header("Content-Type"), "application/json");
    EXPECT_TRUE(equal_json(message.body,
                           R"({"id": "5f0c4b0e-7d3a-4a0e-9b6b-2a5b1a7f9c11", "aggregate_id": "u-17",
            "aggregate_type": "user", "event_type": "created",
            "event_data": {"name": "Ada", "n": 1.50, "list": [1, null, true]},
            "metadata": )" + metadata_ +
                               R"(, "version": 9007199254740993,
            "timestamp": "2024-02-29T21:59:59.123456Z"})"))
        << message.body;
    // jsonb is embedded as PostgreSQL prints it.
    const auto data = value_of("SELECT event_data FROM outbox_events");
    EXPECT_NE(message.body.find(data), std::string::npos) << message.body;
}

TEST_P(Bodies, ColumnThatTheTableDoesNotHaveIsLeftOutOfTheEvent) {
    bench.execute("CREATE TABLE outbox_events (id int PRIMARY KEY, event_type text, payload json)");
    bench.set_outbox("[[outbox]]\ntable = 'outbox_events'\nsubject = '%.{event_type}'");
    const auto message =
        relayed("INSERT INTO outbox_events VALUES (7, 'seen', '{\"b\":1,\"a\": 2}')");

    EXPECT_EQ(message.header("Nats-Msg-Id"), "7");
    EXPECT_TRUE(equal_json(message.body, R"({"id": 7, "event_type": "seen",
        "event_data": {"b": 1, "a": 2}})"))
        << message.body;
    // json, other than jsonb, keeps its spacing and the order of its keys.
    EXPECT_NE(message.body.find(R"({"b":1,"a": 2})"), std::string::npos) << message.body;
}

TEST_P(Bodies, PayloadIsTheColumnByteForByte) {
    const std::string odd_json = "{\"b\" :1,   \"a\":[ ],\n\"b\":2}";
    bench.execute("CREATE TABLE outbox_events (id int PRIMARY KEY, event_data json)");
    bench.set_outbox("[[outbox]]\ntable = 'outbox_events'\nsubject = '%.x'\nbody = 'payload'");
    const auto message =
        relayed("INSERT INTO outbox_events VALUES (1, " + as_literal(odd_json) + ")");

    EXPECT_EQ(message.body, odd_json);
    EXPECT_EQ(message.header("Content-Type"), "application/json");
}

TEST_P(Bodies, PayloadOfByteaIsTheRawBytes) {
    bench.execute("CREATE TABLE outbox_events (id int PRIMARY KEY, event_data bytea)");
    bench.set_outbox("[[outbox]]\ntable = 'outbox_events'\nsubject = '%.x'\nbody = 'payload'");
    const auto message = relayed("INSERT INTO outbox_events VALUES (1, '\\x00ff0a0d5c7822')");

    EXPECT_EQ(message.body, std::string("\x00\xff\x0a\x0d\x5c\x78\x22", 7));
    EXPECT_EQ(message.header("Content-Type"), "application/octet-stream");
}

TEST_P(Bodies, CloudEventsIsBinaryModeOfTheNatsBinding) {
    bench.create_table();
    use_body("cloudevents");
    const auto message = relayed(insert_);

    EXPECT_EQ(message.header("ce-specversion"), "1.0");
    EXPECT_EQ(message.header("ce-id"), "5f0c4b0e-7d3a-4a0e-9b6b-2a5b1a7f9c11");
    EXPECT_EQ(message.header("ce-type"), "created");
    EXPECT_EQ(message.header("ce-subject"), "u-17");
    EXPECT_EQ(message.header("ce-time"), "2024-02-29T21:59:59.123456Z");
    EXPECT_NE(message.header("ce-source"), "");
    EXPECT_EQ(message.header("Content-Type"), "application/json");
    EXPECT_EQ(message.body, value_of("SELECT event_data FROM outbox_events"));
}

TEST_P(Bodies, ProtobufIsTheEventOfTheSchema) {
    bench.create_table();
    use_body("protobuf");
    const auto message = relayed(insert_);

    walrelay::v1::Event event;
    ASSERT_TRUE(event.ParseFromString(message.body));
    EXPECT_EQ(event.id(), "5f0c4b0e-7d3a-4a0e-9b6b-2a5b1a7f9c11");
    EXPECT_EQ(event.aggregate_id(), "u-17");
    EXPECT_EQ(event.aggregate_type(), "user");
    EXPECT_EQ(event.event_type(), "created");
    EXPECT_EQ(event.data(), value_of("SELECT event_data FROM outbox_events"));
    EXPECT_EQ(event.data_content_type(), "application/json");
    EXPECT_EQ(event.metadata(), value_of("SELECT metadata FROM outbox_events"));
    EXPECT_EQ(event.version(), 9007199254740993);
    constexpr std::int64_t leap_day_seconds = 1709243999;
    EXPECT_EQ(event.timestamp().seconds(), leap_day_seconds);
    EXPECT_EQ(event.timestamp().nanos(), 123456000);
    EXPECT_EQ(event.position(), message.header("Walrelay-Position"));
    EXPECT_EQ(message.header("Content-Type"), "application/x-protobuf");
}

TEST_P(Bodies, HeadersSayWhoWhereAndWhatWasConfigured) {
    bench.create_table();
    use_body("event");
    const auto message = relayed(insert_);

    EXPECT_EQ(message.header("Nats-Msg-Id"), "5f0c4b0e-7d3a-4a0e-9b6b-2a5b1a7f9c11");
    EXPECT_EQ(message.header("Correlation-Id"), "c-u-17");
    EXPECT_EQ(message.header("Fixed"), "as it is");
    EXPECT_EQ(message.header("traceparent"),
              "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
    EXPECT_EQ(message.header("tracestate"), "vendor=1");
    const auto history = value_of("SELECT system_identifier FROM pg_control_system()") + "." +
                         value_of("SELECT timeline_id FROM pg_control_checkpoint()") + ".";
    const auto position = message.header("Walrelay-Position");
    EXPECT_EQ(position.substr(0, history.size()), history);
    constexpr std::size_t lsn_digits = 16;
    // The commit LSN, the row LSN, and the row's place in its WAL record.
    EXPECT_EQ(position.size(), history.size() + 2 * (lsn_digits + 1) + 1);
    EXPECT_EQ(position[history.size() + lsn_digits], '.');
    EXPECT_EQ(position.substr(history.size() + 2 * lsn_digits + 1), ".0");
}

TEST_P(Bodies, PositionsOfATransactionRise) {
    bench.create_table();
    bench.start();
    bench.execute(insert_events(1, 3));
    ASSERT_TRUE(bench.wait_for_messages(3));
    bench.stop();
    const auto events = bench.events();
    ASSERT_EQ(events.size(), 3U);
    constexpr std::size_t row_and_index = sizeof ".0000000000000000.0" - 1;
    const auto transaction = [](const std::string& position) {
        return position.substr(0, position.size() - row_and_index);
    };
    EXPECT_EQ(transaction(events[1].position), transaction(events[0].position));
    EXPECT_EQ(transaction(events[2].position), transaction(events[0].position));
    EXPECT_LT(events[0].position, events[1].position);
    EXPECT_LT(events[1].position, events[2].position);
}

TEST_P(Bodies, ADomainOverByteaIsABytea) {
    bench.execute(
        "CREATE DOMAIN digest AS bytea; CREATE DOMAIN checked_digest AS digest;"
        " CREATE TABLE sealed (id checked_digest PRIMARY KEY, content digest,"
        " created_at timestamptz DEFAULT now(), sent boolean DEFAULT false)");
    bench.set_outbox(R"(
[[outbox]]
table = "public.sealed"
columns = { payload = "content" }
subject = "%.{id}"
message_id = "{id}"
body = "payload"
on_published = "sent = true"
)");
    bench.set_delivery("on_slot_loss = 'heal'");
    bench.start();
    bench.execute("INSERT INTO sealed VALUES ('\\x00ff', '\\xdead00'), ('\\x5c78', '')");
    ASSERT_TRUE(bench.wait_for_messages(2)) << "and none is a dead letter";
    const auto messages = bench.messages();
    EXPECT_EQ(messages[0].header("Nats-Msg-Id"), "00ff");
    EXPECT_EQ(messages[0].subject, bench.name() + ".00ff");
    EXPECT_EQ(messages[0].body, std::string("\xde\xad\0", 3));
    EXPECT_EQ(messages[1].body, "");
    auto session = bench.session();
    EXPECT_TRUE(eventually(patience, [&] {
        return session.value_of("SELECT count(*) FROM sealed WHERE sent") == "2";
    }));
    EXPECT_EQ(bench.command({"verify"}).exit_code, 0);
    const auto free = [&] { return bench.slot("active") == "f"; };
    bench.stop();
    ASSERT_TRUE(eventually(patience, free));
    bench.start();
    bench.stop();
    EXPECT_EQ(bench.relay().log().find("rows"), std::string::npos) << "the startup check";
    ASSERT_TRUE(eventually(patience, free));

    bench.execute("SELECT pg_drop_replication_slot('" + bench.name() +
                  "'); INSERT INTO sealed VALUES ('\\x01', '\\x02')");
    bench.launch();
    ASSERT_TRUE(bench.wait_for_messages(3));
    EXPECT_TRUE(eventually(patience, [&] { return bench.streaming(); }));
    bench.stop();
    EXPECT_EQ(bench.messages().size(), 3U) << "healing publishes none again";
    EXPECT_EQ(bench.messages()[2].body, "\x02");
    EXPECT_EQ(bench.command({"verify"}).exit_code, 0);
}

INSTANTIATE_TEST_SUITE_P(, Bodies, both_plugins(), plugin_name);

}  // namespace
}  // namespace walrelay::test
