// The bodies `event` and `payload` as a consumer gets them, byte for byte.
#include "outbox/body.hpp"

#include "unit/outbox/sample_row.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <simdjson.h>

namespace walrelay::test {
namespace {

using std::string_literals::operator""s;
using testing::HasSubstr;

std::string event_body(const sample_row& row, const outbox_table& table = usual_table()) {
    auto body = map_row(table, row).body;
    simdjson::dom::parser parser;
    const simdjson::padded_string document(body);
    EXPECT_EQ(parser.parse(document).error(), simdjson::SUCCESS) << body;
    return body;
}

/// Only what a subject and an id need, so that a test sees just what it adds.
void fill_required(sample_row& row) {
    row.with("id", type::uuid, "u-1")
        .with("aggregate_type", type::text, "a")
        .with("event_type", type::text, "e");
}

outbox_table payload_table() {
    auto table = usual_table();
    table.body = body_format::payload;
    return table;
}

TEST(EventBody, HoldsTheRolesInAFixedOrderAndNothingElse) {
    sample_row row;
    fill_usual(row);
    EXPECT_EQ(event_body(row),
              R"({"id":42,"aggregate_id":"7","aggregate_type":"order","event_type":"placed",)"
              R"("event_data":{"total": 1.50, "note": "ü"},"metadata":{"source": "shop"},)"
              R"("version":3,"timestamp":"2024-02-29T12:30:05.25Z"})");
}

TEST(EventBody, LeavesOutRolesThatNoColumnPlays) {
    sample_row row;
    fill_required(row);
    EXPECT_EQ(event_body(row), R"({"id":"u-1","aggregate_type":"a","event_type":"e"})");
}

TEST(EventBody, OfATableWithoutAnyRoleIsAnEmptyObject) {
    sample_row row;
    row.with("key", type::text, "k");
    auto table = usual_table();
    table.subject = "events.all";
    table.message_id = "{key}";
    EXPECT_EQ(event_body(row, table), "{}");
}

TEST(EventBody, ShowsNullAsNull) {
    sample_row row;
    fill_required(row);
    row.with("event_data", type::jsonb, std::nullopt)
        .with("version", type::int8, std::nullopt)
        .with("created_at", type::timestamptz, std::nullopt);
    EXPECT_EQ(event_body(row),
              R"({"id":"u-1","aggregate_type":"a","event_type":"e","event_data":null,)"
              R"("version":null,"timestamp":null})");
}

TEST(EventBody, UsesTheConfiguredColumns) {
    sample_row row;
    fill_usual(row);
    row.with("Key \"1\"", type::uuid, "u-2").with("body", type::text, "say \"hi\"\n");
    auto table = usual_table();
    table.columns.id = "Key \"1\"";
    table.columns.payload = "body";
    const auto body = event_body(row, table);
    EXPECT_THAT(body, testing::StartsWith(R"({"id":"u-2",)"));
    EXPECT_THAT(body, HasSubstr(R"("event_data":"say \"hi\"\n",)"));
}

TEST(EventBody, EmbedsEachTypeInItsForm) {
    const auto embedded = [](type_oid type, const std::string& value) {
        sample_row row;
        fill_required(row);
        row.with("event_data", type, value);
        const auto body = event_body(row);
        const auto start = body.find("event_data\":") + sizeof "event_data\":" - 1;
        return body.substr(start, body.size() - 1 - start);
    };
    EXPECT_EQ(embedded(type::json, "{\"b\":1,  \"a\":[ ]}"), "{\"b\":1,  \"a\":[ ]}");
    EXPECT_EQ(embedded(type::bytea, "00ff"), R"("AP8=")");
    EXPECT_EQ(embedded(type::boolean, "t"), "true");
    EXPECT_EQ(embedded(type::numeric, "0.10"), "0.10");
    EXPECT_EQ(embedded(type::float8, "NaN"), R"("NaN")");
    EXPECT_EQ(embedded(type::text, "{}"), R"("{}")");
    EXPECT_EQ(embedded(type::date, "2024-02-29"), R"("2024-02-29")");
    EXPECT_EQ(embedded(type::timestamp, "2024-02-29 00:00:00"), R"("2024-02-29T00:00:00Z")");
}

TEST(EventBody, EmbedsATimestampOfAnotherTypeByItsKind) {
    sample_row row;
    fill_required(row);
    row.with("created_at", type::int8, "1709209805");
    EXPECT_THAT(event_body(row), HasSubstr(R"("timestamp":1709209805})"));
}

TEST(EventBody, RefusesATimestampThatRfc3339CannotSay) {
    sample_row row;
    fill_usual(row);
    row.with("created_at", type::timestamptz, "infinity");
    EXPECT_EQ(refusal(usual_table(), row),
              "table public.outbox_events, row id 42: column \"created_at\" cannot be written as "
              "RFC 3339, which knows the years 1 to 9999 and no infinity");
}

TEST(EventBody, RefusesBytesThatAreNoBytea) {
    sample_row row;
    fill_usual(row);
    row.with("event_data", type::bytea, "secret");
    EXPECT_EQ(refusal(usual_table(), row),
              "table public.outbox_events, row id 42: column \"event_data\" is a bytea, but what "
              "was read are not pairs of hexadecimal digits");
}

TEST(PayloadBody, IsTheColumnByteForByte) {
    const auto sent = [](type_oid type, const std::string& value) {
        sample_row row;
        fill_required(row);
        row.with("payload", type, value);
        return map_row(payload_table(), row);
    };
    EXPECT_EQ(sent(type::json, "{ \"b\":1,\n \"a\":2 }").body, "{ \"b\":1,\n \"a\":2 }");
    EXPECT_EQ(sent(type::text, " as it is\r\n").body, " as it is\r\n");
    EXPECT_EQ(sent(type::bytea, "00ff0a").body, "\x00\xff\x0a"s);
    EXPECT_EQ(sent(type::timestamptz, "2024-02-29 12:30:05+00").body, "2024-02-29 12:30:05+00");
    EXPECT_EQ(sent(type::text, "").body, "");
}

TEST(PayloadBody, SaysItsMediaType) {
    const auto media_type = [](type_oid type) {
        sample_row row;
        fill_required(row);
        row.with("payload", type, "00");
        return header_of(map_row(payload_table(), row), "Content-Type");
    };
    EXPECT_EQ(media_type(type::jsonb), "application/json");
    EXPECT_EQ(media_type(type::bytea), "application/octet-stream");
    EXPECT_EQ(media_type(type::text), "text/plain; charset=utf-8");
}

TEST(PayloadBody, RefusesNull) {
    sample_row row;
    fill_usual(row);
    row.with("event_data", type::jsonb, std::nullopt);
    EXPECT_EQ(refusal(payload_table(), row),
              "table public.outbox_events, row id 42: column \"event_data\" is NULL, but the body "
              "is made of the payload");
}

TEST(PayloadBody, IsEmptyForATombstone) {
    sample_row row;
    fill_usual(row);
    auto table = payload_table();
    table.keeps_tombstones = true;
    const auto usual = map_row(table, row);
    EXPECT_EQ(header_of(usual, "Walrelay-Tombstone"), std::nullopt);
    row.with("event_data", type::jsonb, std::nullopt);
    const auto sent = map_row(table, row);
    EXPECT_EQ(sent.body, "");
    EXPECT_EQ(header_of(sent, "Walrelay-Tombstone"), "true");
    EXPECT_EQ(header_of(sent, "Content-Type"), std::nullopt);
    // An empty text is a payload.
    row.with("event_data", type::text, "");
    EXPECT_EQ(header_of(map_row(table, row), "Walrelay-Tombstone"), std::nullopt);
}

}  // namespace
}  // namespace walrelay::test
