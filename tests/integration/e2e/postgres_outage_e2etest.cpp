// PostgreSQL goes away and comes back while rows are written: nothing is missing, nothing comes
// twice, the order stays.
#include "integration/e2e/background_writer.hpp"
#include "integration/e2e/relay_bench.hpp"
#include "support/eventually.hpp"

namespace walrelay::test {
namespace {

class PostgresOutage : public testing::TestWithParam<const char*> {
protected:
    void SetUp() override {
        bench.create_table();
        bench.start();
    }

    /// Does this to PostgreSQL in mid-stream, several times over.
    template <class Disturbance>
    void survive(const Disturbance& disturb) {
        constexpr int times = 3;
        constexpr std::uint64_t commits_in_between = 200;
        background_writer writer(postgres.conninfo(bench.database()));
        for (int round = 0; round < times; ++round) {
            const auto goal = writer.commits() + commits_in_between;
            ASSERT_TRUE(eventually(patience, [&] { return writer.commits() > goal; }));
            disturb();
        }
        const auto goal = writer.commits() + commits_in_between;
        ASSERT_TRUE(eventually(patience, [&] { return writer.commits() > goal; }));
        writer.stop();
        bench.expect_relayed(bench.committed_ids());
    }

    postgres_server postgres;
    relay_bench bench{postgres, shared_nats(), GetParam()};
};

TEST_P(PostgresOutage, FastRestartsInMidStream) {
    survive([this] {
        postgres.stop(postgres_stop::fast);
        postgres.start();
    });
}

TEST_P(PostgresOutage, ImmediateRestartsInMidStream) {
    survive([this] {
        postgres.stop(postgres_stop::immediate);
        postgres.start();
    });
}

TEST_P(PostgresOutage, KilledInMidStream) {
    survive([this] {
        postgres.kill_9();
        postgres.start();
    });
}

TEST_P(PostgresOutage, ReplicationConnectionTerminatedInMidStream) {
    survive([this] {
        const auto terminated = bench.session().query(
            "SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots WHERE active");
        EXPECT_EQ(terminated.size(), 1U);
        ASSERT_TRUE(eventually(patience, [this] { return bench.streaming(); }));
    });
}

TEST_P(PostgresOutage, FastStopDoesNotWaitForTheRelay) {
    bench.execute(insert_events(1, 100));
    ASSERT_TRUE(bench.wait_for_messages(100));
    postgres.stop(postgres_stop::fast, 5s);
    postgres.start();
    bench.execute(insert_events(101, 200));

    bench.expect_relayed(event_ids(1, 200));
}

TEST_P(PostgresOutage, FastStopDoesNotWaitForABrokerThatIsDown) {
    nats_server broker;
    relay_bench own(postgres, broker, GetParam());
    own.create_table();
    own.start();
    own.execute(insert_events(1, 100));
    ASSERT_TRUE(own.confirms_messages(100));
    broker.kill_9();
    own.execute(insert_events(101, 2000));

    postgres.stop(postgres_stop::fast, 5s);
    postgres.start();
    broker.start();
    own.expect_relayed(event_ids(1, 2000));
}

/// What is looked at once the slot is taken can take longer than the server waits for a word.
TEST_P(PostgresOutage, ServerThatWaitsForAShortTimeKeepsAStreamThatIsNotReadYet) {
    bench.stop();
    ASSERT_EQ(bench.command({"init"}).exit_code, 0) << "with walrelay.dead_letter";
    bench.set_conninfo(bench.conninfo() + " options=-cwal_sender_timeout=1s");
    auto blocker = bench.session();
    blocker.execute("BEGIN; LOCK TABLE walrelay.dead_letter");
    auto watcher = bench.session();
    bench.launch();
    EXPECT_TRUE(eventually(patience, [&] {
        return watcher.value_of(
                   "SELECT count(*) FROM pg_stat_replication WHERE application_name = "
                   "'walrelay' AND backend_start < clock_timestamp() - interval "
                   "'4 seconds'") == "1";
    })) << bench.relay().log();
    blocker.execute("COMMIT");
    bench.execute(insert_events(1, 10));
    bench.expect_relayed(bench.committed_ids());
    EXPECT_EQ(bench.relay().log().find("postgres_lost"), std::string::npos) << bench.relay().log();
}

TEST_P(PostgresOutage, RelayStartedBeforeItsServersWaitsForThem) {
    nats_server broker;
    relay_bench own(postgres, broker, GetParam());
    own.create_table();
    postgres.stop(postgres_stop::fast);
    broker.stop();

    own.launch();
    EXPECT_TRUE(throughout(2s, [&] { return own.relay().process().running(); }));
    postgres.start();
    EXPECT_TRUE(throughout(1s, [&] { return own.relay().process().running(); }));
    broker.start();
    ASSERT_TRUE(eventually(patience, [&] { return own.streaming(); })) << own.relay().log();
    own.execute(insert_events(1, 10));
    own.expect_relayed(event_ids(1, 10));
}

INSTANTIATE_TEST_SUITE_P(, PostgresOutage, both_plugins(), plugin_name);

}  // namespace
}  // namespace walrelay::test
