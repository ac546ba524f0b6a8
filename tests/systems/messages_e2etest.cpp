// What each system's writer.sql puts into the stream, field by field.
#include "systems/system_bench.hpp"

namespace walrelay::test {
namespace {

using texts = std::vector<std::string>;

class Messages : public testing::TestWithParam<const char*> {
protected:
    /// Starts the system, lets it write once, and returns what arrives, oldest first.
    std::vector<stored_message> written(system_bench& bench, std::size_t count) {
        bench.start();
        bench.write();
        auto messages = bench.messages(count);
        bench.stop();
        EXPECT_TRUE(bench.verified());
        return messages;
    }
};

TEST_P(Messages, OfEventsAreTheEnvelopeWithAllColumns) {
    system_bench bench("events", GetParam());
    const auto messages = written(bench, 2);
    EXPECT_EQ(ids_of(messages),
              bench.column_of("SELECT id FROM outbox_events ORDER BY event_type"));
    EXPECT_EQ(subjects_of(messages),
              (texts{"events.user.user.created", "events.user.user.updated"}));
    const auto expected = bench.column_of(
        "SELECT jsonb_build_object('id', id, 'aggregate_id', aggregate_id, 'aggregate_type',"
        " aggregate_type, 'event_type', event_type, 'event_data', event_data, 'metadata',"
        " metadata, 'version', 1, 'timestamp', created_at) FROM outbox_events"
        " ORDER BY event_type");
    for (std::size_t index = 0; index < 2; ++index) {
        const auto& message = messages.at(index);
        EXPECT_EQ(message.header("Content-Type"), "application/json");
        EXPECT_EQ(bench.of_message(message,
                                   "body::jsonb || jsonb_build_object('timestamp',"
                                   " (body::jsonb->>'timestamp')::timestamptz)"),
                  expected.at(index));
        EXPECT_EQ(bench.of_message(message, "right(body::jsonb->>'timestamp', 1)"), "Z");
    }
}

TEST_P(Messages, OfClinicAreTheEventItself) {
    system_bench bench("clinic", GetParam());
    EXPECT_EQ(bench.column_of("SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE "
                              "attrelid = 'outbox'::regclass AND attname = 'aggregate_id'"),
              (texts{"character varying(255)"}));
    const auto messages = written(bench, 2);
    EXPECT_EQ(ids_of(messages), bench.column_of("SELECT id FROM outbox ORDER BY created_at,"
                                                " event_data ? 'with'"));
    EXPECT_EQ(subjects_of(messages),
              (texts{"clinic.PatientRegistered", "clinic.AppointmentBooked"}));
    EXPECT_EQ(bodies_of(messages),
              bench.column_of("SELECT event_data FROM event_store ORDER BY version"));
    for (const auto& message : messages) {
        EXPECT_EQ(message.header("Content-Type"), "application/json");
        EXPECT_EQ("clinic." + message.header("Event-Type"), message.subject);
        EXPECT_EQ(message.header("Aggregate-Id"),
                  bench.value_of("SELECT DISTINCT aggregate_id FROM event_store"));
    }
}

TEST_P(Messages, OfMemoCarryTheMailAndItsRecipient) {
    system_bench bench("memo", GetParam());
    const auto message = written(bench, 1).front();
    EXPECT_EQ(message.subject, "email.memo.created");
    EXPECT_EQ(message.header("Nats-Msg-Id"),
              bench.value_of("SELECT id || '-memo.created-director@example.org' FROM memos"));
    EXPECT_EQ(message.header("Recipient"), "director@example.org");
    EXPECT_EQ(message.header("Notification-Type"), "approval_request");
    EXPECT_EQ(message.header("Content-Type"), "application/json");
    EXPECT_EQ(bench.of_message(message, "body::jsonb - 'timestamp'"),
              bench.value_of("SELECT jsonb_build_object('id', id, 'aggregate_id', memo_id,"
                             " 'event_type', event_type, 'event_data', payload)"
                             " FROM email_outbox"));
    EXPECT_EQ(bench.of_message(message, "(body::jsonb->>'timestamp')::timestamptz"),
              bench.value_of("SELECT meta_created_at::text FROM email_outbox"));
}

TEST_P(Messages, OfMemoWithoutAKeyHaveTheIdOfTheirRow) {
    system_bench bench("memo", GetParam());
    bench.start();
    bench.execute(
        "INSERT INTO email_outbox (event_type, payload, recipient_email)"
        " VALUES ('memo.created', '{\"subject\": \"s\", \"body\": \"b\"}', 'a@example.org')");
    const auto message = bench.messages(1).front();
    EXPECT_EQ(message.header("Nats-Msg-Id"), bench.value_of("SELECT id FROM email_outbox"));
    EXPECT_FALSE(message.headers.contains("Notification-Type"));
}

TEST_P(Messages, OfBentoAreTheJsonByteForByteBehindTheTenant) {
    system_bench bench("bento", GetParam());
    const auto messages = written(bench, 2);
    EXPECT_EQ(ids_of(messages), bench.column_of("SELECT id FROM outbox ORDER BY topic DESC"));
    EXPECT_EQ(subjects_of(messages), (texts{"bento.acme.order.placed", "bento.acme.order.paid"}));
    const auto order = bench.value_of("SELECT id FROM orders");
    EXPECT_EQ(bodies_of(messages),
              (texts{"{\"order\":  \"" + order +
                         "\", \"dish\": \"便当\", \"amount\":2, \"amount_of\": \"boxes\"}",
                     "{ \"order\" : \"" + order + "\" }"}));
    for (const auto& message : messages) {
        EXPECT_EQ(message.header("Routing-Key"), order);
        EXPECT_EQ(message.header("Schema-Id"), "order-v1");
        EXPECT_EQ(message.header("Schema-Version"), "1");
        EXPECT_EQ(message.header("Event-Metadata"), R"({"source": "shop", "user":"u-1"})");
        EXPECT_EQ(message.header("Content-Type"), "application/json");
    }
}

TEST_P(Messages, OfABentoTenantStayAmongItsOwnSubjects) {
    system_bench bench("bento", GetParam());
    bench.start();
    bench.execute(
        "INSERT INTO outbox (id, tenant_id, topic, payload, event_metadata)"
        " VALUES ('1', 'acme.order', 'paid', '{}', '{}'), ('2', 'acme', 'order.*', '{}', '{}')");
    const auto messages = bench.messages(2);
    EXPECT_EQ(subjects_of(messages), (texts{"bento.acme%2Eorder.paid", "bento.acme.order.%2A"}));
    EXPECT_FALSE(messages.front().headers.contains("Routing-Key"));
}

TEST_P(Messages, OfWalletAreThePayloadAtItsDestination) {
    system_bench bench("wallet", GetParam());
    const auto messages = written(bench, 2);
    EXPECT_EQ(ids_of(messages), (texts{"wallet-1", "wallet-2"}));
    EXPECT_EQ(subjects_of(messages), (texts{"WalletCreated-out-0", "FundsAdded-out-0"}));
    EXPECT_EQ(bodies_of(messages),
              (texts{R"({"walletId":1,"owner":"Mary"})", R"({"walletId":1,"amount":25.50})"}));
    for (const auto& message : messages) {
        EXPECT_EQ(message.header("Correlation-Id"),
                  bench.value_of("SELECT DISTINCT correlation_id FROM outbox"));
        EXPECT_EQ(message.header("Content-Type"), "application/json");
    }
}

TEST_P(Messages, OfTwoTablesWithSmallIdsAreToldApart) {
    system_bench bench("wallet", GetParam());
    bench.execute("CREATE TABLE card_outbox (LIKE outbox INCLUDING ALL)");
    bench.set_configuration(bench.example_file("walrelay.toml") + R"(
[[outbox]]
table      = "public.card_outbox"
subject    = "{event_type}-out-0"
message_id = "card-{id}"
body       = "payload"
pending    = "NOT sent"
)");
    bench.start();
    for (const std::string table : {"outbox", "card_outbox", "outbox"}) {
        bench.execute("INSERT INTO " + table +
                      " (event_type, payload, created_at) VALUES ('FundsAdded', '{\"of\": \"" +
                      table + "\"}', localtimestamp)");
    }
    const auto messages = bench.messages(3);
    EXPECT_EQ(ids_of(messages), (texts{"wallet-1", "card-1", "wallet-2"}));
    EXPECT_EQ(messages.at(1).body, R"({"of": "card_outbox"})");
    EXPECT_FALSE(messages.at(0).headers.contains("Correlation-Id"));
}

INSTANTIATE_TEST_SUITE_P(, Messages, both_plugins(), plugin_name);

}  // namespace
}  // namespace walrelay::test
