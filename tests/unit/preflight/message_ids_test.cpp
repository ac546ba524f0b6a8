#include "preflight/message_ids.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace walrelay::preflight {
namespace {

using testing::HasSubstr;

constexpr type_oid int8 = 20;
constexpr type_oid text = 25;
constexpr type_oid uuid = 2950;

class PreflightMessageIds : public testing::Test {
protected:
    void add(const std::string& name, type_oid id, const std::string& message_id = "{id}") {
        outbox_table outbox;
        outbox.table = {"public", name};
        outbox.message_id = message_id;
        wanted_.tables.push_back(outbox);
        table_facts table;
        table.table = outbox.table;
        table.exists = true;
        table.columns = {{"id", id}};
        for (const auto* each : {"aggregate_id", "aggregate_type", "event_type", "event_data"}) {
            table.columns.push_back({each, text});
        }
        facts_.tables.push_back(table);
    }
    std::vector<finding> look() {
        findings_list found;
        look_at_message_ids(wanted_, facts_, found);
        return found.take();
    }

    expectations wanted_;
    postgres_facts facts_;
};

TEST_F(PreflightMessageIds, OfTwoTablesThatCountCanBeEqual) {
    add("orders", int8);
    add("payments", int8);
    const auto found = look();
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].severity, finding_severity::warning);
    EXPECT_THAT(found[0].what, HasSubstr("public.orders and public.payments"));
    EXPECT_THAT(found[0].remedy, HasSubstr("\"payments-{id}\""));
}

TEST_F(PreflightMessageIds, AreToldApartByTheirTemplates) {
    add("orders", int8, "orders-{id}");
    add("payments", int8, "payments-{id}");
    EXPECT_TRUE(look().empty());
}

TEST_F(PreflightMessageIds, OfOtherTypesAreNotCounted) {
    add("orders", uuid);
    add("payments", uuid);
    add("letters", text);
    EXPECT_TRUE(look().empty());
}

TEST_F(PreflightMessageIds, OfATableThatIsNotThereAreNotJudged) {
    add("orders", int8);
    add("payments", int8);
    facts_.tables[1].exists = false;
    EXPECT_TRUE(look().empty());
}

}  // namespace
}  // namespace walrelay::preflight
