// What an entry could say for a table.
#include "outbox/table_proposal.hpp"

#include <gtest/gtest.h>

namespace walrelay::outbox {
namespace {

// Oids of PostgreSQL, pg_type.dat.
constexpr type_oid boolean_oid = 16;
constexpr type_oid bytea_oid = 17;
constexpr type_oid int4_oid = 23;
constexpr type_oid text_oid = 25;
constexpr type_oid jsonb_oid = 3802;
constexpr type_oid timestamp_oid = 1114;

table_proposal of(const std::vector<column>& columns, const domain_types& domains = {}) {
    return propose({{"public", "outbox"}, columns, domains, {}, {}});
}

TEST(TableProposal, FindsTheRolesThatARelayFinds) {
    const auto made = of({{"payload", text_oid}, {"event_data", text_oid}, {"id", text_oid}});
    using pair = std::pair<column_role, std::string>;
    EXPECT_EQ(made.roles,
              (std::vector<pair>{{column_role::id, "id"}, {column_role::payload, "event_data"}}));
}

TEST(TableProposal, MakesASubjectOfTheColumnsThatAreThere) {
    EXPECT_EQ(of({{"aggregate_type", text_oid}, {"event_type", text_oid}}).subject,
              "events.{aggregate_type}.{event_type}");
    EXPECT_EQ(of({{"event_type", text_oid}}).subject, "events.{event_type}");
    EXPECT_EQ(of({}).subject, "events.outbox");
}

TEST(TableProposal, KnowsAStatusByItsName) {
    const auto made = of({{"status", text_oid}, {"published_at", timestamp_oid}});
    EXPECT_EQ(made.status_column, "status");
    EXPECT_EQ(made.pending, "status = 'pending'");
    EXPECT_EQ(made.on_published, "status = 'published', published_at = now()");
    EXPECT_EQ(made.republish_value, "pending");
}

TEST(TableProposal, KnowsAFlagByNameAndType) {
    const auto made = of({{"sent", boolean_oid}});
    EXPECT_EQ(made.pending, "NOT sent");
    EXPECT_EQ(made.on_published, "sent = true");
    EXPECT_EQ(made.republish_value, "f");
    EXPECT_EQ(of({{"sent", text_oid}}).status_column, "");
    EXPECT_EQ(of({{"sent", 99999}}, {{99999, boolean_oid}}).status_column, "sent");
}

TEST(TableProposal, TakesATimeWhereThereIsNothingElse) {
    const auto made = of({{"processed_at", timestamp_oid}});
    EXPECT_EQ(made.pending, "processed_at IS NULL");
    EXPECT_EQ(made.on_published, "processed_at = now()");
    EXPECT_EQ(made.republish_value, "");
    EXPECT_TRUE(made.republishes_null);
}

TEST(TableProposal, KnowsNamesInEveryCase) {
    const auto made = of(
        {{"Id", text_oid}, {"AggregateType", text_oid}, {"Type", text_oid}, {"Content", text_oid}});
    EXPECT_EQ(*made.column_of(column_role::id), "Id");
    EXPECT_EQ(*made.column_of(column_role::aggregate_type), "AggregateType");
    EXPECT_EQ(*made.column_of(column_role::event_type), "Type");
    EXPECT_EQ(*made.column_of(column_role::payload), "Content");
    EXPECT_EQ(made.subject, "events.{aggregate_type}.{event_type}");
    EXPECT_EQ(of({{"ProcessedOnUtc", timestamp_oid}}).pending, "\"ProcessedOnUtc\" IS NULL");
}

TEST(TableProposal, TakesACounterForNoVersion) {
    const auto made = of({{"id", text_oid}, {"version", int4_oid}});
    EXPECT_EQ(made.column_of(column_role::version), nullptr);
    EXPECT_EQ(made.roles.back(), std::pair(column_role::version, std::string()));
    EXPECT_EQ(
        *of({{"aggregate_id", text_oid}, {"version", int4_oid}}).column_of(column_role::version),
        "version");
}

TEST(TableProposal, TakesATypeBesideThatOfThePayloadForTheAggregates) {
    const auto made = of({{"type", text_oid}, {"payload_type", text_oid}});
    EXPECT_EQ(*made.column_of(column_role::aggregate_type), "type");
    EXPECT_EQ(*made.column_of(column_role::event_type), "payload_type");
}

TEST(TableProposal, TakesAnEventOfTextForItsNameAndOneOfJsonForItsPayload) {
    EXPECT_EQ(*of({{"event", text_oid}}).column_of(column_role::event_type), "event");
    EXPECT_EQ(of({{"event", text_oid}}).column_of(column_role::payload), nullptr);
    EXPECT_EQ(*of({{"event", jsonb_oid}}).column_of(column_role::payload), "event");
}

TEST(TableProposal, LeavesALargeObjectWhereItIs) {
    constexpr type_oid large_object = 26;
    EXPECT_EQ(of({{"payload", large_object}}).column_of(column_role::payload), nullptr);
}

TEST(TableProposal, SendsBytesAsTheyAre) {
    EXPECT_EQ(of({{"body", bytea_oid}}).body, body_format::payload);
    EXPECT_EQ(of({{"body", text_oid}}).body, body_format::event);
}

TEST(TableProposal, ReadsTheValuesOfAStatusFromTheCatalog) {
    const auto with = [](column_hint hint, type_oid type) {
        hint.name = "status";
        return propose({{"public", "outbox"}, {{"status", type}}, {}, {std::move(hint)}, {}});
    };
    const auto labels =
        with({"", false, "'NEW'::outbox_status", {"NEW", "SENT", "FAILED"}, {}}, 99999);
    EXPECT_EQ(labels.pending, "status = 'NEW'");
    EXPECT_EQ(labels.on_published, "status = 'SENT'");
    EXPECT_EQ(labels.republish_value, "NEW");
    EXPECT_TRUE(labels.knows_values);
    const auto checked = with({"",
                               false,
                               "",
                               {},
                               {"CHECK (((status)::text = ANY ((ARRAY['unsent'::character varying, "
                                "'done'::character varying])::text[])))"}},
                              text_oid);
    EXPECT_EQ(checked.pending, "status = 'unsent'");
    EXPECT_EQ(checked.on_published, "status = 'done'");
    const auto number = with({"", false, "1", {}, {}}, int4_oid);
    EXPECT_EQ(number.pending, "status = 1");
    EXPECT_EQ(number.on_published, "");
    EXPECT_FALSE(number.knows_values);
}

TEST(TableProposal, TakesNoTimeThatEveryRowHas) {
    EXPECT_EQ(propose({{"public", "outbox"},
                       {{"SentTime", timestamp_oid}},
                       {},
                       {{"SentTime", false, "", {}, {}}},
                       {}})
                  .status_column,
              "");
}

TEST(TableProposal, SaysWhichColumnOfTheSubjectCanBeNull) {
    const auto made = propose(
        {{"public", "outbox"}, {{"stream", text_oid}}, {}, {{"stream", true, "", {}, {}}}, {}});
    EXPECT_EQ(made.nullable, std::vector<std::string>{"stream"});
    EXPECT_EQ(made.subject, "events.{event_type|'none'}");
}

TEST(TableProposal, TellsAnOutboxFromOtherTables) {
    const auto looks = [](const std::string& name, const std::vector<column>& columns) {
        const table_name table{"public", name};
        return looks_like_outbox(table, propose({table, columns, {}, {}, {}}));
    };
    const std::vector<column> few{{"id", text_oid}, {"payload", jsonb_oid}};
    EXPECT_TRUE(looks("Outbox", few));
    EXPECT_TRUE(looks("orders_OutboxMessages", few));
    EXPECT_TRUE(looks("domain_event_entry", few));
    EXPECT_FALSE(looks("customers", few));
    EXPECT_FALSE(looks("customers", {{"id", text_oid}, {"name", text_oid}, {"data", jsonb_oid}}));
    EXPECT_TRUE(
        looks("orders", {{"id", text_oid}, {"aggregate_id", text_oid}, {"body", jsonb_oid}}));
    EXPECT_FALSE(looks("outbox", {{"id", text_oid}}));
    EXPECT_FALSE(looks("outbox", {{"payload", jsonb_oid}}));
}

TEST(TableProposal, ObeysWhatIsConfigured) {
    outbox_columns configured;
    configured.payload = "blob";
    const auto made = propose(
        {{"public", "outbox"}, {{"payload", text_oid}, {"blob", text_oid}}, {}, {}, configured});
    EXPECT_EQ(*made.column_of(column_role::payload), "blob");
}

TEST(TableProposal, ProposesNothingWhereNoColumnSaysIt) {
    const auto made = of({{"id", text_oid}});
    EXPECT_EQ(made.status_column + made.pending + made.on_published + made.republish_value, "");
}

}  // namespace
}  // namespace walrelay::outbox
