#include "postgres/catalog/outbox_guards.hpp"

#include "postgres_fixture.hpp"

#include <gmock/gmock.h>

namespace walrelay::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// Roles belong to the server, and other tests make theirs.
class OutboxGuards : public postgres_fixture {
protected:
    OutboxGuards() {
        relay_ = "relay_" + database_;
        app_ = "app_" + database_;
        writer_->execute("CREATE ROLE " + relay_ + " LOGIN; CREATE ROLE " + app_ + " LOGIN;" +
                         "GRANT ALL ON events TO " + relay_);
    }

    postgres_facts facts() {
        auto wanted = options(postgres::connection_kind::sql);
        wanted.conninfo += " user=" + relay_;
        auto sql = run(postgres::connection::open(context_.get_executor(), wanted));
        postgres_facts all;
        all.tables.resize(2);
        all.tables[0].table = {"public", "missing"};
        all.tables[1].table = {"public", "events"};
        const auto done = run(postgres::inspect_guards(*sql, all));
        EXPECT_TRUE(done.has_value()) << to_string(done.error());
        EXPECT_THAT(all.tables[0].hidden_from, IsEmpty());
        return all;
    }
    std::vector<std::string> hidden_from() { return facts().tables[1].hidden_from; }

    void policy(const std::string& name, const std::string& rest) {
        writer_->execute("CREATE POLICY " + name + " ON events " + rest);
    }

    std::string relay_;
    std::string app_;
};

TEST_F(OutboxGuards, TellsFromWhichCommandsRowSecurityCanHideRows) {
    EXPECT_THAT(hidden_from(), IsEmpty());
    writer_->execute("ALTER TABLE events ENABLE ROW LEVEL SECURITY");
    EXPECT_THAT(hidden_from(), ElementsAre("SELECT", "UPDATE", "DELETE"));
    policy("tenant", "USING (id > 5)");
    EXPECT_THAT(hidden_from(), ElementsAre("SELECT", "UPDATE", "DELETE"));
    policy("of_app", "TO " + app_ + " USING (true)");
    EXPECT_THAT(hidden_from(), ElementsAre("SELECT", "UPDATE", "DELETE")) << "another role's";
    policy("reads", "FOR SELECT TO " + relay_ + " USING (true)");
    EXPECT_THAT(hidden_from(), ElementsAre("UPDATE", "DELETE"));
    policy("all_rows", "TO " + relay_ + " USING (true)");
    EXPECT_THAT(hidden_from(), IsEmpty());
    policy("never_old", "AS RESTRICTIVE FOR UPDATE USING (id > 5)");
    EXPECT_THAT(hidden_from(), ElementsAre("UPDATE"));
    writer_->execute("ALTER POLICY never_old ON events TO " + app_);
    EXPECT_THAT(hidden_from(), IsEmpty());
}

TEST_F(OutboxGuards, SeesNoneWhereTheRolePassesRowSecurityBy) {
    writer_->execute("ALTER TABLE events ENABLE ROW LEVEL SECURITY; ALTER ROLE " + relay_ +
                     " BYPASSRLS");
    EXPECT_THAT(hidden_from(), IsEmpty());
}

TEST_F(OutboxGuards, NamesWhoMayAttachTriggers) {
    EXPECT_THAT(facts().tables[1].trigger_makers, IsEmpty());
    writer_->execute("GRANT TRIGGER ON events TO " + app_ + ", PUBLIC");
    EXPECT_THAT(facts().tables[1].trigger_makers, testing::UnorderedElementsAre("PUBLIC", app_));
    writer_->execute("REVOKE TRIGGER ON events FROM PUBLIC; ALTER ROLE " + app_ + " SUPERUSER");
    EXPECT_THAT(facts().tables[1].trigger_makers, IsEmpty());
}

TEST_F(OutboxGuards, NamesTriggersThatRunFunctionsOfOthers) {
    writer_->execute(
        "CREATE FUNCTION audit() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;"
        "CREATE TRIGGER audit AFTER UPDATE ON events EXECUTE FUNCTION audit()");
    EXPECT_THAT(facts().tables[1].foreign_triggers, IsEmpty());
    writer_->execute("GRANT CREATE ON SCHEMA public TO " + app_ +
                     "; ALTER FUNCTION audit() OWNER TO " + app_);
    EXPECT_THAT(facts().tables[1].foreign_triggers, ElementsAre("audit"));
    writer_->execute("ALTER TABLE events DISABLE TRIGGER audit");
    EXPECT_THAT(facts().tables[1].foreign_triggers, IsEmpty());
}

TEST_F(OutboxGuards, TakesPartitionsForTheirTable) {
    writer_->execute(
        "DROP TABLE events; CREATE TABLE events (id int) PARTITION BY RANGE (id);"
        "CREATE TABLE events_1 PARTITION OF events FOR VALUES FROM (1) TO (10);"
        "GRANT TRIGGER ON events_1 TO " +
        app_);
    EXPECT_THAT(facts().tables[1].trigger_makers, ElementsAre(app_));
}

TEST_F(OutboxGuards, NamesWhoMayWriteLogicalMessages) {
    EXPECT_THAT(facts().message_writers, ElementsAre("PUBLIC"));
    // The catalog is this database's own.
    writer_->execute(
        "DO $$ DECLARE f regprocedure; BEGIN FOR f IN SELECT oid FROM pg_proc WHERE proname = "
        "'pg_logical_emit_message' LOOP EXECUTE 'REVOKE EXECUTE ON FUNCTION ' || f || ' FROM "
        "PUBLIC'; EXECUTE 'GRANT EXECUTE ON FUNCTION ' || f || ' TO " +
        app_ +
        "'; END LOOP; "
        "END $$");
    EXPECT_THAT(facts().message_writers, ElementsAre(app_));
}

}  // namespace
}  // namespace walrelay::test
