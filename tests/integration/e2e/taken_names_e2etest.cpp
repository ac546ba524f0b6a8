// Whoever takes a name that walrelay knows publishes nothing: that of the table of requests, of a
// partition that was dropped, of an outbox that was renamed.
#include "integration/e2e/relay_bench.hpp"
#include "support/eventually.hpp"

namespace walrelay::test {
namespace {

/// As a stranger can know it from the documentation.
constexpr const char* forged_control = R"sql(
CREATE TABLE walrelay.control (
    transaction bigint DEFAULT pg_current_xact_id()::text::int8, place bigint DEFAULT 1, kind text,
    slot text, dead_letter bigint, retry int, source_schema text, source_table text, event json,
    replay bigint, position text, committed_at bigint, subject text,
    proof text DEFAULT md5(random()::text), PRIMARY KEY (transaction, place));
INSERT INTO walrelay.control (kind, dead_letter, retry, source_schema, source_table, event)
VALUES ('retry', 1, 1, 'public', 'outbox_events', json_build_array(
    json_build_object('name', 'id', 'type', 2950,
                      'value', '00000000-0000-0000-0000-000000000666'),
    json_build_object('name', 'aggregate_type', 'type', 25, 'value', 'user'),
    json_build_object('name', 'event_type', 'type', 25, 'value', 'promoted_to_admin'),
    json_build_object('name', 'event_data', 'type', 114, 'value', '{}')));
)sql";

class TakenNames : public e2e_test {
protected:
    TakenNames() : stranger_("stranger_" + bench.name()) {
        bench.execute("CREATE ROLE " + stranger_ + " LOGIN");
        bench.create_table();
    }
    ~TakenNames() override {
        bench.session().execute("DROP OWNED BY " + stranger_ + " CASCADE; DROP ROLE " + stranger_);
    }

    [[nodiscard]] static bool publishes() { return std::string(GetParam()) == "pgoutput"; }
    [[nodiscard]] const std::string& stranger() const { return stranger_; }
    void execute_as_stranger(const std::string& sql) {
        bench.execute("SET ROLE " + stranger_ + "; " + sql);
    }
    /// Whatever anybody makes is sent, with both plugins.
    void publish_all() {
        bench.execute("CREATE PUBLICATION " + bench.name() +
                      " FOR ALL TABLES WITH (publish = 'insert', publish_via_partition_root)");
    }
    void let_make_tables() {
        bench.execute("GRANT CREATE, USAGE ON SCHEMA public TO " + stranger_);
    }
    /// `walrelay run` ends by itself because an operator is needed; returns its log.
    std::string refused_start() {
        bench.launch();
        EXPECT_EQ(bench.relay().process().wait_exit(patience), 3);
        return bench.relay().log();
    }

private:
    std::string stranger_;
};

class TakenNamesWithPgoutput : public TakenNames {};
class TakenNamesWithWal2json : public TakenNames {};

TEST_P(TakenNames, RequestsInASchemaThatStoodForOneTransaction) {
    publish_all();
    ASSERT_EQ(bench.command({"init"}).exit_code, 0);
    bench.execute("DROP SCHEMA walrelay CASCADE; GRANT CREATE ON DATABASE " + bench.database() +
                  " TO " + stranger());
    execute_as_stranger(std::string("BEGIN; CREATE SCHEMA walrelay;") + forged_control +
                        "DROP SCHEMA walrelay CASCADE; COMMIT");
    bench.start();
    bench.execute(insert_event(1));
    bench.expect_relayed(event_ids(1, 1));
}

TEST_P(TakenNames, RequestsInATableOfSomebodyElseWhileTheRelayRuns) {
    publish_all();
    bench.start();
    // As an operator might, who thinks that nothing uses it; in one transaction, as the relay makes
    // its tables again.
    bench.execute("GRANT CREATE ON DATABASE " + bench.database() + " TO " + stranger() +
                  "; BEGIN; DROP SCHEMA walrelay CASCADE; SET LOCAL ROLE " + stranger() +
                  "; CREATE SCHEMA walrelay;" + forged_control +
                  "RESET ROLE; DROP SCHEMA walrelay CASCADE; COMMIT");
    bench.execute(insert_event(1));
    bench.expect_relayed(event_ids(1, 1));
}

TEST_P(TakenNames, RequestsOfWalrelaysOwnTableAreObeyed) {
    bench.set_outbox(
        "[[outbox]]\ntable = 'outbox_events'\nsubject = '%.{aggregate_type}.{event_type}'\n"
        "republish = { column = 'status', value = 'pending' }\n"
        "on_published = \"status = 'published'\"");
    bench.start();
    bench.execute(insert_event(1));
    ASSERT_TRUE(bench.wait_for_messages(1));
    ASSERT_TRUE(eventually(patience, [&] {
        return bench.session().value_of(
                   "SELECT count(*) FROM outbox_events WHERE status = 'published'") == "1";
    }));
    const auto replayed =
        bench.command({"replay", "--rows", "true", "--table", "public.outbox_events", "--execute"});
    EXPECT_EQ(replayed.exit_code, 0) << replayed.errors;
    EXPECT_TRUE(bench.wait_for_messages(2));
}

TEST_P(TakenNames, OfADroppedPartition) {
    bench.execute(
        "CREATE TABLE parted (LIKE outbox_events) PARTITION BY RANGE (version);"
        "CREATE TABLE part_1 PARTITION OF parted FOR VALUES FROM (0) TO (100);"
        "CREATE TABLE part_2 PARTITION OF parted FOR VALUES FROM (100) TO (200)");
    bench.set_outbox("[[outbox]]\ntable = 'parted'\nsubject = '%.{aggregate_type}.{event_type}'");
    publish_all();
    let_make_tables();
    if (!publishes()) {
        const auto log = refused_start();
        EXPECT_NE(log.find("REVOKE CREATE ON SCHEMA \"public\" FROM " + stranger()),
                  std::string::npos)
            << log;
        return;
    }
    bench.start();
    bench.execute(insert_event(1, "order-1", "parted"));
    ASSERT_TRUE(bench.wait_for_messages(1));
    bench.execute("DROP TABLE part_1");
    execute_as_stranger(create_outbox_events("part_1") + ";" +
                        insert_event(66, "order-1", "part_1"));
    bench.execute(insert_event(102, "order-1", "parted"));
    bench.expect_relayed({event_id(1), event_id(102)});
}

TEST_P(TakenNames, OfARenamedOutboxWhileTheRelayIsDown) {
    publish_all();
    bench.start();
    bench.execute(insert_event(1));
    ASSERT_TRUE(bench.wait_for_messages(1));
    ASSERT_TRUE(bench.confirmed_reaches(bench.wal_end()));
    bench.stop();
    let_make_tables();
    bench.execute("ALTER TABLE outbox_events RENAME TO outbox_archive");
    execute_as_stranger(create_outbox_events() + ";" + insert_event(66));
    bench.execute("REVOKE CREATE ON SCHEMA public FROM " + stranger());
    const auto log = refused_start();
    EXPECT_NE(log.find("belongs to the role " + stranger()), std::string::npos) << log;
    EXPECT_EQ(bench.messages().size(), 1U);
}

/// wal2json is refused where others may create tables.
TEST_P(TakenNamesWithPgoutput, OfARenamedOutboxThatGetsItsNameBack) {
    publish_all();
    let_make_tables();
    bench.start();
    bench.execute(insert_event(1));
    ASSERT_TRUE(bench.wait_for_messages(1));
    ASSERT_TRUE(bench.confirmed_reaches(bench.wal_end()));
    bench.stop();
    bench.execute("ALTER TABLE outbox_events RENAME TO outbox_archive");
    execute_as_stranger(create_outbox_events() + ";" + insert_event(66));
    bench.execute("DROP TABLE outbox_events; ALTER TABLE outbox_archive RENAME TO outbox_events;" +
                  insert_event(2));
    bench.start();
    ASSERT_TRUE(bench.wait_for_messages(2));
    EXPECT_EQ(bench.session().value_of("SELECT count(*) FROM walrelay.dead_letter"), "1");
    bench.expect_relayed(event_ids(1, 2));
}

/// pgoutput tells a table by its oid.
TEST_P(TakenNamesWithWal2json, ARightToMakeTablesStopsTheRelayBeforeItIsUsed) {
    bench.start();
    let_make_tables();
    EXPECT_EQ(bench.relay().process().wait_exit(patience), 3);
    EXPECT_NE(bench.relay().log().find("wal2json tells the name of a table"), std::string::npos)
        << bench.relay().log();
}

INSTANTIATE_TEST_SUITE_P(, TakenNames, both_plugins(), plugin_name);
INSTANTIATE_TEST_SUITE_P(, TakenNamesWithPgoutput, testing::Values("pgoutput"), plugin_name);
INSTANTIATE_TEST_SUITE_P(, TakenNamesWithWal2json, testing::Values("wal2json"), plugin_name);

}  // namespace
}  // namespace walrelay::test
