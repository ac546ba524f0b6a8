#include "postgres/catalog/provisioner.hpp"

#include "postgres/catalog/inspector.hpp"
#include "postgres_fixture.hpp"

#include <gmock/gmock.h>

namespace walrelay::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class Provisioner : public postgres_fixture {
protected:
    postgres::connection connect_as(const std::string& role) {
        auto wanted = options(postgres::connection_kind::sql);
        wanted.conninfo += " user=" + role;
        auto sql = run(postgres::connection::open(context_.get_executor(), wanted));
        return std::move(*sql);
    }
};

TEST_F(Provisioner, CreatesAPublicationOfOddTables) {
    writer_->execute("CREATE TABLE \"Qu\"\"ote\" (id int)");
    auto sql = connect();
    const auto made = run(postgres::create_publication(
        sql, "the \"one\"", {{"public", "events"}, {"public", "Qu\"ote"}}));
    ASSERT_TRUE(made.has_value()) << to_string(made.error());
    const auto facts = run(postgres::inspect(sql, {slot_, "the \"one\"", {}}));
    ASSERT_TRUE(facts->publication.has_value());
    EXPECT_TRUE(facts->publication->publishes_inserts);
    EXPECT_TRUE(facts->publication->via_partition_root);
    EXPECT_THAT(facts->publication->tables,
                ElementsAre(table_name{"public", "Qu\"ote"}, table_name{"public", "events"}));
}

TEST_F(Provisioner, CreatesASlotAndSaysWhereItBegins) {
    auto sql = connect();
    for (const auto plugin : {output_plugin::pgoutput, output_plugin::wal2json}) {
        const auto name = slot_ + to_string(plugin);
        const auto begin = run(postgres::create_slot(sql, name, plugin));
        ASSERT_TRUE(begin.has_value()) << to_string(begin.error());
        const auto facts = run(postgres::inspect(sql, {name, publication_, {}}));
        EXPECT_EQ(facts->slot->confirmed, *begin);
        EXPECT_EQ(facts->slot->plugin, to_string(plugin));
    }
}

TEST_F(Provisioner, TakesASlotMadeMeanwhileForAReasonToLookAgain) {
    auto sql = connect();
    ASSERT_TRUE(run(postgres::create_slot(sql, slot_, output_plugin::pgoutput)).has_value());
    const auto again = run(postgres::create_slot(sql, slot_, output_plugin::pgoutput));
    ASSERT_TRUE(again.has_error());
    EXPECT_EQ(again.error().code, errc::postgres_lost);
    EXPECT_THAT(again.error().what, HasSubstr("the slot " + slot_ + " was created by somebody"));
}

TEST_F(Provisioner, TakesAPublicationMadeMeanwhileForAReasonToLookAgain) {
    auto sql = connect();
    ASSERT_TRUE(run(postgres::create_publication(sql, "p", {{"public", "events"}})).has_value());
    const auto again = run(postgres::create_publication(sql, "p", {{"public", "events"}}));
    ASSERT_TRUE(again.has_error());
    EXPECT_EQ(again.error().code, errc::postgres_lost);
    EXPECT_THAT(again.error().what, HasSubstr("the publication p was created by somebody"));
}

TEST_F(Provisioner, SaysThatTheTableIsMissing) {
    auto sql = connect();
    const auto made = run(postgres::create_publication(sql, "p", {{"public", "missing"}}));
    ASSERT_TRUE(made.has_error());
    EXPECT_EQ(made.error().code, errc::postgres_unsuitable);
    EXPECT_THAT(made.error().server_said, HasSubstr("missing"));
}

TEST_F(Provisioner, SaysWhichRightsAreMissing) {
    writer_->execute("DROP ROLE IF EXISTS powerless; CREATE ROLE powerless LOGIN");
    auto sql = connect_as("powerless");
    const auto slot = run(postgres::create_slot(sql, slot_, output_plugin::pgoutput));
    ASSERT_TRUE(slot.has_error());
    EXPECT_TRUE(slot.error().remedy.starts_with("ALTER ROLE \"powerless\" REPLICATION;"));
    const auto publication = run(postgres::create_publication(sql, "p", {{"public", "events"}}));
    ASSERT_TRUE(publication.has_error());
    EXPECT_THAT(publication.error().remedy,
                HasSubstr("GRANT CREATE ON DATABASE \"" + database_ + "\" TO \"powerless\""));
}

TEST_F(Provisioner, SaysThatAllSlotsAreTaken) {
    use_own_server({.settings = {"max_replication_slots = 1"}});
    auto sql = connect();
    ASSERT_TRUE(run(postgres::create_slot(sql, "first", output_plugin::pgoutput)).has_value());
    const auto second = run(postgres::create_slot(sql, "second", output_plugin::pgoutput));
    ASSERT_TRUE(second.has_error());
    EXPECT_THAT(second.error().remedy, HasSubstr("max_replication_slots"));
}

TEST_F(Provisioner, SaysThatWalLevelIsTooLow) {
    use_own_server({.settings = {"wal_level = replica"}});
    auto sql = connect();
    const auto slot = run(postgres::create_slot(sql, slot_, output_plugin::pgoutput));
    ASSERT_TRUE(slot.has_error());
    EXPECT_EQ(slot.error().code, errc::postgres_unsuitable);
    EXPECT_THAT(slot.error().remedy, HasSubstr("ALTER SYSTEM SET wal_level = logical"));
}

}  // namespace
}  // namespace walrelay::test
