// The broker goes away, freezes, comes back: rows wait in the slot, the replication connection
// lives on, and nothing is missing, twice or out of order.
#include "integration/e2e/background_writer.hpp"
#include "integration/e2e/relay_bench.hpp"
#include "support/eventually.hpp"

namespace walrelay::test {
namespace {

class BrokerOutage : public testing::TestWithParam<const char*> {
protected:
    void SetUp() override { bench.create_table(); }

    [[nodiscard]] std::string conninfo() const {
        return shared_postgres().conninfo(bench.database());
    }

    void expect_all_relayed(background_writer& writer) {
        writer.stop();
        bench.expect_relayed(bench.committed_ids());
    }

    static void wait_for_commits(const background_writer& writer, std::uint64_t more) {
        const auto goal = writer.commits() + more;
        ASSERT_TRUE(eventually(patience, [&] { return writer.commits() > goal; }));
    }

    nats_server broker;
    relay_bench bench{shared_postgres(), broker, GetParam()};
};

TEST_P(BrokerOutage, KilledInMidStream) {
    bench.start();
    bench.execute(insert_event(1));
    ASSERT_TRUE(bench.confirms_messages(1));
    background_writer writer(conninfo(), 2);
    for (int round = 0; round < 5; ++round) {
        wait_for_commits(writer, 200);
        broker.kill_9();
        wait_for_commits(writer, 50);
        broker.start();
    }
    wait_for_commits(writer, 200);
    expect_all_relayed(writer);
}

TEST_P(BrokerOutage, RestartedInMidStream) {
    bench.start();
    background_writer writer(conninfo());
    for (int round = 0; round < 3; ++round) {
        wait_for_commits(writer, 200);
        broker.stop();
        broker.start();
    }
    wait_for_commits(writer, 200);
    expect_all_relayed(writer);
}

TEST_P(BrokerOutage, FrozenForLongerThanTheAckTimeout) {
    bench.set_delivery("ack_timeout = '1s'");
    bench.start();
    background_writer writer(conninfo());
    for (int round = 0; round < 2; ++round) {
        wait_for_commits(writer, 200);
        broker.freeze();
        EXPECT_TRUE(throughout(3s, [&] { return bench.relay().process().running(); }));
        broker.resume();
    }
    wait_for_commits(writer, 200);
    expect_all_relayed(writer);
}

TEST_P(BrokerOutage, KeepsAMessageInMemoryOnceWhileItIsFrozen) {
    constexpr int rows = 5000;
    constexpr std::uint64_t rows_bytes = 8192ULL * rows;  // less than the window
    constexpr std::uint64_t all_else_bytes = 48ULL << 20U;
    bench.set_delivery("ack_timeout = '60s'\nwindow_bytes = '64MiB'\nwindow_messages = 8192");
    bench.start();
    bench.execute(insert_events(1, 1));
    ASSERT_TRUE(bench.confirmed_reaches(bench.wal_end()));
    broker.freeze();
    bench.execute(
        "INSERT INTO outbox_events (id, aggregate_id, aggregate_type, event_type, event_data,"
        " status, version, created_at) SELECT gen_random_uuid(), n::text, 'user', 'made',"
        " jsonb_build_object('text', repeat('x', 8192)), 'pending', n, now()"
        " FROM generate_series(1, " +
        std::to_string(rows) + ") AS n");
    const auto end = bench.wal_end();
    EXPECT_TRUE(eventually(patience, [&] {
        return bench.slot("(SELECT sent_lsn >= '" + end +
                          "' FROM pg_stat_replication WHERE pid = active_pid)") == "t";
    }));
    broker.resume();
    EXPECT_TRUE(bench.wait_for_messages(rows + 1));
    EXPECT_LT(bench.relay().process().resident_peak_bytes(), rows_bytes + all_else_bytes);
}

TEST_P(BrokerOutage, OfAWhileKeepsTheReplicationConnection) {
    postgres_server postgres({.settings = {"wal_sender_timeout = 2s"}});
    relay_bench own(postgres, broker, GetParam());
    own.create_table();
    own.start();
    own.execute(insert_events(1, 10));
    ASSERT_TRUE(own.wait_for_messages(10));
    const auto pid = own.slot("active_pid");
    ASSERT_TRUE(pid.has_value());

    broker.stop();
    own.execute(insert_events(11, 5000));
    EXPECT_TRUE(throughout(7s, [&] { return own.slot("active_pid") == pid; }));
    broker.start();
    own.expect_relayed(event_ids(1, 5000));
}

TEST_P(BrokerOutage, FullWindowStopsReadingAndMemoryStaysBounded) {
    constexpr std::uint64_t rows = 100000;
    constexpr std::uint64_t memory_limit_bytes = 64ULL << 20U;
    bench.set_delivery("window_messages = 100\nack_timeout = '60s'");
    bench.start();
    broker.freeze();
    // 100 MB, more than the relay may hold.
    bench.execute(
        "ALTER TABLE outbox_events ALTER COLUMN last_error SET DEFAULT repeat('x', 1000)");
    bench.execute(insert_events(1, rows));

    EXPECT_TRUE(throughout(
        5s, [&] { return bench.relay().process().resident_peak_bytes() < memory_limit_bytes; }));
    EXPECT_TRUE(bench.streaming());
    broker.resume();
    EXPECT_TRUE(bench.wait_for_messages(rows));
    EXPECT_LT(bench.relay().process().resident_peak_bytes(), memory_limit_bytes);
    bench.expect_relayed(event_ids(1, rows));
}

TEST_P(BrokerOutage, NothingIsConfirmedThatWasNotAcked) {
    bench.start();
    bench.execute(insert_events(1, 10));
    ASSERT_TRUE(bench.wait_for_messages(10));
    ASSERT_TRUE(bench.confirmed_reaches(bench.wal_end()));
    broker.stop();
    const auto before = bench.wal_end();
    bench.execute(insert_event(11));
    const auto after = bench.wal_end();

    EXPECT_TRUE(throughout(5s,
                           [&] {
                               return bench.slot("confirmed_flush_lsn < " + as_literal(after) +
                                                 "::pg_lsn") == "t";
                           }))
        << "from " << before << " to " << after;
    broker.start();
    EXPECT_TRUE(bench.confirmed_reaches(after));
    bench.expect_relayed(event_ids(1, 11));
}

INSTANTIATE_TEST_SUITE_P(, BrokerOutage, both_plugins(), plugin_name);

}  // namespace
}  // namespace walrelay::test
