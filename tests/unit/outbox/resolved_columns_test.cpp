// Which column plays which role, and what is said where none does.
#include "outbox/resolved_columns.hpp"

#include "unit/outbox/sample_row.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace walrelay::outbox {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

resolved_columns resolve_for(const outbox_table& table, const std::vector<column>& columns) {
    return resolve(make_plan(table).value(), columns, {});
}

std::vector<column> usual_columns() {
    test::sample_row row;
    test::fill_usual(row);
    return row.columns();
}

TEST(ResolvedColumns, FindRolesByTheirDefaultNames) {
    const auto found = resolve_for(test::usual_table(), usual_columns());
    EXPECT_THAT(found.problems, IsEmpty());
    EXPECT_EQ(found.playing(column_role::id), (used_column{1, type_kind::number}));
    EXPECT_EQ(found.playing(column_role::payload), (used_column{4, type_kind::json}));
    EXPECT_EQ(found.playing(column_role::created_at), (used_column{8, type_kind::timestamp}));
    EXPECT_THAT(found.subject, ElementsAre(2U, 3U));
    EXPECT_THAT(found.message_id, ElementsAre(1U));
}

TEST(ResolvedColumns, GiveNoFormToATypeThatIsGone) {
    constexpr type_oid gone = 20000;
    auto columns = usual_columns();
    const auto problems = [&](const domain_types& domains, const made_types& made) {
        return resolve(make_plan(test::usual_table()).value(), columns, domains, made).problems;
    };
    const made_types nothing(std::vector<type_oid>{});
    columns.push_back({"unused", gone});
    EXPECT_THAT(problems({}, nothing), IsEmpty());
    columns[4].type = gone;
    EXPECT_THAT(problems({}, nothing).front(), testing::HasSubstr("(oid 20000) that is gone"));
    EXPECT_THAT(problems({{gone, test::type::jsonb}}, nothing), IsEmpty());
    EXPECT_THAT(problems({}, made_types(std::vector<type_oid>{gone})), IsEmpty());
    EXPECT_THAT(problems({}, std::nullopt), IsEmpty());
}

TEST(ResolvedColumns, TakeEventDataBeforePayload) {
    auto columns = usual_columns();
    columns.insert(columns.begin(), {"payload", test::type::text});
    EXPECT_EQ(resolve_for(test::usual_table(), columns).playing(column_role::payload),
              (used_column{5, type_kind::json}));
    columns.erase(columns.begin() + 5);
    EXPECT_EQ(resolve_for(test::usual_table(), columns).playing(column_role::payload),
              (used_column{0, type_kind::text}));
}

TEST(ResolvedColumns, LeaveARoleOpenWhoseDefaultColumnIsMissing) {
    const auto found = resolve_for(test::usual_table(), {{"id", test::type::int8},
                                                         {"aggregate_type", test::type::text},
                                                         {"event_type", test::type::text}});
    EXPECT_THAT(found.problems, IsEmpty());
    EXPECT_FALSE(found.playing(column_role::metadata));
    EXPECT_FALSE(found.playing(column_role::payload));
}

TEST(ResolvedColumns, PreferTheRoleToTheColumnOfItsName) {
    auto table = test::usual_table();
    table.columns.id = "key";
    table.message_id = "{id}.{key}.{status}";
    auto columns = usual_columns();
    columns.push_back({"key", test::type::uuid});
    EXPECT_THAT(resolve_for(table, columns).message_id, ElementsAre(9U, 9U, 5U));
}

TEST(ResolvedColumns, ComplainAboutAConfiguredColumnThatIsMissing) {
    auto table = test::usual_table();
    table.columns.metadata = "extra";
    EXPECT_THAT(resolve_for(table, usual_columns()).problems,
                ElementsAre("table public.outbox_events has no column \"extra\", which "
                            "columns.metadata names"));
}

TEST(ResolvedColumns, ComplainOnceAboutAMissingColumnThatATemplateUses) {
    auto table = test::usual_table();
    table.columns.event_type = "kind";
    auto columns = usual_columns();
    columns.erase(columns.begin() + 3);
    EXPECT_THAT(resolve_for(table, columns).problems,
                ElementsAre("table public.outbox_events has no column \"kind\", which "
                            "columns.event_type names"));
}

TEST(ResolvedColumns, ComplainAboutEachUnknownNameInATemplate) {
    auto table = test::usual_table();
    table.subject = "events.{tenant}";
    table.message_id = "{id}-{kay}";
    table.headers = {{"Correlation-Id", "{correlation_id}"}};
    EXPECT_THAT(
        resolve_for(table, usual_columns()).problems,
        ElementsAre(
            "table public.outbox_events has no column for {tenant} in subject \"events.{tenant}\"",
            "table public.outbox_events has no column for {kay} in message_id \"{id}-{kay}\"",
            "table public.outbox_events has no column for {correlation_id} in header "
            "Correlation-Id \"{correlation_id}\""));
}

TEST(ResolvedColumns, ComplainAboutAnIdThatNoColumnPlays) {
    auto columns = usual_columns();
    columns.erase(columns.begin() + 1);
    EXPECT_THAT(
        resolve_for(test::usual_table(), columns).problems,
        ElementsAre("table public.outbox_events has no column for {id} in message_id \"{id}\""));
}

TEST(ResolvedColumns, ComplainAboutAMissingPayloadWhereTheBodyIsMadeOfIt) {
    auto columns = usual_columns();
    columns.erase(columns.begin() + 4);
    for (const auto body :
         {body_format::payload, body_format::cloudevents, body_format::protobuf}) {
        auto table = test::usual_table();
        table.body = body;
        EXPECT_THAT(resolve_for(table, columns).problems,
                    ElementsAre("table public.outbox_events has no column event_data or payload, "
                                "and columns.payload names no other for the body"));
    }
}

TEST(ResolvedColumns, SeeThroughDomains) {
    constexpr type_oid domain = 16500;
    auto columns = usual_columns();
    columns[4].type = domain;
    const auto found =
        resolve(make_plan(test::usual_table()).value(), columns, {{domain, test::type::jsonb}});
    EXPECT_EQ(found.playing(column_role::payload)->kind, type_kind::json);
}

}  // namespace
}  // namespace walrelay::outbox
