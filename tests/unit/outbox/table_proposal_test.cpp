// What an entry could say for a table.
#include "outbox/table_proposal.hpp"

#include <gtest/gtest.h>

namespace walrelay::outbox {
namespace {

// Oids of PostgreSQL, pg_type.dat.
constexpr type_oid boolean_oid = 16;
constexpr type_oid text_oid = 25;
constexpr type_oid timestamp_oid = 1114;

table_proposal of(const std::vector<column>& columns, const domain_types& domains = {}) {
    return propose({"public", "outbox"}, columns, domains);
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
}

TEST(TableProposal, ProposesNothingWhereNoColumnSaysIt) {
    const auto made = of({{"id", text_oid}});
    EXPECT_EQ(made.status_column + made.pending + made.on_published + made.republish_value, "");
}

}  // namespace
}  // namespace walrelay::outbox
