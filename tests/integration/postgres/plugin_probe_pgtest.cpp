// Whether wal2json may be used, found out in all the ways there are.
#include "postgres/catalog/plugin_probe.hpp"

#include "postgres/catalog/inspector.hpp"
#include "postgres/catalog/own_tables.hpp"
#include "postgres_fixture.hpp"
#include "support/eventually.hpp"

#include <algorithm>

namespace walrelay::test {
namespace {

using namespace std::chrono_literals;

class PluginProbe : public postgres_fixture {
protected:
    void allow(const std::string& list) {
        use_own_server();
        if (writer_->value_of("SELECT count(*) FROM pg_settings "
                              "WHERE name = 'output_plugin_libraries'") == "0") {
            GTEST_SKIP() << "this server has no output_plugin_libraries";
        }
        server().reconfigure("output_plugin_libraries = '" + list + "'");
        ASSERT_TRUE(eventually(
            10s, [&] { return writer_->value_of("SHOW output_plugin_libraries") == list; }));
        writer_->execute("CREATE ROLE relaying LOGIN REPLICATION");
    }
    bool allowed_for(const std::string& role) {
        auto wanted = options(postgres::connection_kind::sql);
        wanted.conninfo += " user=" + role;
        auto sql = run(postgres::connection::open(context_.get_executor(), wanted));
        const auto facts = run(postgres::inspect(*sql, {slot_, publication_, {}}));
        EXPECT_TRUE(facts.has_value());
        return facts->wal2json == plugin_trouble::none;
    }
    std::string slot_count() {
        return writer_->value_of("SELECT count(*) FROM pg_replication_slots");
    }
};

TEST_F(PluginProbe, SeesAListThatHasIt) {
    allow("pgoutput, wal2json");
    if (IsSkipped()) {
        return;
    }
    EXPECT_TRUE(allowed_for("postgres"));
}

TEST_F(PluginProbe, SeesAListThatLacksIt) {
    allow("pgoutput");
    if (IsSkipped()) {
        return;
    }
    EXPECT_FALSE(allowed_for("postgres"));
}

TEST_F(PluginProbe, TriesWhereTheRoleMayNotSeeTheList) {
    allow("pgoutput");
    if (IsSkipped()) {
        return;
    }
    EXPECT_FALSE(allowed_for("relaying"));
    EXPECT_EQ(slot_count(), "0");
}

TEST_F(PluginProbe, LeavesNoSlotWhereTheTrySucceeds) {
    allow("wal2json");
    if (IsSkipped()) {
        return;
    }
    auto sql = connect();
    EXPECT_EQ(run(postgres::inspect(sql, {slot_, publication_, {}}))->wal2json,
              plugin_trouble::none);
    EXPECT_EQ(slot_count(), "0");
    EXPECT_TRUE(allowed_for("relaying"));
}

TEST_F(PluginProbe, DoesNotWaitForTransactionsThatRun) {
    allow("wal2json");
    if (IsSkipped()) {
        return;
    }
    writer_->execute("BEGIN; INSERT INTO events VALUES (1, 'open')");
    EXPECT_TRUE(allowed_for("relaying"));
    EXPECT_EQ(slot_count(), "0");
}

TEST_F(PluginProbe, TriesTheSlotThatIsThere) {
    allow("pgoutput, wal2json");
    if (IsSkipped()) {
        return;
    }
    (void)make_slot(output_plugin::wal2json);
    EXPECT_TRUE(allowed_for("relaying"));
    server().reconfigure("output_plugin_libraries = 'pgoutput'");
    ASSERT_TRUE(eventually(
        10s, [&] { return writer_->value_of("SHOW output_plugin_libraries") == "pgoutput"; }));
    EXPECT_FALSE(allowed_for("relaying"));
}

/// The versions of wal2json tell themselves apart by a row alone; what a row of this server's has
/// is asked of it directly.
class PluginAge : public PluginProbe {
protected:
    void SetUp() override {
        use_own_server();
        if (writer_->value_of("SELECT count(*) FROM pg_settings "
                              "WHERE name = 'output_plugin_libraries'") == "1") {
            allow("wal2json");
        }
        writer_->execute("SELECT pg_create_logical_replication_slot('by_hand', 'wal2json')");
        writer_->execute("CREATE TABLE plain (id int PRIMARY KEY); INSERT INTO plain VALUES (1)");
        const auto row = writer_->value_of(
            "SELECT string_agg(data, '') FROM pg_logical_slot_get_changes('by_hand', NULL, NULL, "
            "'format-version', '2', 'include-type-oids', '1')");
        expected_ = row.find("\"typeoid\"") == std::string::npos ? plugin_trouble::too_old
                                                                 : plugin_trouble::none;
        ASSERT_TRUE(run(postgres::create_table(*sql(), postgres::own_table::control, {})));
    }

    /// What is found on a server of a version for which wal2json can be too old.
    plugin_trouble found() {
        auto facts = run(postgres::inspect(*sql(), {slot_, publication_, {}}));
        EXPECT_TRUE(facts.has_value());
        facts->version_number = std::min(facts->version_number, 140'000);
        return run(postgres::trouble_with_wal2json(*sql(), slot_, *facts));
    }
    postgres::connection* sql() {
        if (!sql_) {
            sql_.emplace(connect());
        }
        return &*sql_;
    }

    plugin_trouble expected_ = plugin_trouble::none;

private:
    std::optional<postgres::connection> sql_;
};

TEST_F(PluginAge, IsSeenByARowOfItsOwnAndLeavesNothing) {
    EXPECT_EQ(found(), expected_);
    EXPECT_EQ(slot_count(), "1") << "that of the test";
    EXPECT_EQ(writer_->value_of("SELECT count(*) FROM walrelay.control"), "0");
}

TEST_F(PluginAge, IsSeenByTheFirstRowOfTheSlot) {
    writer_->execute("SELECT pg_create_logical_replication_slot('" + slot_ + "', 'wal2json')");
    EXPECT_EQ(found(), plugin_trouble::none) << "nothing to be seen yet";
    writer_->execute("INSERT INTO plain VALUES (2)");
    EXPECT_EQ(found(), expected_);
    EXPECT_EQ(found(), expected_) << "it was only looked at";
}

}  // namespace
}  // namespace walrelay::test
