// Which headers a message has, in which order and from where.
#include "outbox/header_writer.hpp"
#include "unit/outbox/sample_row.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace walrelay::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

outbox_table with_headers(std::vector<std::pair<std::string, std::string>> headers) {
    auto table = usual_table();
    table.headers = std::move(headers);
    return table;
}

TEST(Headers, ComeInTheirOrder) {
    sample_row row;
    fill_usual(row);
    row.with("metadata", type::jsonb, R"({"traceparent":"00-1-2-01","tracestate":"k=v"})")
        .with("correlation_id", type::text, "c-1");
    const auto sent = map_row(
        with_headers({{"X-Status", "{status}!"}, {"Correlation-Id", "{correlation_id}"}}), row);
    EXPECT_THAT(header_names(sent), ElementsAre("Walrelay-Position", "Content-Type", "traceparent",
                                                "tracestate", "X-Status", "Correlation-Id"));
    EXPECT_EQ(header_of(sent, "Walrelay-Position"), fresh_position);
    EXPECT_EQ(header_of(sent, "Content-Type"), "application/json");
    EXPECT_EQ(header_of(sent, "traceparent"), "00-1-2-01");
    EXPECT_EQ(header_of(sent, "tracestate"), "k=v");
    EXPECT_EQ(header_of(sent, "X-Status"), "pending!");
    EXPECT_EQ(header_of(sent, "Correlation-Id"), "c-1");
}

TEST(Headers, TakeTheTraceFromAColumnBeforeMetadata) {
    sample_row row;
    fill_usual(row);
    row.with("metadata", type::jsonb, R"({"traceparent":"meta","tracestate":"meta"})")
        .with("traceparent", type::text, "column");
    EXPECT_EQ(header_of(map_row(usual_table(), row), "traceparent"), "column");
    EXPECT_EQ(header_of(map_row(usual_table(), row), "tracestate"), "meta");
    row.with("traceparent", type::text, std::nullopt);
    EXPECT_EQ(header_of(map_row(usual_table(), row), "traceparent"), "meta");
}

TEST(Headers, HaveNoTraceWhereThereIsNone) {
    sample_row row;
    fill_usual(row);
    EXPECT_EQ(header_of(map_row(usual_table(), row), "traceparent"), std::nullopt);
    row.with("metadata", type::text, "{\"traceparent\": broken");
    EXPECT_EQ(header_of(map_row(usual_table(), row), "traceparent"), std::nullopt);
}

TEST(Headers, FromMetadataAreMadeFitForTheWire) {
    sample_row row;
    fill_usual(row);
    row.with("metadata", type::jsonb, R"({"traceparent":"a\r\nNats-Msg-Id: x"})");
    EXPECT_EQ(header_of(map_row(usual_table(), row), "traceparent"), "a%0D%0ANats%2DMsg-Id: x");
}

TEST(Headers, AreLeftOutWhereAColumnIsNullOrTheValueEmpty) {
    sample_row row;
    fill_usual(row);
    row.with("tenant", type::text, std::nullopt).with("key", type::text, "");
    const auto sent =
        map_row(with_headers({{"X-Tenant", "t-{tenant}-{id}"}, {"X-Key", "{key}"}}), row);
    EXPECT_EQ(header_of(sent, "X-Tenant"), std::nullopt);
    EXPECT_EQ(header_of(sent, "X-Key"), std::nullopt);
    row.with("traceparent", type::text, "");
    EXPECT_EQ(header_of(map_row(usual_table(), row), "traceparent"), std::nullopt);
}

TEST(Headers, TakeAMemberOfAColumn) {
    sample_row row;
    fill_usual(row);
    row.with("metadata", type::jsonb, R"({"tenant":"t-1\n","retries":3})");
    const auto sent = map_row(with_headers({{"X-Tenant", "{metadata->>'tenant'}"},
                                            {"X-Retries", "{metadata->>'retries'}"},
                                            {"X-User", "{metadata->>'user'}"},
                                            {"X-Kind", "{metadata->>'kind'|'none'}"}}),
                              row);
    EXPECT_EQ(header_of(sent, "X-Tenant"), "t-1%0A");
    EXPECT_EQ(header_of(sent, "X-Retries"), "3");
    EXPECT_EQ(header_of(sent, "X-User"), std::nullopt);
    EXPECT_EQ(header_of(sent, "X-Kind"), "none");
}

TEST(Headers, AreEncodedAsAWhole) {
    sample_row row;
    fill_usual(row);
    row.with("left", type::text, "Na").with("right", type::text, "-X\n");
    EXPECT_EQ(header_of(map_row(with_headers({{"X-A", " {left}ts{right}"}}), row), "X-A"),
              "%20Nats%2DX%0A");
}

TEST(Headers, OfTheConfigurationTakeThePlaceOfBuiltInOnes) {
    sample_row row;
    fill_usual(row);
    row.with("traceparent", type::text, "column");
    const auto sent = map_row(
        with_headers({{"content-type", "application/vnd.shop+json"}, {"TraceParent", "{id}"}}),
        row);
    EXPECT_THAT(header_names(sent),
                ElementsAre("Walrelay-Position", "content-type", "TraceParent"));
    EXPECT_EQ(header_of(sent, "content-type"), "application/vnd.shop+json");
    EXPECT_EQ(header_of(sent, "TraceParent"), "42");
}

TEST(Headers, AreRefusedWhereTheyAreTooLargeTogether) {
    sample_row row;
    fill_usual(row);
    row.with("long", type::text, std::string(60UL * 1024 - 200, 'x'));
    const auto table = with_headers({{"X-Long", "{long}"}});
    EXPECT_EQ(refusal(table, row), "");
    row.with("long", type::text, std::string(60UL * 1024, 'x'));
    EXPECT_THAT(refusal(table, row), HasSubstr("row id 42: the headers would have 61"));
}

TEST(Headers, CountTheMessageIdToo) {
    sample_row row;
    fill_usual(row);
    row.with("id", type::text, std::string(61UL * 1024, 'x'));
    EXPECT_THAT(refusal(usual_table(), row), HasSubstr("the headers would have 62"));
}

}  // namespace
}  // namespace walrelay::test
