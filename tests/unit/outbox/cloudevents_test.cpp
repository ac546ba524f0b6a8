// CloudEvents in binary mode, as the NATS binding has them.
#include "unit/outbox/random_text.hpp"
#include "unit/outbox/sample_row.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace walrelay::test {
namespace {

using testing::ElementsAre;

outbox_table cloudevents_table() {
    auto table = usual_table();
    table.body = body_format::cloudevents;
    return table;
}

TEST(CloudEvents, CarryTheirAttributesInHeadersAndThePayloadAsBody) {
    sample_row row;
    fill_usual(row);
    const auto sent = map_row(cloudevents_table(), row);
    EXPECT_THAT(header_names(sent),
                ElementsAre("Walrelay-Position", "Content-Type", "ce-specversion", "ce-id",
                            "ce-source", "ce-type", "ce-subject", "ce-time", "ce-datacontenttype"));
    EXPECT_EQ(header_of(sent, "Content-Type"), "application/json");
    EXPECT_EQ(header_of(sent, "ce-specversion"), "1.0");
    EXPECT_EQ(header_of(sent, "ce-id"), "42");
    EXPECT_EQ(header_of(sent, "ce-source"), "/public/outbox_events");
    EXPECT_EQ(header_of(sent, "ce-type"), "placed");
    EXPECT_EQ(header_of(sent, "ce-subject"), "7");
    EXPECT_EQ(header_of(sent, "ce-time"), "2024-02-29T12:30:05.25Z");
    EXPECT_EQ(header_of(sent, "ce-datacontenttype"), "application/json");
    EXPECT_EQ(sent.body, R"({"total": 1.50, "note": "ü"})");
}

TEST(CloudEvents, EncodeTheirValuesAsTheBindingAsks) {
    sample_row row;
    fill_usual(row);
    row.with("event_type", type::text, "Größe \"50%\"")
        .with("aggregate_id", type::text, "a b")
        .with("id", type::text, "Nats-1 2");
    auto table = cloudevents_table();
    table.table = {"my schema", "t"};
    const auto sent = map_row(table, row);
    EXPECT_EQ(header_of(sent, "ce-type"), "Gr%C3%B6%C3%9Fe%20%2250%25%22");
    EXPECT_EQ(header_of(sent, "ce-subject"), "a%20b");
    EXPECT_EQ(header_of(sent, "ce-source"), "/my%2520schema/t");
    EXPECT_EQ(percent_decoded(header_of(sent, "ce-source").value()), "/my%20schema/t");
    EXPECT_EQ(header_of(sent, "ce-id"), "Nats%2D1%202");
    EXPECT_EQ(sent.id, "Nats%2D1 2");
}

TEST(CloudEvents, OfATableWithoutTypeAndTimeTakeTableAndCommit) {
    sample_row row;
    row.with("id", type::text, "1").with("payload", type::text, "x");
    auto table = cloudevents_table();
    table.subject = "events.all";
    const auto sent = map_row(table, row);
    EXPECT_EQ(header_of(sent, "ce-type"), "public.outbox_events");
    EXPECT_EQ(header_of(sent, "ce-time"), "2024-03-01T00:00:00Z");
    EXPECT_EQ(header_of(sent, "ce-subject"), std::nullopt);
    EXPECT_EQ(header_of(sent, "ce-datacontenttype"), "text/plain;%20charset=utf-8");
}

TEST(CloudEvents, TakeTheTimeOfTheCommitWhereCreatedAtIsNoTime) {
    for (const auto& created_at :
         {std::optional<std::string>(), std::optional<std::string>("infinity")}) {
        sample_row row;
        fill_usual(row);
        row.with("created_at", type::timestamptz, created_at);
        EXPECT_EQ(header_of(map_row(cloudevents_table(), row), "ce-time"), "2024-03-01T00:00:00Z");
    }
}

TEST(CloudEvents, WithoutPayloadHaveNoBodyAndNoContentType) {
    sample_row row;
    fill_usual(row);
    row.with("event_data", type::jsonb, std::nullopt);
    const auto sent = map_row(cloudevents_table(), row);
    EXPECT_EQ(sent.body, "");
    EXPECT_EQ(header_of(sent, "Content-Type"), std::nullopt);
    EXPECT_EQ(header_of(sent, "ce-datacontenttype"), std::nullopt);
}

TEST(CloudEvents, LetAConfiguredHeaderTakeTheirPlace) {
    sample_row row;
    fill_usual(row);
    auto table = cloudevents_table();
    table.headers = {{"CE-Type", "shop.{event_type}"}};
    const auto sent = map_row(table, row);
    EXPECT_EQ(header_of(sent, "ce-type"), std::nullopt);
    EXPECT_EQ(header_of(sent, "CE-Type"), "shop.placed");
}

}  // namespace
}  // namespace walrelay::test
