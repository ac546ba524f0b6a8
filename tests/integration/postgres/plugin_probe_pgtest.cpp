// Whether wal2json may be used, found out in all the ways there are.
#include "postgres/inspector.hpp"
#include "postgres_fixture.hpp"
#include "support/eventually.hpp"

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

}  // namespace
}  // namespace walrelay::test
