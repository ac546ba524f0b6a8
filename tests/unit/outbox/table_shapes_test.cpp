// Tables as services have had them for years, each mapped by configuration alone.
#include "unit/outbox/sample_row.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace walrelay::test {
namespace {

using testing::ElementsAre;

/// An event table with uuid and jsonb, and event types that hold dots.
void fill_events(sample_row& row) {
    row.with("id", type::uuid, "6f1c8d6e-3f6c-4d38-9d0f-0a4b6a1f2c3d")
        .with("aggregate_id", type::varchar, "u-17")
        .with("aggregate_type", type::varchar, "user")
        .with("event_type", type::varchar, "user.created")
        .with("event_data", type::jsonb, R"({"email": "a@b.c"})")
        .with("metadata", type::jsonb, std::nullopt)
        .with("status", type::varchar, "pending")
        .with("version", type::int8, "1")
        .with("created_at", type::timestamptz, "2024-02-29 12:30:05.25+00");
}

TEST(TableShapes, EventsWithDotsInTheirTypes) {
    sample_row row;
    fill_events(row);
    const auto sent = map_row(usual_table(), row);
    EXPECT_EQ(sent.subject, "events.user.user.created");
    EXPECT_EQ(sent.id, "6f1c8d6e-3f6c-4d38-9d0f-0a4b6a1f2c3d");
    EXPECT_EQ(sent.body, R"({"id":"6f1c8d6e-3f6c-4d38-9d0f-0a4b6a1f2c3d","aggregate_id":"u-17",)"
                         R"("aggregate_type":"user","event_type":"user.created",)"
                         R"("event_data":{"email": "a@b.c"},"metadata":null,"version":1,)"
                         R"("timestamp":"2024-02-29T12:30:05.25Z"})");
}

TEST(TableShapes, NoAggregateTypeAndATimeWithoutZone) {
    sample_row row;
    row.with("id", type::uuid, "a1")
        .with("aggregate_id", type::uuid, "p-1")
        .with("event_type", type::varchar, "PatientRegistered")
        .with("event_data", type::jsonb, R"({"name": "Ada"})")
        .with("metadata", type::jsonb, "{}")
        .with("created_at", type::timestamp, "2024-02-29 12:30:05")
        .with("published", type::boolean, "f");
    auto table = usual_table();
    table.subject = "clinic.{event_type}";
    table.body = body_format::payload;
    auto sent = map_row(table, row);
    EXPECT_EQ(sent.subject, "clinic.PatientRegistered");
    EXPECT_EQ(sent.body, R"({"name": "Ada"})");
    EXPECT_EQ(header_of(sent, "Content-Type"), "application/json");
    table.body = body_format::event;
    sent = map_row(table, row);
    EXPECT_EQ(sent.body,
              R"({"id":"a1","aggregate_id":"p-1","event_type":"PatientRegistered",)"
              R"("event_data":{"name": "Ada"},"metadata":{},"timestamp":"2024-02-29T12:30:05Z"})");
}

outbox_table mail_table() {
    auto table = usual_table();
    table.columns.aggregate_id = "memo_id";
    table.subject = "mail.{event_type}";
    table.message_id = "{idempotency_key|id}";
    table.headers = {{"Recipient", "{recipient_email}"}, {"Key", "{idempotency_key|id}"}};
    table.body = body_format::payload;
    return table;
}

void fill_mail(sample_row& row) {
    row.with("id", type::uuid, "m1")
        .with("memo_id", type::uuid, "7")
        .with("event_type", type::varchar, "memo.created")
        .with("payload", type::jsonb, R"({"subject": "s"})")
        .with("recipient_email", type::varchar, "a@b.c")
        .with("idempotency_key", type::varchar, "7-memo.created-a@b.c");
}

TEST(TableShapes, AKeyOfItsOwnElseTheId) {
    sample_row row;
    fill_mail(row);
    auto sent = map_row(mail_table(), row);
    EXPECT_EQ(sent.subject, "mail.memo.created");
    EXPECT_EQ(sent.id, "7-memo.created-a@b.c");
    EXPECT_EQ(header_of(sent, "Key"), "7-memo.created-a@b.c");
    row.with("idempotency_key", type::varchar, std::nullopt);
    sent = map_row(mail_table(), row);
    EXPECT_EQ(sent.id, "m1");
    EXPECT_EQ(header_of(sent, "Key"), "m1");
    EXPECT_EQ(header_of(sent, "Recipient"), "a@b.c");
}

TEST(TableShapes, TheSubjectFallsBackToo) {
    sample_row row;
    fill_mail(row);
    auto table = mail_table();
    table.subject = "{idempotency_key|event_type}";
    EXPECT_EQ(map_row(table, row).subject, "7-memo.created-a@b.c");
    row.with("idempotency_key", type::varchar, std::nullopt);
    EXPECT_EQ(map_row(table, row).subject, "memo.created");
}

/// Tenants, a topic that holds dots, json that must stay as it was written.
void fill_tenant(sample_row& row) {
    row.with("id", type::varchar, "b-1")
        .with("tenant_id", type::varchar, "t1")
        .with("aggregate_id", type::varchar, std::nullopt)
        .with("aggregate_type", type::varchar, std::nullopt)
        .with("topic", type::varchar, "persistent.orders.created")
        .with("occurred_at", type::timestamptz, "2024-02-29 12:30:05.25+00")
        .with("payload", type::json, "{ \"b\" : 1,\n  \"a\":2, \"a\": 3 }")
        .with("event_metadata", type::json, "{ }")
        .with("routing_key", type::varchar, std::nullopt)
        .with("schema_id", type::varchar, "s-9")
        .with("schema_version", type::int8, "1");
}

outbox_table tenant_table() {
    auto table = usual_table();
    table.columns.metadata = "event_metadata";
    table.columns.created_at = "occurred_at";
    table.subject = "{tenant_id}.{topic}";
    table.body = body_format::payload;
    table.headers = {{"Routing-Key", "{routing_key}"},
                     {"Schema-Id", "{schema_id}"},
                     {"Schema-Version", "{schema_version}"}};
    return table;
}

TEST(TableShapes, TenantBeforeTheTopic) {
    sample_row row;
    fill_tenant(row);
    const auto sent = map_row(tenant_table(), row);
    EXPECT_EQ(sent.subject, "t1.persistent.orders.created");
    EXPECT_EQ(sent.body, "{ \"b\" : 1,\n  \"a\":2, \"a\": 3 }");
    EXPECT_EQ(header_of(sent, "Routing-Key"), std::nullopt);
    EXPECT_EQ(header_of(sent, "Schema-Id"), "s-9");
    EXPECT_EQ(header_of(sent, "Schema-Version"), "1");
}

TEST(TableShapes, NoTenantReachesTheSubjectsOfAnother) {
    sample_row row;
    fill_tenant(row);
    row.with("tenant_id", type::varchar, "t1.persistent");
    EXPECT_EQ(map_row(tenant_table(), row).subject, "t1%2Epersistent.persistent.orders.created");
    row.with("tenant_id", type::varchar, "*").with("topic", type::varchar, ">");
    EXPECT_EQ(map_row(tenant_table(), row).subject, "%2A.%3E");
}

/// Small ids, text that holds JSON, no aggregate at all.
void fill_wallet(sample_row& row) {
    row.with("id", type::int8, "7")
        .with("event_type", type::varchar, "FundsAdded")
        .with("payload", type::text, R"({"amount": 1.50})")
        .with("correlation_id", type::varchar, "c-1")
        .with("created_at", type::timestamp, "2024-02-29 12:30:05.5")
        .with("sent", type::boolean, "f");
}

TEST(TableShapes, ATextPayloadWithoutAnyAggregate) {
    sample_row row;
    fill_wallet(row);
    auto table = usual_table();
    table.subject = "{event_type}-out-0";
    table.message_id = "wallet-{id}";
    table.headers = {{"Correlation-Id", "{correlation_id}"}, {"Content-Type", "application/json"}};
    table.body = body_format::payload;
    auto sent = map_row(table, row);
    EXPECT_EQ(sent.subject, "FundsAdded-out-0");
    EXPECT_EQ(sent.id, "wallet-7");
    EXPECT_EQ(sent.body, R"({"amount": 1.50})");
    EXPECT_THAT(header_names(sent),
                ElementsAre("Walrelay-Position", "Correlation-Id", "Content-Type"));
    table.body = body_format::event;
    sent = map_row(table, row);
    EXPECT_EQ(sent.body, R"({"id":7,"event_type":"FundsAdded","event_data":"{\"amount\": 1.50}",)"
                         R"("timestamp":"2024-02-29T12:30:05.5Z"})");
}

}  // namespace
}  // namespace walrelay::test
