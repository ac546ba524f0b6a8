#include "postgres/catalog/inspector.hpp"

#include "postgres_fixture.hpp"
#include "support/eventually.hpp"

#include <gmock/gmock.h>

namespace walrelay::test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class Inspector : public postgres_fixture {
protected:
    postgres_facts facts_of(std::vector<table_name> tables = {{"public", "events"}}) {
        auto sql = connect();
        auto facts = run(postgres::inspect(sql, {slot_, publication_, std::move(tables)}));
        if (facts.has_error()) {
            throw std::runtime_error(to_string(facts.error()));
        }
        return *facts;
    }
    table_facts facts_of_write_back(const outbox_table& written) {
        auto sql = connect();
        postgres::inspection_request asked{slot_, publication_, {written.table}, {written}};
        auto facts = run(postgres::inspect(sql, std::move(asked)));
        if (facts.has_error()) {
            throw std::runtime_error(to_string(facts.error()));
        }
        return facts->tables.front();
    }
};

TEST_F(Inspector, DescribesTheServer) {
    const auto facts = facts_of();
    EXPECT_EQ(std::to_string(facts.version_number), writer_->value_of("SHOW server_version_num"));
    EXPECT_EQ(std::to_string(facts.origin.system_identifier),
              writer_->value_of("SELECT system_identifier FROM pg_control_system()"));
    EXPECT_EQ(facts.origin.timeline, 1U);
    EXPECT_GT(facts.current.value, 0U);
    EXPECT_FALSE(facts.in_recovery);
    EXPECT_EQ(facts.database, database_);
    EXPECT_EQ(facts.encoding, "UTF8");
    EXPECT_EQ(facts.wal_level, "logical");
    EXPECT_EQ(facts.role, "postgres");
    EXPECT_TRUE(facts.role_replicates);
    EXPECT_EQ(facts.sender_timeout, std::chrono::minutes(1));
    EXPECT_GT(facts.slots_free, 0);
    EXPECT_GT(facts.senders_free, 0);
    EXPECT_FALSE(facts.slot.has_value());
    EXPECT_FALSE(facts.publication.has_value());
}

TEST_F(Inspector, KnowsWhomCommitsWaitForAndWhatItIsCalled) {
    use_own_server();
    EXPECT_EQ(facts_of().synchronous_standbys, "");
    EXPECT_EQ(facts_of().application_name, "walrelay");
    writer_->execute("SET synchronous_commit = local");
    writer_->execute("ALTER SYSTEM SET synchronous_standby_names = 'FIRST 1 (\"a b\", walrelay)'");
    writer_->execute("SELECT pg_reload_conf()");
    EXPECT_TRUE(eventually(std::chrono::seconds(30), [&] {
        return facts_of().synchronous_standbys == "FIRST 1 (\"a b\", walrelay)";
    }));
}

TEST_F(Inspector, AgreesWithIdentifySystem) {
    auto replication = connect(postgres::connection_kind::replication);
    const auto server = run(postgres::identify(replication));
    ASSERT_TRUE(server.has_value());
    EXPECT_EQ(server->line.origin, facts_of().origin);
}

TEST_F(Inspector, NeedsNoRights) {
    writer_->execute("DROP ROLE IF EXISTS reader; CREATE ROLE reader LOGIN");
    auto wanted = options(postgres::connection_kind::sql);
    wanted.conninfo += " user=reader";
    auto sql = run(postgres::connection::open(context_.get_executor(), wanted));
    ASSERT_TRUE(sql.has_value());
    (void)make_slot(output_plugin::pgoutput);
    const auto facts = run(postgres::inspect(*sql, {slot_, publication_, {{"public", "events"}}}));
    ASSERT_TRUE(facts.has_value()) << to_string(facts.error());
    EXPECT_EQ(facts->role, "reader");
    EXPECT_FALSE(facts->role_replicates);
    EXPECT_TRUE(facts->slot.has_value());
    EXPECT_EQ(facts->tables.front().columns.size(), 2U);
}

/// The attribute is of the role that signs in, whatever role the session then has: what counts is
/// whether the server takes the connection.
TEST_F(Inspector, TriesToReplicateWhereTheCatalogDoesNotTell) {
    use_own_server();
    writer_->execute(
        "CREATE ROLE application; CREATE ROLE relay LOGIN REPLICATION; CREATE ROLE plain LOGIN;"
        "GRANT application TO relay; ALTER ROLE relay SET role = 'application'");
    const auto look_as = [&](const std::string& role) {
        auto wanted = options(postgres::connection_kind::sql);
        wanted.conninfo += " user=" + role;
        auto sql = run(postgres::connection::open(context_.get_executor(), wanted));
        EXPECT_TRUE(sql.has_value());
        postgres::inspection_request request{slot_, publication_, {{"public", "events"}}};
        request.replication = wanted;
        const auto facts = run(postgres::inspect(*sql, request));
        EXPECT_TRUE(facts.has_value()) << to_string(facts.error());
        return *facts;
    };
    const auto member = look_as("relay");
    EXPECT_EQ(member.role, "application");
    EXPECT_FALSE(member.role_has_replication);
    EXPECT_TRUE(member.role_replicates);
    EXPECT_EQ(member.wal2json, plugin_trouble::none) << "not known, and not forbidden";
    const auto plain = look_as("plain");
    EXPECT_FALSE(plain.role_replicates);
    ASSERT_TRUE(plain.replication_refused.has_value());
    EXPECT_THAT(plain.replication_refused->server_said, HasSubstr("start"));
}

TEST_F(Inspector, KnowsTheServiceByItsRoles) {
    use_own_server();
    EXPECT_EQ(facts_of().service, managed_service::none);
    writer_->execute("CREATE ROLE rds_superuser");
    EXPECT_EQ(facts_of().service, managed_service::rds);
}

TEST_F(Inspector, CountsRowsWhereThereIsNoSlot) {
    writer_->execute(
        "INSERT INTO events SELECT n, 'x' FROM generate_series(1, 7) AS n;"
        "CREATE TABLE heir () INHERITS (events); INSERT INTO heir VALUES (8, 'x')");
    const auto rows = facts_of().tables.front().rows;
    ASSERT_TRUE(rows.has_value());
    EXPECT_EQ(rows->count, 7U);
    EXPECT_TRUE(rows->is_exact);
    writer_->execute(
        "INSERT INTO events SELECT n, 'x' FROM generate_series(10, 100200) AS n; ANALYZE events");
    const auto many = facts_of().tables.front().rows;
    ASSERT_TRUE(many.has_value());
    EXPECT_NEAR(static_cast<double>(many->count), 100'198.0, 1'000.0);
    EXPECT_FALSE(many->is_exact);
    // Somebody alters it: nobody waits for that.
    postgres_session altering(options(postgres::connection_kind::sql).conninfo);
    altering.execute("BEGIN; LOCK TABLE events");
    EXPECT_EQ(facts_of().tables.front().rows, std::nullopt);
    altering.execute("ROLLBACK");
    (void)make_slot(output_plugin::pgoutput);
    EXPECT_EQ(facts_of().tables.front().rows, std::nullopt);
}

TEST_F(Inspector, SurvivesARoleThatMayNotAskForTheOrigin) {
    use_own_server();
    writer_->execute(
        "REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC;"
        "CREATE ROLE reader LOGIN");
    auto wanted = options(postgres::connection_kind::sql);
    wanted.conninfo += " user=reader";
    auto sql = run(postgres::connection::open(context_.get_executor(), wanted));
    const auto facts = run(postgres::inspect(*sql, {slot_, publication_, {}}));
    ASSERT_TRUE(facts.has_value()) << to_string(facts.error());
    EXPECT_EQ(facts->origin, history{});
}

TEST_F(Inspector, DescribesTheSlot) {
    const auto from = make_slot(output_plugin::wal2json);
    const auto idle = facts_of().slot;
    ASSERT_TRUE(idle.has_value());
    EXPECT_EQ(idle->plugin, "wal2json");
    EXPECT_EQ(idle->database, database_);
    EXPECT_FALSE(idle->active);
    EXPECT_FALSE(idle->two_phase);
    EXPECT_TRUE(idle->restart.has_value());
    EXPECT_TRUE(idle->confirmed.has_value());
    EXPECT_EQ(idle->wal_status, "reserved");
    const auto streaming = stream(from);
    const auto busy = facts_of().slot;
    ASSERT_TRUE(busy.has_value());
    EXPECT_TRUE(busy->active);
    EXPECT_GT(busy->active_pid, 0);
}

TEST_F(Inspector, DescribesThePublication) {
    writer_->execute(
        "CREATE TABLE \"Od d\" (a int); CREATE PUBLICATION published FOR TABLE "
        "events, \"Od d\" WITH (publish = 'update', publish_via_partition_root)");
    const auto found = facts_of().publication;
    ASSERT_TRUE(found.has_value());
    EXPECT_FALSE(found->publishes_inserts);
    EXPECT_TRUE(found->via_partition_root);
    EXPECT_FALSE(found->for_all_tables);
    EXPECT_FALSE(found->younger_than_slot);
    EXPECT_THAT(found->tables,
                ElementsAre(table_name{"public", "Od d"}, table_name{"public", "events"}));
}

TEST_F(Inspector, FindsAPublicationThatIsYoungerThanTheSlot) {
    writer_->execute("SELECT pg_create_logical_replication_slot(" + as_literal(slot_) +
                     ", 'pgoutput')");
    writer_->execute("INSERT INTO events VALUES (1, 'too early')");
    writer_->execute("CREATE PUBLICATION published FOR TABLE events");
    EXPECT_TRUE(facts_of().publication->younger_than_slot);
}

TEST_F(Inspector, TakesAChangedPublicationForNoYoungerOne) {
    (void)make_slot(output_plugin::pgoutput);
    writer_->execute("INSERT INTO events VALUES (1, 'in time')");
    writer_->execute("ALTER PUBLICATION published SET (publish = 'insert, update')");
    EXPECT_FALSE(facts_of().publication->younger_than_slot);
}

TEST_F(Inspector, DescribesTablesInTheOrderOfTheRequest) {
    writer_->execute(
        "CREATE SCHEMA \"a\"\"b\\c\"; CREATE UNLOGGED TABLE \"a\"\"b\\c\".\"T, t\" (\"Id\" uuid, "
        "gone int, body jsonb); ALTER TABLE \"a\"\"b\\c\".\"T, t\" DROP COLUMN gone;"
        "CREATE VIEW seen AS SELECT 1 AS one");
    const auto facts = facts_of(
        {{"public", "seen"}, {"a\"b\\c", "T, t"}, {"public", "missing"}, {"public", "events"}});
    ASSERT_EQ(facts.tables.size(), 4U);
    EXPECT_TRUE(facts.tables[0].exists);
    EXPECT_FALSE(facts.tables[0].ordinary);
    EXPECT_TRUE(facts.tables[1].ordinary);
    EXPECT_TRUE(facts.tables[1].unlogged);
    EXPECT_THAT(facts.tables[1].columns, ElementsAre(column{"Id", 2950}, column{"body", 3802}));
    EXPECT_FALSE(facts.tables[2].exists);
    EXPECT_EQ(facts.tables[2].table.name, "missing");
    EXPECT_THAT(facts.tables[3].columns, ElementsAre(column{"id", 20}, column{"body", 25}));
    EXPECT_FALSE(facts.tables[3].unlogged);
}

TEST_F(Inspector, FindsTheLeavesOfAPartitionedTable) {
    writer_->execute(
        "CREATE SCHEMA parts; CREATE TABLE rooted (id int, kind text) PARTITION BY LIST (kind);"
        "CREATE TABLE parts.one PARTITION OF rooted FOR VALUES IN ('one');"
        "CREATE TABLE middle PARTITION OF rooted FOR VALUES IN ('two') PARTITION BY RANGE (id);"
        "CREATE TABLE low PARTITION OF middle FOR VALUES FROM (0) TO (9);"
        "CREATE TABLE other (a int)");
    const auto facts = facts_of({{"public", "rooted"}});
    EXPECT_TRUE(facts.tables.front().partitioned);
    EXPECT_TRUE(facts.tables.front().ordinary);
    EXPECT_THAT(facts.tables.front().leaves,
                ElementsAre(table_name{"parts", "one"}, table_name{"public", "low"}));
    EXPECT_THAT(facts.other_tables, Contains(table_name{"public", "other"}));
    EXPECT_THAT(facts.other_tables, Not(Contains(table_name{"public", "low"})));
    EXPECT_THAT(facts.other_tables, Not(Contains(table_name{"public", "rooted"})));
}

TEST_F(Inspector, AsksWhetherWriteBacksWouldRun) {
    outbox_table written{.table = {"public", "events"}};
    written.columns.id = "id";
    written.on_published = "body = missing";
    ASSERT_EQ(facts_of_write_back(written).refused.size(), 1U);
    EXPECT_THAT(facts_of_write_back(written).refused.front().server_said, HasSubstr("missing"));
}

TEST_F(Inspector, DoesNotWaitForWhoeverHasLockedATable) {
    outbox_table written{.table = {"public", "events"}};
    written.columns.id = "id";
    written.on_published = "body = 'done'";
    postgres_session other(server().conninfo(database_));
    other.execute("BEGIN; LOCK TABLE events IN SHARE ROW EXCLUSIVE MODE");
    EXPECT_TRUE(facts_of_write_back(written).refused.empty());
}

TEST_F(Inspector, FollowsDomainsToTheirBase) {
    writer_->execute("CREATE DOMAIN document AS jsonb; CREATE DOMAIN letter AS document");
    const auto oid =
        static_cast<type_oid>(std::stoul(writer_->value_of("SELECT 'letter'::regtype::oid")));
    EXPECT_THAT(facts_of().domains, Contains(std::pair<type_oid, type_oid>{oid, 3802}));
}

}  // namespace
}  // namespace walrelay::test
