// What an operator is told at three in the morning: for each incident, the endpoints, `walrelay
// status`, the log and the alerts tell the same story, the first command that is offered does no
// harm, and what ends it leaves each row in the stream once.
#include "incidents/alert_table.hpp"
#include "integration/e2e/answering_relay.hpp"
#include "integration/e2e/clock_ahead.hpp"

#include <algorithm>
#include <chrono>
#include <iostream>
#include <optional>
#include <regex>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace walrelay::test {
namespace {

/// What every surface is to say.
struct story {
    std::string state;
    bool ready = false;
    bool leader = false;
    /// In the log, and where something is wrong also in `walrelay status`.
    std::string cause;
    std::set<std::string> alerts;
};

class Incidents : public testing::Test {
protected:
    Incidents() {
        bench.create_table();
        bench.set_delivery("on_halt = 'stay'\nack_timeout = '5m'\nbackoff_max = '500ms'");
    }

    /// All is well, with 100 rows in the stream.
    void begin(std::map<std::string, std::string> environment = {}) {
        relay.emplace(bench, "relay", std::move(environment));
        ASSERT_TRUE(relay->is("streaming", true, true));
        bench.execute(insert_events(1, 100));
        ASSERT_TRUE(bench.confirms_messages(100)) << relay->process().log();
        began = std::chrono::steady_clock::now();
    }

    void tells(const story& of) {
        ASSERT_TRUE(relay->is(of.state, of.ready, of.leader));
        ASSERT_TRUE(relay->process().wait_for_log(of.cause, patience)) << relay->process().log();
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
        std::cout << of.state << " and its cause after " << took.count() << " s\n";
        const auto said = status();
        EXPECT_EQ(said.exit_code, of.ready ? 0 : 1) << said.output << said.errors;
        if (!of.ready) {
            EXPECT_TRUE(has(said.output, of.cause)) << said.output;
            EXPECT_TRUE(has(relay->get("/status").body, of.cause)) << relay->get("/status").body;
        }
        expect_harmless(said.output);
        expect_alerts(of.alerts);
    }

    void expect_alerts(const std::set<std::string>& alerts) {
        const auto first = relay->get("/metrics").body;
        const auto at = std::chrono::steady_clock::now();
        // Not for anything to happen: the slope of what grows is measured.
        (void)eventually(patience, [&] {
            return std::chrono::steady_clock::now() - at > std::chrono::seconds(2);
        });
        const auto second = relay->get("/metrics").body;
        const std::chrono::duration<double> apart = std::chrono::steady_clock::now() - at;
        alert_table table(WALRELAY_MONITORING "/alerts.yaml", bench.folder());
        table.says(first, second, apart.count());
        EXPECT_EQ(table.differs_from(alerts), "");
    }

    /// The first command of a fix: what gives something up comes later, if at all.
    static void expect_harmless(const std::string& status) {
        const std::regex fix("fix:? +(.*)");
        std::smatch found;
        if (std::regex_search(status, found, fix)) {
            const auto first = found[1].str().substr(0, found[1].str().find(';'));
            for (const auto* const harm : {"--give-up", "--new-slot", "drop", "DROP", "delete"}) {
                EXPECT_FALSE(has(first, harm)) << status;
            }
        }
    }

    /// What the relay has offered, after its verify. It goes on by itself then.
    void is_healed() {
        const auto resumed = bench.command({"resume", "--heal"});
        ASSERT_EQ(resumed.exit_code, 0) << resumed.output << resumed.errors;
        has_each_row_once();
    }

    void has_each_row_once() {
        auto ids = bench.committed_ids();
        ASSERT_TRUE(bench.wait_for_messages(ids.size())) << relay->process().log();
        ASSERT_TRUE(bench.confirmed_reaches(bench.wal_end())) << relay->process().log();
        std::vector<std::string> stored;
        for (const auto& each : bench.events()) {
            stored.push_back(each.id);
        }
        // Healed rows come in the order of their table.
        std::ranges::sort(ids);
        std::ranges::sort(stored);
        EXPECT_EQ(stored, ids);
        ASSERT_TRUE(relay->is("streaming", true, true)) << relay->process().log();
    }

    finished_run status() {
        return run_to_end(
            {.program = WALRELAY_BINARY,
             .arguments = {"status", "--config", (bench.folder() / "walrelay.toml").string()},
             .folder = bench.folder(),
             .environment = {{"WALRELAY_HTTP_LISTEN",
                              "127.0.0.1:" + std::to_string(relay->port())}},
             .name = "status"},
            patience);
    }

    postgres_server postgres;
    nats_server broker;
    relay_bench bench{postgres, broker, "pgoutput"};
    std::optional<answering_relay> relay;
    std::chrono::steady_clock::time_point began;
};

TEST_F(Incidents, AQuietNight) {
    begin();
    tells({"streaming", true, true, "caught up", {}});
    has_each_row_once();
}

TEST_F(Incidents, TheBrokerIsGone) {
    begin();
    broker.kill_9();
    bench.execute(insert_events(101, 110));
    tells({"waiting_broker", false, true, "broker", {"WalrelayWaiting", "WalrelayLag"}});
    broker.start();
    has_each_row_once();
}

TEST_F(Incidents, TheBrokerStandsStill) {
    begin();
    broker.freeze();
    bench.execute(insert_events(101, 110));
    ASSERT_TRUE(relay->comes_to_say("/status", "\"window\":{\"messages\":10"));
    expect_alerts({"WalrelayLag", "WalrelayBrokerStuck"});
    broker.resume();
    has_each_row_once();
}

TEST_F(Incidents, TheStreamIsFull) {
    begin();
    ASSERT_TRUE(bench.wait_until_marked());
    bench.broker().limit(bench.stream_name(), 100);
    bench.execute(insert_events(101, 110));
    tells({"waiting_broker",
           false,
           true,
           "maximum messages exceeded",
           {"WalrelayWaiting", "WalrelayLag"}});
    bench.broker().limit(bench.stream_name(), -1);
    has_each_row_once();
}

TEST_F(Incidents, TheStreamIsDeleted) {
    begin();
    bench.broker().remove(bench.stream_name());
    bench.execute(insert_events(101, 110));
    tells({"halted", false, false, bench.stream_name(), {"WalrelayHalted"}});
    // What is offered for a stream that is gone for good.
    ASSERT_EQ(bench.command({"init", "--new-stream"}).exit_code, 0);
    is_healed();
}

TEST_F(Incidents, PostgresIsGone) {
    begin();
    postgres.stop(postgres_stop::fast);
    tells({"waiting_postgres", false, false, "PostgreSQL", {"WalrelayWaiting"}});
    postgres.start();
    bench.execute(insert_events(101, 110));
    has_each_row_once();
}

TEST_F(Incidents, ThePublicationIsDropped) {
    begin();
    bench.execute("DROP PUBLICATION \"" + bench.name() + "\"");
    bench.execute(insert_events(101, 110));
    tells({"halted", false, false, "publication", {"WalrelayHalted"}});
    // What is offered, as pgoutput cannot read what was written before another publication.
    relay.reset();
    bench.set_plugin("wal2json");
    const auto switched = bench.command({"init", "--switch-plugin"});
    ASSERT_EQ(switched.exit_code, 0) << switched.output << switched.errors;
    relay.emplace(bench, "again");
    has_each_row_once();
}

TEST_F(Incidents, ATableIsRenamed) {
    begin();
    bench.execute("ALTER TABLE outbox_events RENAME TO elsewhere");
    tells({"halted", false, false, "outbox_events", {"WalrelayHalted"}});
    bench.execute("ALTER TABLE elsewhere RENAME TO outbox_events");
    bench.execute(insert_events(101, 110));
    is_healed();
}

TEST_F(Incidents, TheSlotIsDropped) {
    begin();
    bench.execute(
        "DO $$ BEGIN LOOP BEGIN"
        " PERFORM pg_terminate_backend(active_pid) FROM pg_replication_slots;"
        " PERFORM pg_drop_replication_slot('" +
        bench.name() + "'); EXIT; EXCEPTION WHEN object_in_use THEN NULL; END; END LOOP; END $$");
    bench.execute(insert_events(101, 110));
    tells({"halted", false, false, bench.name(), {"WalrelayHalted"}});
    is_healed();
}

TEST_F(Incidents, TheSlotIsMovedWhileNoRelayRuns) {
    begin();
    relay.reset();
    bench.execute(insert_events(101, 110));
    bench.execute("SELECT pg_replication_slot_advance('" + bench.name() +
                  "', pg_current_wal_lsn())");
    relay.emplace(bench, "again");
    tells({"halted", false, false, "neither in stream", {"WalrelayHalted"}});
    is_healed();
}

TEST_F(Incidents, ARowIsSetAside) {
    bench.set_delivery("max_row_bytes = '64KiB'");
    begin();
    bench.execute(
        "INSERT INTO outbox_events (id, aggregate_id, aggregate_type, event_type, event_data,"
        " status, version, created_at) VALUES (gen_random_uuid(), 'a', 'order', 'placed',"
        " jsonb_build_object('x', repeat('x', 100000)), 'pending', 1, now())");
    ASSERT_TRUE(eventually(patience, [&] {
        return std::regex_search(relay->get("/metrics").body,
                                 std::regex("\nwalrelay_dead_letters\\{[^ ]* 1"));
    }));
    tells({"streaming", true, true, "set aside", {"WalrelayDeadLetters"}});
}

TEST_F(Incidents, ARelayStandsBy) {
    begin();
    answering_relay leader = std::move(*relay);
    relay.emplace(bench, "second");
    ASSERT_TRUE(relay->is("standby", true, false));
}

TEST_F(Incidents, TheClockOfTheRelayIsWrong) {
    begin(clock_ahead());
    ASSERT_TRUE(relay->comes_to_say("/metrics", "walrelay_clock_offset_seconds"));
    expect_alerts({"WalrelayClockOff"});
    has_each_row_once();
}

TEST_F(Incidents, NobodyCanCleanUp) {
    bench.set_outbox(
        "[[outbox]]\ntable = 'outbox_events'\nsubject = '%.{aggregate_type}'\n"
        "delete_after = '1s'\n");
    relay.emplace(bench, "relay");
    ASSERT_TRUE(relay->is("streaming", true, true));
    bench.execute(insert_events(1, 100));
    ASSERT_TRUE(bench.wait_for_messages(100));
    auto locker = bench.session();
    locker.execute(insert_events(101, 103));
    locker.execute("BEGIN");
    locker.execute("LOCK TABLE outbox_events IN ACCESS EXCLUSIVE MODE");
    ASSERT_TRUE(eventually(patience, [&] {
        const auto text = relay->get("/metrics").body;
        return std::regex_search(text, std::regex("\nwalrelay_cleanup_lag_seconds[^ ]* [1-9]"));
    }));
    expect_alerts({"WalrelayCleanupBehind"});
    locker.execute("COMMIT");
    ASSERT_TRUE(bench.wait_for_messages(103));
}

TEST_F(Incidents, TheSlotIsAboutToBeLost) {
    begin();
    bench.execute("CREATE TABLE other (x text)");
    broker.freeze();
    bench.execute(insert_events(101, 110));
    bench.execute(
        "INSERT INTO other SELECT string_agg(md5(random()::text), '') FROM"
        " generate_series(1, 24) AS piece, generate_series(1, 32768) AS word GROUP BY piece");
    postgres.reconfigure("max_slot_wal_keep_size = '1MB'");
    ASSERT_TRUE(
        relay->comes_to_say("/metrics", "walrelay_slot_wal_status{status=\"unreserved\"} 1"));
    expect_alerts(
        {"WalrelayLag", "WalrelayBrokerStuck", "WalrelaySlotEndangered", "WalrelaySlotRetention"});
    postgres.reconfigure("max_slot_wal_keep_size = '-1'");
    broker.resume();
    has_each_row_once();
}

}  // namespace
}  // namespace walrelay::test
