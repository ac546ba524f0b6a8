#include "preflight/columns.hpp"

#include "core/finding.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace walrelay::preflight {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr type_oid text = 25;

/// An outbox whose subject is a generated column.
class PreflightColumns : public testing::Test {
protected:
    PreflightColumns() {
        outbox_.table = {"public", "outbox"};
        outbox_.subject = "events.{topic}";
        all_.version_number = 150020;
        all_.wal2json = plugin_trouble::none;
        all_.publication.emplace();
        table_.table = outbox_.table;
        table_.exists = true;
        table_.columns = {{"id", text}, {"event_data", text}, {"topic", text}};
        table_.generated = {{"topic", true}};
    }

    std::vector<finding> look(output_plugin plugin) {
        const expectations wanted{"slot", "published", plugin, "OUTBOX", {outbox_}};
        findings_list found;
        look_at_columns(wanted, outbox_, table_, all_, found);
        return found.take();
    }
    std::vector<std::string> sent(output_plugin plugin) {
        std::vector<std::string> names;
        for (const auto& each : sent_columns(table_, all_, plugin)) {
            names.push_back(each.name);
        }
        return names;
    }

    outbox_table outbox_;
    table_facts table_;
    postgres_facts all_;
};

TEST_F(PreflightColumns, GeneratedOnesAreNotSentByAnOldPgoutput) {
    const auto found = look(output_plugin::pgoutput);
    ASSERT_THAT(found, SizeIs(1));
    EXPECT_EQ(found[0].severity, finding_severity::error);
    EXPECT_THAT(found[0].what, HasSubstr("sends no generated columns (topic)"));
    EXPECT_THAT(found[0].remedy, HasSubstr("postgres.plugin = \"wal2json\""));
    all_.wal2json = plugin_trouble::not_installed;
    EXPECT_THAT(look(output_plugin::pgoutput)[0].remedy,
                testing::StartsWith("name an ordinary column"));
}

TEST_F(PreflightColumns, StoredOnesAreSentByWal2json) {
    EXPECT_THAT(look(output_plugin::wal2json), IsEmpty());
    table_.generated[0].stored = false;
    EXPECT_THAT(look(output_plugin::wal2json)[0].what, HasSubstr("virtual generated columns"));
}

TEST_F(PreflightColumns, GeneratedOnesAreSentWhereAPublicationOf18HasThem) {
    all_.version_number = 180000;
    table_.published = {"id", "event_data"};
    EXPECT_THAT(look(output_plugin::pgoutput)[0].remedy,
                HasSubstr("SET (publish_generated_columns = stored)"));
    table_.published.emplace_back("topic");
    EXPECT_THAT(look(output_plugin::pgoutput), IsEmpty());
}

TEST_F(PreflightColumns, OnesThatNoMessageNeedsMayBeLeftOut) {
    outbox_.subject = "events.x";
    EXPECT_THAT(sent(output_plugin::pgoutput), ElementsAre("id", "event_data"));
    EXPECT_THAT(look(output_plugin::pgoutput), IsEmpty());
}

TEST_F(PreflightColumns, OnesThatTheTableDoesNotHaveAreNoFindingHere) {
    outbox_.subject = "events.{elsewhere}";
    EXPECT_THAT(look(output_plugin::pgoutput), IsEmpty());
}

TEST_F(PreflightColumns, AColumnListLeavesOutWhatItDoesNotName) {
    table_.generated.clear();
    table_.published = {"id", "event_data"};
    const auto found = look(output_plugin::pgoutput);
    ASSERT_THAT(found, SizeIs(1));
    EXPECT_THAT(found[0].what, HasSubstr("has a column list without topic"));
    EXPECT_THAT(found[0].remedy, AllOf(HasSubstr("BEGIN;"), HasSubstr("COMMIT;")));
}

}  // namespace
}  // namespace walrelay::preflight
