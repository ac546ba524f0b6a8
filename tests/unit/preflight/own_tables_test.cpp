#include "preflight/own_tables.hpp"

#include "core/finding.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace walrelay::preflight {
namespace {

using testing::AllOf;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr own_table_facts usable{true, true};
constexpr own_table_facts barred{true, false};

class OwnTables : public testing::Test {
protected:
    OwnTables() {
        facts_.role = "relay";
        set_all(usable);
        facts_.control_secret = "secret";
        facts_.tables.resize(1);
        publication_.tables = {{"public", "outbox"}, {"walrelay", "control"}};
    }
    void set_all(const own_table_facts& state) {
        facts_.dead_letters = facts_.halts = facts_.controls = facts_.witnesses = state;
        facts_.slot_starts = facts_.replays = facts_.partitions = state;
    }
    std::vector<finding> found(output_plugin plugin = output_plugin::wal2json) {
        findings_list found;
        facts_.publication = publication_;
        look_at_own_tables(wanted_, facts_, plugin, found);
        return found.take();
    }

    expectations wanted_{"walrelay", "walrelay", {}, "OUTBOX", {{.table = {"public", "outbox"}}}};
    postgres_facts facts_;
    publication_facts publication_;
};

TEST_F(OwnTables, FindsNothingWhereAllIsThere) {
    EXPECT_THAT(found(), IsEmpty());
    EXPECT_THAT(found(output_plugin::pgoutput), IsEmpty());
}

TEST_F(OwnTables, NamesTheSecretWithoutWhichRequestsAreLeftAlone) {
    facts_.control_secret.clear();
    auto all = found();
    ASSERT_THAT(all, SizeIs(1));
    EXPECT_EQ(all[0].code.text(), "control_key_unusable");
    EXPECT_EQ(all[0].severity, finding_severity::note);
    EXPECT_THAT(all[0].remedy, HasSubstr("GRANT SELECT ON walrelay.control_key TO \"relay\";"));
    wanted_.tables.front().republish = {.column = "status", .value = "pending"};
    wanted_.tables.front().on_published = "status = 'published'";
    all = found();
    ASSERT_THAT(all, SizeIs(1));
    EXPECT_EQ(all[0].severity, finding_severity::error) << "updates are published twice";
}

TEST_F(OwnTables, OfSomebodyElseAreNotUsed) {
    facts_.schema_flaws = {{"it belongs to x", "rename it", true}};
    set_all({});
    for (const auto& each : found()) {
        EXPECT_NE(each.severity, finding_severity::error) << each.what;
    }
}

TEST_F(OwnTables, FindsNothingWhereTheyCanBeMade) {
    set_all({});
    facts_.may_make_tables = true;
    EXPECT_THAT(found(), IsEmpty());
}

TEST_F(OwnTables, SaysWhyTheServerRefusesToMakeThem) {
    set_all({});
    facts_.making_refused = "DDL only through migrations";
    const auto all = found();
    ASSERT_THAT(all, SizeIs(5));
    for (const auto& each : all) {
        EXPECT_THAT(each.what, HasSubstr("(server: DDL only through migrations)"));
        EXPECT_THAT(each.remedy, HasSubstr("as a migration"));
    }
}

TEST_F(OwnTables, WarnsOfDeadLettersThatCannotBeKept) {
    facts_.dead_letters = barred;
    const auto all = found();
    ASSERT_THAT(all, SizeIs(1));
    EXPECT_EQ(all[0].severity, finding_severity::warning);
    EXPECT_THAT(all[0].remedy, HasSubstr("GRANT SELECT, INSERT, UPDATE, DELETE ON "
                                         "walrelay.dead_letter TO \"relay\";"));
    wanted_.dead_letters = false;
    EXPECT_THAT(found(), IsEmpty()) << "none is ever kept";
    facts_.halts = {};
    EXPECT_THAT(found().at(0).remedy, HasSubstr("sql/halt.sql"));
}

TEST_F(OwnTables, WarnsOfLossesThatCannotBeNoticed) {
    facts_.witnesses = barred;
    const auto all = found();
    ASSERT_THAT(all, SizeIs(1));
    EXPECT_EQ(all[0].severity, finding_severity::warning);
    EXPECT_THAT(all[0].remedy, HasSubstr("ON walrelay.witness TO \"relay\";"));
    facts_.in_recovery = true;
    EXPECT_EQ(found().at(0).severity, finding_severity::note);
}

TEST_F(OwnTables, WarnsOfRightsThatCommandsNeed) {
    facts_.slot_starts = facts_.replays = facts_.partitions = barred;
    const auto all = found();
    ASSERT_THAT(all, SizeIs(3));
    EXPECT_THAT(all[0].remedy,
                HasSubstr("GRANT SELECT, INSERT, UPDATE ON walrelay.slot_start TO \"relay\";"));
    EXPECT_THAT(all[1].remedy, HasSubstr("ON walrelay.replay TO \"relay\";"));
    EXPECT_THAT(all[2].remedy, HasSubstr("ON walrelay.partition TO \"relay\";"));
    facts_.replays = facts_.partitions = {};
    EXPECT_THAT(found(), SizeIs(1)) << "they are made by whoever needs them first";
}

TEST_F(OwnTables, StopsWhereSomebodyElseCouldActThroughThem) {
    facts_.schema_flaws = {{"it has a trigger", "DISABLE TRIGGER"}};
    EXPECT_THAT(found().at(0), AllOf(Field(&finding::severity, finding_severity::error),
                                     Field(&finding::remedy, "DISABLE TRIGGER")));
}

TEST_F(OwnTables, NotesThatRetriesReachNobody) {
    publication_.tables.pop_back();
    EXPECT_THAT(found(), IsEmpty()) << "wal2json needs no publication";
    const auto all = found(output_plugin::pgoutput);
    ASSERT_THAT(all, SizeIs(1));
    EXPECT_EQ(all[0].severity, finding_severity::note);
    EXPECT_EQ(all[0].remedy, R"(ALTER PUBLICATION "walrelay" ADD TABLE "walrelay"."control";)");
    publication_.for_all_tables = true;
    EXPECT_THAT(found(output_plugin::pgoutput), IsEmpty());
}

TEST_F(OwnTables, StopsWhereItsOwnUpdatesCouldNotBeToldFromOthers) {
    facts_.controls = barred;
    EXPECT_THAT(found(), IsEmpty()) << "another role may retry";
    wanted_.tables[0].on_published = "status = 'sent'";
    EXPECT_THAT(found(), IsEmpty());
    facts_.tables[0].partition_columns = {"created_at"};
    EXPECT_THAT(found(), IsEmpty()) << "no write-back moves a row";
    facts_.tables[0].partition_columns = {"created_at", "status"};
    EXPECT_EQ(found().at(0).severity, finding_severity::error);
    facts_.tables[0].partition_columns = {};
    wanted_.tables[0].republish = republish_rule{"status", "pending"};
    EXPECT_EQ(found().at(0).severity, finding_severity::error);
    facts_.controls = usable;
    publication_.tables.pop_back();
    EXPECT_EQ(found(output_plugin::pgoutput).at(0).severity, finding_severity::error);
}

}  // namespace
}  // namespace walrelay::preflight
