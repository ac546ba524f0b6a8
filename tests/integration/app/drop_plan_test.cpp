// What walrelay drop takes for its own, and what it leaves.
#include "tasks/drop/drop_plan.hpp"

#include "core/control.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <string>

namespace walrelay::tasks {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr std::uint64_t this_server = 7713434131630205156U;
constexpr std::uint64_t other_server = 7713434131630205157U;

class DropPlan : public testing::Test {
protected:
    drop_item planned(drop_kind kind) {
        const auto items = plan_drop(wanted, seen);
        const auto found = std::ranges::find(items, kind, &drop_item::kind);
        return found == items.end() ? drop_item{} : *found;
    }
    void add_slot(const std::string& name) {
        seen.database.others.push_back({name, "pgoutput", "app"});
    }

    drop_wish wanted{"walrelay", "walrelay", {{"public", "events"}}, "OUTBOX", true, false};
    drop_sight seen = [] {
        drop_sight all;
        all.database.database = "app";
        all.database.role = "walrelay";
        postgres::removable_publication publication;
        publication.owned = true;
        publication.tables = {{"public", "events"}, control_table()};
        all.database.publication = publication;
        all.stream.emplace();
        all.stream->description =
            "walrelay slot=walrelay database=app system=" + std::to_string(this_server);
        all.system_identifier = this_server;
        return all;
    }();
};

TEST_F(DropPlan, DropsTheStreamOfThisServer) {
    EXPECT_EQ(planned(drop_kind::stream).fate, drop_fate::drop);
}

TEST_F(DropPlan, LeavesTheStreamOfAnotherServer) {
    seen.system_identifier = other_server;
    const auto item = planned(drop_kind::stream);
    EXPECT_EQ(item.fate, drop_fate::leave);
    EXPECT_TRUE(item.is_trouble);
    EXPECT_THAT(item.about,
                AllOf(HasSubstr("on another server"), HasSubstr(std::to_string(this_server)),
                      HasSubstr(std::to_string(other_server)),
                      HasSubstr("a relay there may still write into it")));
    EXPECT_THAT(item.remedy, HasSubstr("nats stream rm OUTBOX"));
}

TEST_F(DropPlan, LeavesAStreamWhereThisServerIsNotKnown) {
    seen.system_identifier = 0;
    const auto item = planned(drop_kind::stream);
    EXPECT_EQ(item.fate, drop_fate::leave);
    EXPECT_THAT(item.about, HasSubstr("pg_control_system()"));
}

TEST_F(DropPlan, TakesTheServerOfTheLastMessageWhereTheMarkNamesNone) {
    seen.stream->description = "walrelay slot=walrelay database=app system=0";
    EXPECT_EQ(planned(drop_kind::stream).fate, drop_fate::drop);
    seen.stream->final_position = position{{this_server, 1}, {}};
    EXPECT_EQ(planned(drop_kind::stream).fate, drop_fate::drop);
    seen.stream->final_position = position{{other_server, 1}, {}};
    const auto item = planned(drop_kind::stream);
    EXPECT_EQ(item.fate, drop_fate::leave);
    EXPECT_THAT(item.about, HasSubstr("its last message was written by a relay of another server"));
}

TEST_F(DropPlan, DropsThePublicationOfTheConfiguredTables) {
    add_slot("walrelay_switch");
    add_slot("walrelay_rewind");
    add_slot("walrelay_at_before");
    kept_position kept;
    kept.slot = "walrelay_at_before";
    kept.is_ours = true;
    seen.kept.all.push_back(kept);
    EXPECT_EQ(planned(drop_kind::publication).fate, drop_fate::drop);
}

TEST_F(DropPlan, LeavesAPublicationThatAnotherSlotMayReadThrough) {
    for (const auto* const other : {"another", "walrelay_eu", "walrelay_at_mine"}) {
        seen.database.others.clear();
        add_slot(other);
        const auto item = planned(drop_kind::publication);
        EXPECT_EQ(item.fate, drop_fate::leave) << other;
        EXPECT_EQ(item.about, "slot " + std::string(other) + " may read through it");
    }
}

TEST_F(DropPlan, LeavesAPublicationThatWalrelayDoesNotMake) {
    const auto own = *seen.database.publication;
    seen.database.publication->for_all_tables = true;
    EXPECT_EQ(planned(drop_kind::publication).fate, drop_fate::leave);
    seen.database.publication = own;
    seen.database.publication->tables.push_back({"public", "others"});
    EXPECT_EQ(planned(drop_kind::publication).fate, drop_fate::leave);
    seen.database.publication = own;
    seen.database.publication->tables.clear();
    seen.database.publication->schemas = {"public", "sales"};
    const auto item = planned(drop_kind::publication);
    EXPECT_EQ(item.fate, drop_fate::leave);
    EXPECT_THAT(item.about, HasSubstr("it has all tables of schema public, sales"));
    EXPECT_THAT(item.remedy, HasSubstr("DROP PUBLICATION"));
}

}  // namespace
}  // namespace walrelay::tasks
