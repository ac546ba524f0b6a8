#include "preflight/values.hpp"

#include "unit/preflight/sound_facts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace walrelay::preflight {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class PreflightValues : public testing::Test {
protected:
    PreflightValues() : all_(sound_facts()) { wanted_.table = {"public", "outbox"}; }

    table_facts& table() { return all_.tables.front(); }
    std::vector<finding> look() {
        findings_list found;
        look_at_nulls(wanted_, table(), all_, found);
        look_at_comparing(wanted_, table(), all_, found);
        look_at_index(wanted_, table(), found);
        look_at_republished_value(wanted_, table(), all_, found);
        return found.take();
    }

    outbox_table wanted_;
    postgres_facts all_;
};

TEST_F(PreflightValues, FindNothingInASoundTable) {
    EXPECT_THAT(look(), IsEmpty());
}

TEST_F(PreflightValues, ThatASubjectNeedsCanBeNull) {
    table().nullable = {"event_type", "event_data"};
    const auto found = look();
    ASSERT_THAT(found, SizeIs(1));
    EXPECT_EQ(found[0].code.text(), "subject_can_be_null");
    EXPECT_EQ(found[0].severity, finding_severity::note);
    EXPECT_THAT(found[0].what, HasSubstr("event_type can be NULL"));
    EXPECT_THAT(found[0].remedy, HasSubstr("{column|'none'}"));
    wanted_.subject = "events.{event_type|'none'}";
    EXPECT_THAT(look(), IsEmpty());
    wanted_.subject = "events.{event_type|aggregate_type}";
    EXPECT_THAT(look(), IsEmpty());
    wanted_.subject = "events.{event_type|event_data}";
    EXPECT_THAT(look().front().what, HasSubstr("event_type and event_data can be NULL"));
}

TEST_F(PreflightValues, NameTheRightsOfVerifyAndTheStartupCheck) {
    table().columns.push_back({"created_at", 1184});
    table().unreadable = {"id", "event_data", "created_at"};
    table().reachable = false;
    const auto found = look();
    ASSERT_THAT(found, SizeIs(1));
    EXPECT_EQ(found[0].code.text(), "table_not_readable");
    EXPECT_THAT(found[0].what, HasSubstr("verify"));
    EXPECT_EQ(found[0].remedy,
              "GRANT USAGE ON SCHEMA \"public\" TO \"relay\"; GRANT SELECT (\"id\", "
              "\"created_at\") ON \"public\".\"outbox\" TO \"relay\";");
    table().unreadable = {"event_data"};
    table().reachable = true;
    EXPECT_THAT(look(), IsEmpty());
    // As where each column was granted alone.
    table().unreadable = {"xmin"};
    EXPECT_EQ(look().front().remedy,
              "GRANT SELECT (\"xmin\") ON \"public\".\"outbox\" TO \"relay\";");
}

TEST_F(PreflightValues, OfAnIdWithoutIndexAreSlowToFind) {
    table().unindexed = {"id"};
    EXPECT_THAT(look(), IsEmpty()) << "nothing looks for rows";
    wanted_.on_published = "event_type = 'sent'";
    const auto found = look();
    ASSERT_THAT(found, SizeIs(1));
    EXPECT_EQ(found[0].code.text(), "id_not_indexed");
    EXPECT_THAT(found[0].remedy, HasSubstr("CREATE UNIQUE INDEX CONCURRENTLY ON "));
    wanted_.columns.id = "aggregate_type";
    EXPECT_THAT(look(), IsEmpty());
    wanted_.columns.id.reset();
    wanted_.on_published.clear();
    wanted_.delete_after = std::chrono::hours(1);
    EXPECT_THAT(look(), SizeIs(1));
}

TEST_F(PreflightValues, OfRepublishThatNoRowCanHave) {
    table().columns.insert(table().columns.end(), {{"sent_at", 1184}, {"sent", 16}, {"n", 23}});
    const auto fires = [&](const std::string& column, const std::string& value) {
        wanted_.republish = republish_rule{column, value};
        const auto found = look();
        return found.empty() || found[0].code.text() != std::string("republish_never_fires");
    };
    EXPECT_FALSE(fires("sent_at", "NULL"));
    EXPECT_FALSE(fires("sent_at", ""));
    EXPECT_FALSE(fires("sent", "false"));
    EXPECT_FALSE(fires("n", "pending"));
    EXPECT_TRUE(fires("sent", "f"));
    EXPECT_TRUE(fires("n", "-1"));
    EXPECT_TRUE(fires("sent_at", "infinity"));
    EXPECT_TRUE(fires("event_type", "NULL")) << "a text can be anything";
    wanted_.republish = republish_rule{"sent_at", std::nullopt};
    EXPECT_THAT(look(), IsEmpty());
    wanted_.republish = republish_rule{"sent_at", "NULL"};
    EXPECT_THAT(look().front().remedy, HasSubstr("{ column = \"sent_at\", is = \"null\" }"));
}

}  // namespace
}  // namespace walrelay::preflight
