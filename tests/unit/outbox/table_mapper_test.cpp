// Rows as messages, through the one door that the rest of the program uses.
#include "outbox/table_mapper.hpp"

#include "unit/outbox/sample_row.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace walrelay::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(TableMapper, AddressesTheMessageByTheRow) {
    sample_row row;
    fill_usual(row);
    const auto sent = map_row(usual_table(), row);
    EXPECT_EQ(sent.subject, "events.order.placed");
    EXPECT_EQ(sent.id, "42");
}

TEST(TableMapper, KeepsDotsOfTheSubjectsLastValueAlone) {
    sample_row row;
    fill_usual(row);
    row.with("aggregate_type", type::text, "my.order").with("event_type", type::text, "a.b.>");
    EXPECT_EQ(map_row(usual_table(), row).subject, "events.my%2Eorder.a.b.%3E");
}

TEST(TableMapper, PutsAnyColumnIntoSubjectAndId) {
    sample_row row;
    fill_usual(row);
    auto table = usual_table();
    table.subject = "{status}.x.{aggregate_type}-out-0";
    table.message_id = "wallet:{id}:{version}";
    const auto sent = map_row(table, row);
    EXPECT_EQ(sent.subject, "pending.x.order-out-0");
    EXPECT_EQ(sent.id, "wallet:42:3");
}

TEST(TableMapper, MakesTheIdFitForAHeader) {
    sample_row row;
    fill_usual(row);
    row.with("id", type::text, "Nats-Msg-Id: 100%\n");
    EXPECT_EQ(map_row(usual_table(), row).id, "Nats%2DMsg-Id: 100%25%0A");
}

TEST(TableMapper, RefusesARowWithoutWhatTheSubjectNeeds) {
    sample_row row;
    fill_usual(row);
    row.with("event_type", type::text, std::nullopt);
    EXPECT_EQ(refusal(usual_table(), row),
              "table public.outbox_events, row id 42: column \"event_type\" is NULL, but the "
              "subject \"events.{aggregate_type}.{event_type}\" needs it");
    row.with("event_type", type::text, "");
    EXPECT_EQ(refusal(usual_table(), row),
              "table public.outbox_events, row id 42: column \"event_type\" is empty, but the "
              "subject \"events.{aggregate_type}.{event_type}\" needs it");
}

TEST(TableMapper, RefusesARowWithoutId) {
    sample_row row;
    fill_usual(row);
    row.with("id", type::text, std::nullopt);
    EXPECT_EQ(refusal(usual_table(), row),
              std::string("table public.outbox_events, row at position ") + fresh_position +
                  ": column \"id\" is NULL, but the message_id \"{id}\" needs it");
    row.with("id", type::text, "");
    EXPECT_THAT(refusal(usual_table(), row),
                HasSubstr("column \"id\" is empty, but the message_id \"{id}\" needs it"));
}

TEST(TableMapper, RefusesASubjectThatIsTooLong) {
    sample_row row;
    fill_usual(row);
    row.with("event_type", type::text, std::string(1024 - sizeof "events.order." + 1, 'x'));
    EXPECT_EQ(map_row(usual_table(), row).subject.size(), 1024U);
    row.with("event_type", type::text, std::string(1024 - sizeof "events.order." + 2, 'x'));
    EXPECT_EQ(refusal(usual_table(), row),
              "table public.outbox_events, row id 42: the subject would have 1025 bytes, more than "
              "the 1024 that are allowed");
}

TEST(TableMapper, KeepsTheRowIdInAnErrorShortAndOnOneLine) {
    sample_row row;
    fill_usual(row);
    row.with("id", type::text, "a\nb" + std::string(500, 'x'))
        .with("event_type", type::text, std::nullopt);
    const auto what = refusal(usual_table(), row);
    EXPECT_THAT(what, HasSubstr("row id a%0Ab" + std::string(125, 'x') + "...: column"));
}

TEST(TableMapper, KeepsOtherColumnsOutOfErrors) {
    sample_row row;
    fill_usual(row);
    row.with("event_data", type::jsonb, "{\"card\": 4111}").with("event_type", type::text, "");
    EXPECT_THAT(refusal(usual_table(), row), testing::Not(HasSubstr("4111")));
}

TEST(TableMapper, RefusesRowsOfATableThatDoesNotFit) {
    sample_row row;
    fill_usual(row);
    auto table = usual_table();
    table.columns.version = "revision";
    EXPECT_EQ(refusal(table, row),
              "table public.outbox_events, row id 42: table public.outbox_events has no column "
              "\"revision\", which columns.version names");
    EXPECT_THAT(outbox::table_mapper::make(table).value().problems_with(row.columns()),
                ElementsAre("table public.outbox_events has no column \"revision\", which "
                            "columns.version names"));
}

TEST(TableMapper, GivesTheMessageIdAlsoWhereAnotherColumnIsMissing) {
    sample_row row;
    row.with("id", type::int8, "42").with("event_type", type::text, "created");
    auto table = usual_table();
    table.body = body_format::payload;
    auto mapper = outbox::table_mapper::make(table).value();
    auto out = fresh_message();
    EXPECT_FALSE(mapper.map(row.insert(), out));
    EXPECT_EQ(out.id, "42") << "the WAL leaves out large values that an UPDATE did not change";
}

TEST(TableMapper, HasNoProblemWithTheUsualTable) {
    sample_row row;
    fill_usual(row);
    EXPECT_THAT(outbox::table_mapper::make(usual_table()).value().problems_with(row.columns()),
                IsEmpty());
}

TEST(TableMapper, FollowsColumnsByNameWhenTheTableIsAltered) {
    auto mapper = outbox::table_mapper::make(usual_table()).value();
    sample_row before;
    fill_usual(before);
    sample_row after;
    after.revised(2)
        .with("event_type", type::text, "moved")
        .with("id", type::text, "43")
        .with("aggregate_type", type::text, "cart");
    for (int round = 0; round < 2; ++round) {
        auto out = fresh_message();
        ASSERT_TRUE(mapper.map(before.insert(), out));
        EXPECT_EQ(out.subject, "events.order.placed");
        out = fresh_message();
        ASSERT_TRUE(mapper.map(after.insert(), out));
        EXPECT_EQ(out.subject, "events.cart.moved");
        EXPECT_EQ(out.id, "43");
    }
}

TEST(TableMapper, StaysCorrectThroughMoreRevisionsThanItKeeps) {
    auto mapper = outbox::table_mapper::make(usual_table()).value();
    sample_row row;
    fill_usual(row);
    for (std::uint64_t revision = 1; revision <= 3000; ++revision) {
        row.revised(revision);
        auto out = fresh_message();
        ASSERT_TRUE(mapper.map(row.insert(), out));
        ASSERT_EQ(out.subject, "events.order.placed");
    }
}

TEST(TableMapper, TakesADomainForWhatItStandsForOnceItIsTold) {
    constexpr type_oid domain = 16400;
    auto mapper = outbox::table_mapper::make(usual_table()).value();
    sample_row row;
    fill_usual(row);
    row.with("event_data", domain, "{}");
    auto out = fresh_message();
    ASSERT_TRUE(mapper.map(row.insert(), out));
    EXPECT_THAT(out.body, HasSubstr(R"("event_data":"{}")"));
    mapper.set_domains({{domain, type::jsonb}});
    out = fresh_message();
    ASSERT_TRUE(mapper.map(row.insert(), out));
    EXPECT_THAT(out.body, HasSubstr(R"("event_data":{})"));
}

TEST(TableMapper, FillsAMessageThatWasUsedBefore) {
    auto mapper = outbox::table_mapper::make(usual_table()).value();
    sample_row row;
    fill_usual(row);
    row.with("metadata", type::jsonb, R"({"traceparent":"x"})");
    auto out = fresh_message();
    ASSERT_TRUE(mapper.map(row.insert(), out));
    row.with("metadata", type::jsonb, "{}");
    constexpr std::size_t kept_bytes = 4096;
    out.clear(kept_bytes);
    ASSERT_TRUE(mapper.map(row.insert(), out));
    const auto fresh = map_row(usual_table(), row);
    EXPECT_EQ(out.subject, fresh.subject);
    EXPECT_EQ(out.id, fresh.id);
    EXPECT_EQ(out.body, fresh.body);
    EXPECT_EQ(header_names(out), header_names(fresh));
}

TEST(TableMapper, ShowsWhichSubjectsItsMessagesHave) {
    EXPECT_EQ(outbox::table_mapper::make(usual_table()).value().subject_pattern(), "events.*.>");
}

TEST(TableMapper, CanBeMoved) {
    auto mapper = outbox::table_mapper::make(usual_table()).value();
    sample_row row;
    fill_usual(row);
    auto other = std::move(mapper);
    auto out = fresh_message();
    EXPECT_TRUE(other.map(row.insert(), out));
}

TEST(TableMapper, PutsATextInPlaceOfNullInASubject) {
    sample_row row;
    fill_usual(row);
    row.with("stream", type::text, std::nullopt);
    auto table = usual_table();
    table.subject = "events.{stream|'no stream'}.{aggregate_type}";
    EXPECT_EQ(map_row(table, row).subject, "events.no%20stream.order");
    table.subject = "events.{stream|'none.at.all'}";
    EXPECT_EQ(map_row(table, row).subject, "events.none.at.all");
    row.with("stream", type::text, "orders");
    EXPECT_EQ(map_row(table, row).subject, "events.orders");
}

}  // namespace
}  // namespace walrelay::test
