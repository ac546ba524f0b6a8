#include "preflight/write_backs.hpp"

#include "core/finding.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace walrelay::preflight {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

table_facts facts_with(const std::vector<std::string>& columns) {
    table_facts facts;
    facts.table = {"public", "outbox"};
    facts.exists = true;
    for (const auto& name : columns) {
        facts.columns.push_back({name, 25});
    }
    return facts;
}

std::vector<finding> write_back_findings(const outbox_table& wanted, const table_facts& facts) {
    findings_list found;
    postgres_facts all;
    all.role = "relay";
    look_at_write_backs(wanted, facts, all, found);
    return found.take();
}

std::vector<finding> republish_findings(const outbox_table& wanted, const table_facts& facts,
                                        output_plugin plugin) {
    postgres_facts all;
    all.role = "relay";
    all.tables = {facts};
    findings_list found;
    look_at_republish({wanted}, all, plugin, found);
    return found.take();
}

outbox_table republished() {
    outbox_table wanted{.table = {"public", "outbox"}};
    wanted.republish = republish_rule{"status", "pending"};
    return wanted;
}

TEST(WriteBackPreflight, FindsNothingWhereNothingIsWrittenBack) {
    EXPECT_THAT(write_back_findings({.table = {"public", "outbox"}}, facts_with({})), IsEmpty());
}

TEST(WriteBackPreflight, FindsATableWithoutItsId) {
    outbox_table wanted{.table = {"public", "outbox"}};
    wanted.on_published = "status = 'sent'";
    const auto found = write_back_findings(wanted, facts_with({"status"}));
    ASSERT_THAT(found, SizeIs(1));
    EXPECT_THAT(found[0].what, HasSubstr("has no column id"));
    wanted.columns.id = "key";
    EXPECT_THAT(write_back_findings(wanted, facts_with({"key"})), IsEmpty());
}

TEST(WriteBackPreflight, GrantsTheRightThatIsMissing) {
    auto facts = facts_with({"id"});
    facts.refused = {{"outbox.on_published", "UPDATE x", "permission denied", "SELECT, UPDATE"}};
    const auto found = write_back_findings({.table = {"public", "outbox"}}, facts);
    ASSERT_THAT(found, SizeIs(1));
    EXPECT_EQ(found[0].remedy, R"(GRANT SELECT, UPDATE ON "public"."outbox" TO "relay";)");
}

TEST(WriteBackPreflight, ShowsTheStatementThatIsRefused) {
    auto facts = facts_with({"id"});
    facts.refused = {{"outbox.on_published", "UPDATE x SET y", "no column y", ""}};
    const auto found = write_back_findings({.table = {"public", "outbox"}}, facts);
    ASSERT_THAT(found, SizeIs(1));
    EXPECT_THAT(found[0].what, HasSubstr("UPDATE x SET y"));
    EXPECT_THAT(found[0].what, HasSubstr("no column y"));
}

TEST(WriteBackPreflight, SaysWhichSchemasAreNotSearched) {
    auto facts = facts_with({"id"});
    facts.refused = {{"outbox.on_published", "UPDATE x SET y", "no type state", ""}};
    postgres_facts all;
    all.open_schemas = {"public"};
    findings_list found;
    look_at_write_backs({.table = {"public", "outbox"}}, facts, all, found);
    EXPECT_THAT(found.take().at(0).remedy, HasSubstr("REVOKE CREATE ON SCHEMA \"public\""));
}

TEST(RepublishPreflight, FindsNothingWhereAllIsThere) {
    const auto facts = facts_with({"id", "status"});
    EXPECT_THAT(republish_findings(republished(), facts, output_plugin::pgoutput), IsEmpty());
    EXPECT_THAT(republish_findings(republished(), facts, output_plugin::wal2json), IsEmpty());
}

TEST(RepublishPreflight, FindsAColumnThatIsMissing) {
    const auto found =
        republish_findings(republished(), facts_with({"id"}), output_plugin::pgoutput);
    ASSERT_THAT(found, SizeIs(1));
    EXPECT_THAT(found[0].what, HasSubstr("has no column status"));
}

TEST(RepublishPreflight, FindsATableWhoseUpdatesCannotBePublished) {
    auto facts = facts_with({"id", "status"});
    facts.identified = false;
    for (const auto plugin : {output_plugin::pgoutput, output_plugin::wal2json}) {
        const auto found = republish_findings(republished(), facts, plugin);
        ASSERT_THAT(found, SizeIs(1));
        EXPECT_EQ(found[0].remedy, R"(ALTER TABLE "public"."outbox" REPLICA IDENTITY FULL;)");
    }
}

TEST(RepublishPreflight, NeedsToReadTheTable) {
    auto facts = facts_with({"id", "status"});
    facts.readable = false;
    const auto found = republish_findings(republished(), facts, output_plugin::wal2json);
    ASSERT_THAT(found, SizeIs(1));
    EXPECT_EQ(found[0].remedy, R"(GRANT SELECT ON "public"."outbox" TO "relay";)");
}

}  // namespace
}  // namespace walrelay::preflight
