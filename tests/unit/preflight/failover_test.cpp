// What the preflight says of failover slots, and of tables that hang on an outbox table.
#include "preflight/descendants.hpp"
#include "preflight/preflight.hpp"
#include "preflight/synced_slot.hpp"
#include "unit/preflight/sound_facts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace walrelay::preflight {
namespace {

using testing::AllOf;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

expectations wanted(std::optional<bool> failover = {}) {
    return {.slot = "walrelay",
            .publication = "walrelay",
            .plugin = {},
            .stream = "OUTBOX",
            .tables = {{.table = {"public", "outbox"}}},
            .failover = failover};
}

/// With a failover slot.
postgres_facts good() {
    auto facts = sound_facts();
    facts.version_number = 170011;
    facts.slot->failover = true;
    return facts;
}

auto is(finding_severity severity, const std::string& part) {
    return AllOf(Field(&finding::severity, severity), Field(&finding::what, HasSubstr(part)));
}

std::vector<finding> found(const postgres_facts& facts, const expectations& asked = wanted()) {
    return postgres_findings(asked, facts, {});
}

TEST(FailoverPreflight, AutoMakesAFailoverSlotWhereTheServerCan) {
    auto facts = good();
    EXPECT_TRUE(choose_failover(wanted(), facts));
    EXPECT_FALSE(choose_failover(wanted(false), facts));
    EXPECT_THAT(found(facts), IsEmpty());
    facts.in_recovery = true;
    EXPECT_FALSE(choose_failover(wanted(), facts));
    facts = good();
    facts.version_number = 160000;
    EXPECT_FALSE(choose_failover(wanted(true), facts));
}

TEST(FailoverPreflight, TrueIsAnErrorBeforeSeventeen) {
    auto facts = good();
    facts.version_number = 160000;
    facts.slot->failover = false;
    ASSERT_THAT(found(facts, wanted(true)), SizeIs(1));
    EXPECT_THAT(found(facts, wanted(true))[0], is(finding_severity::error, "needs PostgreSQL 17"));
    EXPECT_THAT(found(facts), IsEmpty());
}

TEST(FailoverPreflight, NamesTheCommandForASlotThatDiffers) {
    auto facts = good();
    facts.slot->failover = false;
    ASSERT_THAT(found(facts), SizeIs(1));
    EXPECT_THAT(found(facts)[0], is(finding_severity::warning, "is no failover slot"));
    EXPECT_THAT(found(facts)[0].remedy,
                HasSubstr("ALTER_REPLICATION_SLOT \"walrelay\" (FAILOVER true)"));
    EXPECT_THAT(found(facts, wanted(false)), IsEmpty());
}

TEST(FailoverPreflight, SaysThatACopyCannotBeStreamedFrom) {
    auto facts = good();
    facts.in_recovery = true;
    facts.slot->synced = true;
    ASSERT_THAT(found(facts), SizeIs(2));
    EXPECT_THAT(found(facts)[0], is(finding_severity::warning, "before the standby is promoted"));
}

/// What the catalog says counts: the words of the server can be of any language.
TEST(FailoverPreflight, WaitsForThePromotionOfAStandbyThatKeepsACopy) {
    auto facts = good();
    facts.in_recovery = true;
    facts.slot->synced = true;
    const auto waits = kept_for_promotion("walrelay", facts);
    ASSERT_TRUE(waits);
    EXPECT_EQ(advice_for(waits->code), advice::retry) << "no halt";
    EXPECT_THAT(waits->what, HasSubstr("slot walrelay is a copy"));
    facts.in_recovery = false;
    EXPECT_FALSE(kept_for_promotion("walrelay", facts)) << "it is promoted";
    facts.in_recovery = true;
    facts.slot->synced = false;
    EXPECT_FALSE(kept_for_promotion("walrelay", facts)) << "a slot of the standby's own";
    facts.slot.reset();
    EXPECT_FALSE(kept_for_promotion("walrelay", facts));
}

TEST(FailoverPreflight, SaysWhichStandbyHoldsDelivery) {
    auto facts = good();
    facts.standby_slots = {{"first", true, true}, {"second", true, false}, {"third", false, false}};
    const auto all = found(facts);
    ASSERT_THAT(all, SizeIs(2));
    EXPECT_THAT(all[0], is(finding_severity::warning, "slot second, to which no standby"));
    EXPECT_THAT(all[1], is(finding_severity::warning, "slot third, which does not exist"));
    facts.slot->failover = false;
    EXPECT_THAT(found(facts, wanted(false)), IsEmpty());
}

TEST(DescendantsPreflight, EveryChildMustBeConfigured) {
    auto facts = good();
    facts.tables[0].children = {{"public", "a"}, {"public", "b"}};
    const auto all = found(facts);
    ASSERT_THAT(all, SizeIs(1));
    EXPECT_THAT(all[0], is(finding_severity::error, "public.a, public.b, which inherit from"));
}

TEST(DescendantsPreflight, NamesAChildInTheRemedyAsSqlTakesIt) {
    auto facts = good();
    facts.tables[0].children = {{"public", "Odd\" Child; DROP"}};
    const auto all = found(facts);
    ASSERT_THAT(all, SizeIs(1));
    EXPECT_THAT(all[0].remedy, HasSubstr(R"(table = '"public"."Odd"" Child; DROP"')"));
    EXPECT_THAT(all[0].remedy, HasSubstr(R"(ALTER TABLE "public"."Odd"" Child; DROP" NO INHERIT )"
                                         R"("public"."outbox";)"));
}

}  // namespace
}  // namespace walrelay::preflight
