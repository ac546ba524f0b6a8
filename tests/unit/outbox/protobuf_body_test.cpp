// The body `protobuf`, read back with the generated code.
#include "outbox/protobuf_body.hpp"

#include "unit/outbox/sample_row.hpp"

#include <gtest/gtest.h>

namespace walrelay::test {
namespace {

using std::string_literals::operator""s;

outbox_table protobuf_table() {
    auto table = usual_table();
    table.body = body_format::protobuf;
    return table;
}

v1::Event event_of(const sample_row& row) {
    v1::Event event;
    EXPECT_TRUE(event.ParseFromString(map_row(protobuf_table(), row).body));
    return event;
}

TEST(ProtobufBody, HoldsTheRow) {
    sample_row row;
    fill_usual(row);
    const auto event = event_of(row);
    EXPECT_EQ(event.id(), "42");
    EXPECT_EQ(event.aggregate_type(), "order");
    EXPECT_EQ(event.aggregate_id(), "7");
    EXPECT_EQ(event.event_type(), "placed");
    EXPECT_EQ(event.data(), R"({"total": 1.50, "note": "ü"})");
    EXPECT_EQ(event.data_content_type(), "application/json");
    EXPECT_EQ(event.metadata(), R"({"source": "shop"})");
    EXPECT_EQ(event.version(), 3);
    EXPECT_EQ(event.timestamp().seconds(), 1709209805);
    EXPECT_EQ(event.timestamp().nanos(), 250'000'000);
    EXPECT_EQ(event.position(), fresh_position);
}

TEST(ProtobufBody, SaysItsMediaType) {
    sample_row row;
    fill_usual(row);
    EXPECT_EQ(header_of(map_row(protobuf_table(), row), "Content-Type"), "application/x-protobuf");
}

TEST(ProtobufBody, TellsNullFromEmpty) {
    sample_row row;
    fill_usual(row);
    row.with("event_data", type::text, std::nullopt)
        .with("aggregate_id", type::text, "")
        .with("metadata", type::text, std::nullopt)
        .with("version", type::int8, std::nullopt)
        .with("created_at", type::timestamptz, std::nullopt);
    const auto event = event_of(row);
    EXPECT_FALSE(event.has_data());
    EXPECT_FALSE(event.has_data_content_type());
    EXPECT_TRUE(event.has_aggregate_id());
    EXPECT_EQ(event.aggregate_id(), "");
    EXPECT_FALSE(event.has_metadata());
    EXPECT_FALSE(event.has_version());
    EXPECT_FALSE(event.has_timestamp());
}

TEST(ProtobufBody, LeavesNothingOfTheRowBefore) {
    auto mapper = outbox::table_mapper::make(protobuf_table()).value();
    sample_row full;
    fill_usual(full);
    sample_row sparse;
    sparse.revised(2)
        .with("id", type::text, "1")
        .with("aggregate_type", type::text, "a")
        .with("event_type", type::text, "e")
        .with("payload", type::bytea, "00ff");
    auto out = fresh_message();
    ASSERT_TRUE(mapper.map(full.insert(), out));
    out = fresh_message();
    ASSERT_TRUE(mapper.map(sparse.insert(), out));
    v1::Event event;
    ASSERT_TRUE(event.ParseFromString(out.body));
    EXPECT_EQ(event.data(), "\x00\xff"s);
    EXPECT_EQ(event.data_content_type(), "application/octet-stream");
    EXPECT_FALSE(event.has_aggregate_id());
    EXPECT_FALSE(event.has_metadata());
    EXPECT_FALSE(event.has_version());
    EXPECT_FALSE(event.has_timestamp());
}

TEST(ProtobufBody, CountsNanosecondsUpwardsBefore1970Too) {
    sample_row row;
    fill_usual(row);
    row.with("created_at", type::timestamp, "1969-12-31 23:59:59.75");
    EXPECT_EQ(event_of(row).timestamp().seconds(), -1);
    EXPECT_EQ(event_of(row).timestamp().nanos(), 750'000'000);
}

TEST(ProtobufBody, HasNoTimestampOfAColumnThatIsNone) {
    sample_row row;
    fill_usual(row);
    row.with("created_at", type::date, "2024-02-29");
    EXPECT_FALSE(event_of(row).has_timestamp());
}

TEST(ProtobufBody, TakesVersionsOf64Bits) {
    sample_row row;
    fill_usual(row);
    row.with("version", type::numeric, "-9223372036854775808");
    EXPECT_EQ(event_of(row).version(), std::numeric_limits<std::int64_t>::min());
}

TEST(ProtobufBody, RefusesAVersionThatIsNoSuchInteger) {
    for (const char* version : {"9223372036854775808", "1.0", "v1", "", "1 "}) {
        sample_row row;
        fill_usual(row);
        row.with("version", type::text, version);
        EXPECT_EQ(refusal(protobuf_table(), row),
                  "table public.outbox_events, row id 42: column \"version\" is not an integer of "
                  "64 bits, which the version of a protobuf body has to be")
            << version;
    }
}

TEST(ProtobufBody, RefusesATimestampOutOfRange) {
    sample_row row;
    fill_usual(row);
    row.with("created_at", type::timestamptz, "-infinity");
    EXPECT_NE(refusal(protobuf_table(), row), "");
}

}  // namespace
}  // namespace walrelay::test
