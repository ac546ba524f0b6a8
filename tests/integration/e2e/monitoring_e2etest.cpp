// What a running relay says of itself over HTTP: /readyz, /leader, /metrics and /status agree in
// each state, and what was asked of a server is shown only while that server is there.
#include "integration/e2e/answering_relay.hpp"

#include <csignal>
#include <fstream>

namespace walrelay::test {
namespace {

class Monitoring : public e2e_test {
protected:
    Monitoring() { bench.create_table(); }

    [[nodiscard]] static std::string outbox() {
        return "[[outbox]]\ntable = 'outbox_events'\nsubject = '%.{aggregate_type}'\n";
    }
};

TEST_P(Monitoring, ShowsARelayThatStreams) {
    answering_relay relay(bench, "relay");
    ASSERT_TRUE(relay.is("streaming", true, true));
    bench.execute(insert_events(1, 3));
    ASSERT_TRUE(bench.wait_for_messages(3));
    EXPECT_TRUE(
        relay.comes_to_say("/metrics", "walrelay_messages_stored_total{source=\"live\"} 3\n"));
    EXPECT_TRUE(
        relay.says("/metrics", "walrelay_rows_received_total{table=\"public.outbox_events\"} 3\n"));
    EXPECT_TRUE(relay.says("/metrics", "walrelay_commit_to_ack_seconds_count 3\n"));
    EXPECT_TRUE(relay.says("/metrics", "walrelay_lag_seconds 0\n"));
    EXPECT_TRUE(relay.says("/status", "\"messages_stored\":3"));
    EXPECT_TRUE(relay.says("/status", "\"plugin\":\"" + bench.plugin() + "\""));
    EXPECT_TRUE(relay.says("/status", "\"slowest\":{\"seconds\":"));
    EXPECT_TRUE(relay.says("/status", "\"text\":\"streaming from slot"));
    EXPECT_TRUE(relay.comes_to_say("/status/history", "\"samples\":[["));
}

TEST_P(Monitoring, ShowsWhatTheServersSayOfSlotStreamAndDeadLetters) {
    bench.set_delivery("max_row_bytes = '64KiB'");
    answering_relay relay(bench, "relay");
    ASSERT_TRUE(relay.is("streaming", true, true));
    bench.execute(insert_events(1, 3));
    bench.execute(
        "INSERT INTO outbox_events (id, aggregate_id, aggregate_type, event_type, event_data,"
        " status, version, created_at) VALUES (" +
        as_literal(event_id(4)) +
        ", 'a', 'order', 'placed', jsonb_build_object('x', repeat('x', 100000)), 'pending', 4,"
        " now())");
    EXPECT_TRUE(relay.comes_to_say("/metrics", "walrelay_dead_letters{reason=\"row\"} 1\n"));
    EXPECT_TRUE(relay.says("/metrics", "walrelay_dead_letters{reason=\"broker\"} 0\n"));
    EXPECT_TRUE(relay.says("/metrics",
                           "walrelay_dead_letters_total{table=\"public.outbox_events\","
                           "reason=\"row\"} 1\n"));
    EXPECT_TRUE(relay.comes_to_say("/metrics", "walrelay_stream_messages 3\n"));
    EXPECT_TRUE(relay.says("/metrics", "walrelay_stream_last_sequence 3\n"));
    EXPECT_TRUE(relay.says("/metrics", "walrelay_slot_wal_status{status=\"reserved\"} 1\n"));
    EXPECT_TRUE(relay.says("/metrics", "walrelay_slot_retained_bytes "));
    EXPECT_TRUE(relay.says("/metrics", "walrelay_facts_age_seconds{about=\"slot\"} "));
    // No limit is set.
    EXPECT_FALSE(relay.says("/metrics", "walrelay_slot_safe_wal_bytes"));
}

TEST_P(Monitoring, NamesTheSlowestMessageInTheLog) {
    bench.set_outbox("slow = '1ms'\n" + outbox());
    answering_relay relay(bench, "relay");
    ASSERT_TRUE(relay.is("streaming", true, true));
    relay.process().process().signal(SIGSTOP);
    bench.execute(insert_event(1));
    // The row is to be old when the relay sees it, however fast this machine is.
    bench.execute("SELECT pg_sleep(0.01)");
    relay.process().process().signal(SIGCONT);
    EXPECT_TRUE(relay.process().wait_for_log(
        "from commit to ack: id " + event_id(1) + ", subject " + bench.name() + ".", patience))
        << relay.process().log();
    EXPECT_TRUE(relay.says("/status", "\"id\":\"" + event_id(1)));
}

TEST_P(Monitoring, ShowsHowFarTheCleanUpIs) {
    bench.set_outbox(outbox() + "delete_after = '1s'\n");
    answering_relay relay(bench, "relay");
    ASSERT_TRUE(relay.is("streaming", true, true));
    bench.execute(insert_events(1, 3));
    const std::string deleted =
        "walrelay_cleanup_rows_deleted_total{table=\"public.outbox_events\"} ";
    const std::string lag = "walrelay_cleanup_lag_seconds{table=\"public.outbox_events\"} ";
    EXPECT_TRUE(relay.comes_to_say("/metrics", deleted + "3\n"));
    EXPECT_TRUE(relay.comes_to_say("/metrics", lag + "0\n"));
    EXPECT_TRUE(relay.says("/status", "\"deleted\":3,\"cleanup_lag_seconds\":0,"));
    // Somebody else's lock: rows are due, and the lag rises.
    auto locker = bench.session();
    locker.execute(insert_events(4, 6));
    locker.execute("BEGIN");
    locker.execute("LOCK TABLE outbox_events IN ACCESS EXCLUSIVE MODE");
    EXPECT_TRUE(eventually(patience, [&] {
        const auto metrics = relay.get("/metrics").body;
        return has(metrics, lag) && !has(metrics, lag + "0\n") &&
               !has(metrics, "walrelay_cleanup_failures_total{reason=\"ended\"} 0\n");
    })) << relay.get("/metrics").body;
    locker.execute("COMMIT");
    EXPECT_TRUE(relay.comes_to_say("/metrics", deleted + "6\n"));
    EXPECT_TRUE(relay.comes_to_say("/metrics", lag + "0\n"));
}

/// The linter of Prometheus: names, units, types and help.
TEST_P(Monitoring, HasMetricsThatPromtoolTakes) {
    answering_relay relay(bench, "relay");
    ASSERT_TRUE(relay.is("streaming", true, true));
    bench.execute(insert_events(1, 3));
    ASSERT_TRUE(relay.comes_to_say("/metrics", "walrelay_stream_messages 3\n"));
    temporary_folder folder("promtool");
    const auto file = folder.path() / "metrics";
    std::ofstream(file) << relay.get("/metrics").body;
    const auto checked = run_to_end({.program = "/bin/sh",
                                     .arguments = {"-c", "promtool check metrics <metrics"},
                                     .folder = folder.path(),
                                     .name = "promtool"},
                                    patience);
    EXPECT_EQ(checked.exit_code, 0) << checked.output << checked.errors;
    EXPECT_EQ(checked.output + checked.errors, "");
}

/// The reader of Prometheus' own library for Python takes every line, and finds the trace of a row.
TEST_P(Monitoring, HasOpenMetricsForWhoWantsThem) {
    answering_relay relay(bench, "relay");
    ASSERT_TRUE(relay.is("streaming", true, true));
    const std::string trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    bench.execute(
        "INSERT INTO outbox_events (id, aggregate_id, aggregate_type, event_type, event_data,"
        " metadata, status, version, created_at) VALUES (" +
        as_literal(event_id(1)) + ", 'a', 'order', 'placed', '{}', '{\"traceparent\": \"00-" +
        trace + "-00f067aa0ba902b7-01\"}', 'pending', 1, now())");
    ASSERT_TRUE(relay.comes_to_say("/metrics", "walrelay_stream_messages 1\n"));
    http_connection prometheus(relay.port());
    ASSERT_TRUE(prometheus.send(
        "GET /metrics HTTP/1.1\r\nHost: localhost\r\nAccept: "
        "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;q=0.3\r\n\r\n"));
    const auto answer = prometheus.read();
    ASSERT_TRUE(answer);
    temporary_folder folder("openmetrics");
    const auto file = folder.path() / "metrics";
    std::ofstream(file) << answer->body;
    const std::string reader =
        "from prometheus_client.openmetrics.parser import text_fd_to_metric_families\n"
        "for family in text_fd_to_metric_families(open('metrics')):\n"
        "    for each in family.samples:\n"
        "        if each.exemplar: print(each.name, each.exemplar.labels['trace_id'])\n";
    const auto read = run_to_end({.program = "/usr/bin/python3",
                                  .arguments = {"-c", reader},
                                  .folder = folder.path(),
                                  .name = "python3"},
                                 patience);
    EXPECT_EQ(read.exit_code, 0) << read.output << read.errors << answer->body;
    EXPECT_EQ(read.output, "walrelay_commit_to_ack_seconds_bucket " + trace + "\n");
}

TEST_P(Monitoring, ShowsAStandbyAndItsTakeOver) {
    answering_relay first(bench, "first");
    ASSERT_TRUE(first.is("streaming", true, true));
    answering_relay second(bench, "second");
    EXPECT_TRUE(second.is("standby", true, false));
    EXPECT_FALSE(second.says("/metrics", "walrelay_lag_seconds"));
    EXPECT_TRUE(second.says("/status", "\"facts\":null"));
    EXPECT_TRUE(second.comes_to_say("/status", "\"application\":\"walrelay")) << "its holder";
    EXPECT_TRUE(first.says("/status", "\"holder\":{\"age_seconds\":null,\"facts\":null}"));
    ASSERT_EQ(first.process().stop(patience), 0);
    EXPECT_TRUE(second.is("streaming", true, true));
}

TEST_P(Monitoring, ShowsAHaltThatItStaysFor) {
    bench.set_delivery("on_halt = 'stay'\nbackoff_max = '1s'");
    bench.execute("ALTER TABLE outbox_events RENAME TO elsewhere");
    answering_relay relay(bench, "relay");
    ASSERT_TRUE(relay.comes_to_say("/readyz", "not ready: halted: "));
    EXPECT_TRUE(relay.comes_to_say("/status", "public.outbox_events"));
    EXPECT_EQ(relay.get("/healthz").status, 200);
    bench.execute("ALTER TABLE elsewhere RENAME TO outbox_events");
    // On the same port, in the next life of the relay.
    EXPECT_TRUE(relay.is("streaming", true, true));
    bench.execute(insert_event(1));
    EXPECT_TRUE(
        relay.comes_to_say("/metrics", "walrelay_messages_stored_total{source=\"live\"} 1\n"));
}

TEST_P(Monitoring, ShowsAHaltUntilItIsResumed) {
    bench.set_delivery("on_halt = 'stay'");
    answering_relay relay(bench, "relay");
    ASSERT_TRUE(relay.is("streaming", true, true));
    bench.execute(insert_event(1));
    ASSERT_TRUE(bench.wait_for_messages(1));
    ASSERT_TRUE(bench.confirmed_reaches(bench.wal_end()));
    relay.process().process().signal(SIGSTOP);
    (void)bench.slot("pg_terminate_backend(active_pid)");
    ASSERT_TRUE(eventually(patience, [&] { return bench.slot("active") == "f"; }));
    bench.execute(insert_event(2));
    bench.execute("SELECT pg_replication_slot_advance(" + as_literal(bench.name()) +
                  ", pg_current_wal_lsn())");
    relay.process().process().signal(SIGCONT);
    EXPECT_TRUE(relay.is("halted", false, false));
    EXPECT_TRUE(relay.says("/status", "walrelay resume"));
    EXPECT_TRUE(relay.says("/status", "\"lag_seconds\":null"));
    EXPECT_FALSE(relay.says("/metrics", "walrelay_lag_seconds"));
    // It is shown a moment before it is kept.
    ASSERT_TRUE(eventually(patience, [&] {
        return bench.command({"resume", "--heal"}).output.find("is halted") != std::string::npos;
    }));
    EXPECT_TRUE(relay.is("streaming", true, true));
    // What was counted before the halt is counted still.
    EXPECT_TRUE(relay.says("/metrics", "walrelay_messages_stored_total{source=\"live\"} 1\n"));
}

INSTANTIATE_TEST_SUITE_P(Plugins, Monitoring, both_plugins(), plugin_name);

TEST(MonitoringOutage, OfTheBrokerIsShown) {
    nats_server broker;
    relay_bench bench(shared_postgres(), broker, "pgoutput");
    bench.create_table();
    const answering_relay relay(bench, "relay");
    ASSERT_TRUE(relay.is("streaming", true, true));
    bench.execute(insert_event(1));
    ASSERT_TRUE(bench.confirms_messages(1));
    EXPECT_TRUE(relay.comes_to_say("/metrics", "walrelay_stream_messages 1\n"));
    broker.kill_9();
    // The slot is held, and the row waits.
    EXPECT_TRUE(relay.is("waiting_broker", false, true));
    bench.execute(insert_event(2));
    EXPECT_TRUE(relay.comes_to_say("/status", "\"window\":{\"messages\":1"));
    EXPECT_FALSE(relay.says("/metrics", "walrelay_stream_messages"));
    EXPECT_TRUE(relay.says("/metrics", "walrelay_facts_age_seconds{about=\"stream\"} "));
    EXPECT_TRUE(
        eventually(patience, [&] { return !relay.says("/metrics", "walrelay_lag_seconds 0\n"); }));
    broker.start();
    EXPECT_TRUE(relay.is("streaming", true, true));
    EXPECT_TRUE(relay.comes_to_say("/metrics", "walrelay_stream_messages 2\n"));
    EXPECT_FALSE(
        relay.says("/metrics", "walrelay_reconnects_total{side=\"nats\",reason=\"ended\"} 0\n"));
}

TEST(MonitoringOutage, OfPostgresIsShown) {
    postgres_server postgres;
    relay_bench bench(postgres, shared_nats(), "pgoutput");
    bench.create_table();
    const answering_relay relay(bench, "relay");
    ASSERT_TRUE(relay.is("streaming", true, true));
    EXPECT_TRUE(relay.comes_to_say("/metrics", "walrelay_slot_lag_bytes "));
    postgres.stop(postgres_stop::fast);
    EXPECT_TRUE(relay.is("waiting_postgres", false, false));
    EXPECT_FALSE(relay.says("/metrics", "walrelay_slot_lag_bytes"));
    EXPECT_TRUE(relay.says("/metrics", "walrelay_facts_age_seconds{about=\"slot\"} "));
    postgres.start();
    EXPECT_TRUE(relay.is("streaming", true, true));
    EXPECT_TRUE(relay.comes_to_say("/metrics", "walrelay_slot_lag_bytes "));
}

TEST(MonitoringPort, ThatIsTakenEndsTheStart) {
    relay_bench bench(shared_postgres(), shared_nats(), "pgoutput");
    bench.create_table();
    const answering_relay relay(bench, "relay");
    const auto second = run_to_end(
        {.program = WALRELAY_BINARY,
         .arguments = {"run", "--config", (bench.folder() / "walrelay.toml").string()},
         .folder = bench.folder(),
         .environment = {{"WALRELAY_HTTP_LISTEN", "127.0.0.1:" + std::to_string(relay.port())}},
         .name = "second"},
        patience);
    EXPECT_EQ(second.exit_code, 2);
    EXPECT_TRUE(has(second.errors, "http.listen: 127.0.0.1:" + std::to_string(relay.port())));
    EXPECT_TRUE(has(second.errors, "choose another port"));
}

}  // namespace
}  // namespace walrelay::test
