// A Prometheus that scrapes a relay: every alert that is shipped fires at its fault and at no other
// time, and the series tell the true story of a run with faults.
#include "integration/e2e/answering_relay.hpp"
#include "integration/e2e/background_writer.hpp"
#include "integration/e2e/clock_ahead.hpp"
#include "integration/e2e/prometheus.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace walrelay::test {
namespace {

const std::string rules_file = WALRELAY_MONITORING "/alerts.yaml";

std::string shipped_rules() {
    std::ifstream file(rules_file);
    return {std::istreambuf_iterator<char>(file), {}};
}

std::set<std::string> shipped_alerts() {
    const auto text = shipped_rules();
    const std::regex name("alert: ([A-Za-z]+)");
    std::set<std::string> names;
    for (std::sregex_iterator at(text.begin(), text.end(), name), end; at != end; ++at) {
        names.insert((*at)[1]);
    }
    return names;
}

/// What is shipped, with times and sizes that a test can wait for.
std::string quick_rules() {
    auto text = shipped_rules();
    text = std::regex_replace(text, std::regex("for: [0-9]+[mh]"), "for: 1s");
    text = std::regex_replace(text, std::regex("\\[[0-9]+m\\]"), "[20s]");
    const std::vector<std::pair<std::string, std::string>> limits{
        {"walrelay_lag_seconds > 30\n", "walrelay_lag_seconds > 2\n"},
        {"walrelay_lag_seconds > 300\n", "walrelay_lag_seconds > 3\n"},
        {"> 10e9", "> 10e6"},
        {"walrelay_oldest_unacked_seconds > 30\n", "walrelay_oldest_unacked_seconds > 2\n"},
        {"walrelay_cleanup_lag_seconds > 86400\n", "walrelay_cleanup_lag_seconds > 1\n"},
        {"walrelay_slot_danger_seconds < 3600\n", "walrelay_slot_danger_seconds < 1\n"}};
    for (const auto& [from, to] : limits) {
        const auto at = text.find(from);
        if (at == std::string::npos) {
            throw std::runtime_error("the rules do not say " + from);
        }
        text.replace(at, from.size(), to);
    }
    return text;
}

const std::set<std::string> of_relaying{
    "WalrelayAbsent",         "WalrelayHalted",       "WalrelayLag",
    "WalrelaySlotRetention",  "WalrelaySlow",         "WalrelayFlapping",
    "WalrelaySlotEndangered", "WalrelayBrokerStuck",  "WalrelayFindings",
    "WalrelayDeadLetters",    "WalrelayCleanupBehind"};
const std::set<std::string> of_surroundings{"WalrelayWaiting", "WalrelayClockOff",
                                            "WalrelayTrailCut", "WalrelayReplayStalled"};

TEST(ShippedAlerts, FireInOneOfTheTests) {
    auto all = of_relaying;
    all.insert(of_surroundings.begin(), of_surroundings.end());
    EXPECT_EQ(all, shipped_alerts());
}

class Alerts : public testing::Test {
protected:
    Alerts() { bench.create_table(); }

    testing::AssertionResult fires(const std::string& alert, const std::string& severity = "") {
        fired.insert(alert);
        return eventually(patience, [&] { return watch.is_firing(alert, severity); })
                   ? testing::AssertionSuccess()
                   : testing::AssertionFailure()
                         << alert << " never fires: " << watch.query("{job=\"walrelay\"}");
    }
    testing::AssertionResult ceases(const std::string& alert) {
        return eventually(patience, [&] { return !watch.is_firing(alert); })
                   ? testing::AssertionSuccess()
                   : testing::AssertionFailure() << alert << " fires for ever";
    }
    void expect_flapping_to_be_told() {
        for (int time = 0; time < 8; ++time) {
            ASSERT_TRUE(eventually(patience, [&] { return bench.streaming(); }));
            (void)bench.slot("pg_terminate_backend(active_pid)");
            ASSERT_TRUE(eventually(patience, [&] { return !bench.streaming(); }));
        }
        EXPECT_TRUE(fires("WalrelayFlapping"));
    }
    /// It looks soon after it has connected.
    void expect_findings_to_be_told() {
        ASSERT_TRUE(eventually(patience, [&] { return bench.streaming(); }));
        const auto stored = bench.broker().message_count(bench.stream_name());
        bench.broker().limit(bench.stream_name(), static_cast<std::int64_t>(stored));
        (void)bench.slot("pg_terminate_backend(active_pid)");
        EXPECT_TRUE(fires("WalrelayFindings"));
        bench.broker().limit(bench.stream_name(), -1);
    }
    void expect_latency_by_the_clock_of_postgres() {
        const std::string count = "sum(walrelay_commit_to_ack_seconds_count)";
        const std::string sum = "sum(walrelay_commit_to_ack_seconds_sum)";
        const auto messages = watch.value_of(count).value_or(0);
        const auto took = watch.value_of(sum).value_or(0);
        bench.execute(insert_event(3'000'000));
        ASSERT_TRUE(
            eventually(patience, [&] { return watch.value_of(count).value_or(0) > messages; }));
        EXPECT_LT(watch.value_of(sum).value_or(0) - took, 45);
    }
    /// After the first of its two batches.
    void break_a_replay_off() {
        ASSERT_EQ(bench.command({"init"}).exit_code, 0);
        bench.start();
        bench.execute("SELECT pg_copy_logical_replication_slot('" + bench.name() + "', '" +
                      bench.name() + "_at_before')");
        bench.execute(insert_events(1, 1300));
        ASSERT_TRUE(bench.wait_for_messages(1300));
        ASSERT_TRUE(bench.confirmed_reaches(bench.wal_end()));
        bench.stop();
        auto command = bench.begin({"replay", "--from", "bookmark:before", "--execute"});
        ASSERT_TRUE(eventually(patience, [&] {
            return bench.session().value_of(
                       "SELECT coalesce(max(rows_written), 0) FROM walrelay.replay") == "1000";
        })) << command.log();
        command.kill_9();
    }
    testing::AssertionResult is_quiet() {
        return eventually(patience, [&] { return !watch.value_of("ALERTS"); })
                   ? testing::AssertionSuccess()
                   : testing::AssertionFailure() << watch.query("ALERTS");
    }

    postgres_server postgres;
    nats_server broker;
    relay_bench bench{postgres, broker, "pgoutput"};
    prometheus watch{quick_rules()};
    std::set<std::string> fired;
};

TEST_F(Alerts, FireEachAtItsFault) {
    bench.execute("CREATE TABLE other (x text)");
    bench.set_delivery(
        "on_halt = 'stay'\nack_timeout = '5m'\nmax_row_bytes = '64KiB'\nbackoff_max = '500ms'");
    bench.set_outbox(
        "[[outbox]]\ntable = 'outbox_events'\nsubject = '%.{aggregate_type}'\n"
        "delete_after = '1s'\n");
    EXPECT_TRUE(fires("WalrelayAbsent"));

    const answering_relay relay(bench, "relay");
    watch.scrape(relay.port());
    ASSERT_TRUE(relay.is("streaming", true, true));
    bench.execute(insert_events(1, 100));
    ASSERT_TRUE(bench.wait_for_messages(100));
    EXPECT_TRUE(ceases("WalrelayAbsent"));
    EXPECT_TRUE(is_quiet());

    bench.execute(
        "INSERT INTO outbox_events (id, aggregate_id, aggregate_type, event_type, event_data,"
        " status, version, created_at) VALUES (gen_random_uuid(), 'a', 'order', 'placed',"
        " jsonb_build_object('x', repeat('x', 100000)), 'pending', 1, now())");
    EXPECT_TRUE(fires("WalrelayDeadLetters"));

    auto locker = bench.session();
    locker.execute(insert_events(101, 103));
    locker.execute("BEGIN");
    locker.execute("LOCK TABLE outbox_events IN ACCESS EXCLUSIVE MODE");
    EXPECT_TRUE(fires("WalrelayCleanupBehind"));
    locker.execute("COMMIT");
    EXPECT_TRUE(ceases("WalrelayCleanupBehind"));
    ASSERT_TRUE(bench.confirmed_reaches(bench.wal_end()));

    broker.freeze();
    bench.execute(insert_events(104, 203));
    bench.execute(
        "INSERT INTO other SELECT string_agg(md5(random()::text), '') FROM"
        " generate_series(1, 24) AS piece, generate_series(1, 32768) AS word GROUP BY piece");
    // In this order: after three pings without an answer the connection is given up, and the relay
    // waits for a broker.
    EXPECT_TRUE(fires("WalrelayBrokerStuck"));
    EXPECT_TRUE(fires("WalrelayLag", "warning"));
    EXPECT_TRUE(fires("WalrelayLag", "critical"));
    EXPECT_TRUE(fires("WalrelaySlotRetention"));
    postgres.reconfigure("max_slot_wal_keep_size = '1MB'");
    EXPECT_TRUE(fires("WalrelaySlotEndangered"));
    postgres.reconfigure("max_slot_wal_keep_size = '-1'");
    broker.resume();
    EXPECT_TRUE(ceases("WalrelayLag"));
    EXPECT_TRUE(ceases("WalrelayBrokerStuck"));
    EXPECT_TRUE(ceases("WalrelaySlotEndangered"));

    // Too short for the connection to be given up: these are acked, late.
    broker.freeze();
    bench.execute(insert_events(204, 303));
    EXPECT_TRUE(eventually(
        patience, [&] { return watch.value_of("walrelay_lag_seconds > 1.2").has_value(); }));
    broker.resume();
    EXPECT_TRUE(fires("WalrelaySlow"));

    expect_flapping_to_be_told();

    expect_findings_to_be_told();
    ASSERT_TRUE(eventually(patience, [&] { return bench.streaming(); }));
    bench.execute("ALTER TABLE outbox_events RENAME TO elsewhere");
    (void)bench.slot("pg_terminate_backend(active_pid)");
    EXPECT_TRUE(fires("WalrelayHalted"));
    EXPECT_EQ(fired, of_relaying);
}

TEST_F(Alerts, FireAtWhatIsAroundTheRelay) {
    bench.set_delivery("backoff_max = '500ms'");
    bench.set_replay("keep = '1h'\nmax_wal = '4MiB'");
    ASSERT_NO_FATAL_FAILURE(break_a_replay_off());
    {
        const answering_relay ahead(bench, "ahead", clock_ahead());
        watch.scrape(ahead.port());
        EXPECT_TRUE(fires("WalrelayClockOff"));
        EXPECT_TRUE(fires("WalrelayReplayStalled"));
        expect_latency_by_the_clock_of_postgres();
    }
    ASSERT_EQ(bench.command({"replay", "cancel", "1"}).exit_code, 0);
    const answering_relay relay(bench, "relay");
    watch.scrape(relay.port());
    ASSERT_TRUE(relay.is("streaming", true, true));
    EXPECT_TRUE(ceases("WalrelayClockOff"));
    EXPECT_TRUE(ceases("WalrelayReplayStalled"));

    ASSERT_EQ(bench.command({"bookmark", "create", "old"}).exit_code, 0);
    fired.insert("WalrelayTrailCut");
    EXPECT_TRUE(eventually(patience, [&] {
        bench.execute("SELECT pg_logical_emit_message(false, 'filler', repeat('x', 1000000))");
        bench.execute(insert_event(2'000'000));
        bench.execute("DELETE FROM outbox_events WHERE version > 1300");
        return watch.is_firing("WalrelayTrailCut");
    }));

    // Away for longer than what is called flapping, by the number of tries.
    broker.kill_9();
    EXPECT_TRUE(fires("WalrelayWaiting"));
    EXPECT_TRUE(eventually(patience, [&] {
        return watch.value_of("walrelay_reconnects_total{side=\"nats\",reason=\"unavailable\"} > 8")
            .has_value();
    }));
    EXPECT_FALSE(watch.is_firing("WalrelayFlapping"));
    broker.start();
    EXPECT_TRUE(ceases("WalrelayWaiting"));
    EXPECT_EQ(fired, of_surroundings);
}

class Scraped : public testing::Test {
protected:
    Scraped() {
        bench.create_table();
        // Resident memory is that of the relay then, and not what the allocator keeps ready for
        // each of the threads on which libpq and nats.c have ever connected.
        ::setenv("MALLOC_ARENA_MAX", "1", 1);
    }
    ~Scraped() override { ::unsetenv("MALLOC_ARENA_MAX"); }

    [[nodiscard]] double value(const std::string& expression) const {
        return watch.value_of(expression).value_or(-1);
    }
    void outage_of_the_broker() {
        broker.kill_9();
        EXPECT_TRUE(eventually(patience, [&] {
            return value("walrelay_lag_seconds") > 1 && value("walrelay_reading_paused") == 1;
        }));
        EXPECT_EQ(value("walrelay_state{state=\"waiting_broker\"}"), 1);
        broker.start();
        EXPECT_TRUE(falls());
    }
    void outage_of_postgres() {
        postgres.stop(postgres_stop::fast);
        EXPECT_TRUE(eventually(
            patience, [&] { return value("walrelay_state{state=\"waiting_postgres\"}") == 1; }));
        postgres.start();
        EXPECT_TRUE(falls());
    }
    [[nodiscard]] bool falls() {
        return eventually(patience, [&] {
            const auto lag = watch.value_of("walrelay_lag_seconds");
            return lag && *lag < 1 && value("walrelay_state{state=\"streaming\"}") == 1;
        });
    }

    postgres_server postgres;
    nats_server broker;
    relay_bench bench{postgres, broker, "pgoutput"};
    prometheus watch;
};

TEST_F(Scraped, SeriesTellTheTrueStoryOfFaults) {
    // It is full in each outage: a window keeps the memory of its messages.
    bench.set_delivery("window_messages = 64");
    const answering_relay relay(bench, "relay");
    watch.scrape(relay.port());
    ASSERT_TRUE(relay.is("streaming", true, true));
    bench.execute(insert_event(1'000'000));
    ASSERT_TRUE(bench.confirms_messages(1));
    background_writer writer(bench.conninfo());
    ASSERT_TRUE(
        eventually(patience, [&] { return value("sum(walrelay_messages_stored_total)") > 99; }));
    // What a relay needs once, it has after the first faults.
    for (int time = 0; time < 2; ++time) {
        outage_of_the_broker();
        outage_of_postgres();
    }
    const auto memory_before = value("process_resident_memory_bytes");
    outage_of_the_broker();
    outage_of_postgres();
    outage_of_the_broker();
    writer.stop();
    const auto rows = bench.committed_ids().size();
    ASSERT_TRUE(bench.wait_for_messages(rows));
    // Rows that were stored, messages of the stream and rows of the table are as many.
    EXPECT_TRUE(eventually(
        patience,
        [&] {
            return value("sum(walrelay_messages_stored_total)") == static_cast<double>(rows) &&
                   value("walrelay_stream_messages") == static_cast<double>(rows);
        }))
        << rows << " rows, " << watch.query("sum(walrelay_messages_stored_total)")
        << watch.query("walrelay_stream_messages")
        << watch.query("walrelay_messages_skipped_total");
    EXPECT_TRUE(eventually(patience, [&] { return value("walrelay_lag_seconds") == 0; }));
    EXPECT_GT(value("max_over_time(walrelay_lag_seconds[5m])"), 1);
    EXPECT_GT(value("walrelay_reading_paused_seconds_total"), 1);
    EXPECT_GE(value("sum(walrelay_reconnects_total{side=\"nats\"})"), 4);
    EXPECT_GE(value("sum(walrelay_reconnects_total{side=\"postgres\"})"), 3);
    constexpr double two_mib = 2 << 20U;
    const auto memory_after = value("process_resident_memory_bytes");
    EXPECT_LT(memory_after - memory_before, two_mib) << memory_before << " " << memory_after;
    std::cout << rows << " rows; memory " << memory_before << " -> " << memory_after << " bytes\n";
}

/// Whoever looks, often, costs the relay no memory.
TEST_F(Scraped, RequestsDoNotMakeTheRelayGrow) {
    const answering_relay relay(bench, "relay");
    ASSERT_TRUE(relay.is("streaming", true, true));
    bench.execute(insert_events(1, 1000));
    ASSERT_TRUE(bench.wait_for_messages(1000));
    const auto ask = [&](int times) {
        for (int time = 0; time < times; ++time) {
            for (const auto* const path :
                 {"/metrics", "/status", "/status/history", "/", "/app.js"}) {
                ASSERT_EQ(relay.get(path).status, 200) << path;
            }
        }
    };
    const auto resident = [&] {
        const auto text = relay.get("/metrics").body;
        const std::string name = "\nprocess_resident_memory_bytes ";
        return std::stod(text.substr(text.find(name) + name.size()));
    };
    ask(100);
    const auto before = resident();
    ask(1000);
    constexpr double two_mib = 2 << 20U;
    EXPECT_LT(resident() - before, two_mib);
}

}  // namespace
}  // namespace walrelay::test
