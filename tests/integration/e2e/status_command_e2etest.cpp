// `walrelay status`: as the relay says, or the servers where there is none; its exit code as a
// command for health.
#include "integration/e2e/answering_relay.hpp"
#include "support/free_port.hpp"
#include "support/temporary_folder.hpp"

#include <algorithm>
#include <csignal>

namespace walrelay::test {
namespace {

class StatusCommand : public testing::Test {
protected:
    void SetUp() override { bench.create_table(); }

    finished_run status(const std::string& listen, std::vector<std::string> more = {}) {
        const auto file = bench.folder() / "walrelay.toml";
        std::ofstream(file) << bench.configuration();
        relay_start how{.program = WALRELAY_BINARY,
                        .arguments = {"status", "--config", file.string()},
                        .folder = bench.folder(),
                        .environment = {{"WALRELAY_HTTP_LISTEN", listen}},
                        .name = "status" + std::to_string(++count_)};
        how.arguments.insert(how.arguments.end(), more.begin(), more.end());
        return run_to_end(how, patience);
    }
    finished_run status(const answering_relay& of, std::vector<std::string> more = {}) {
        return status("127.0.0.1:" + std::to_string(of.port()), std::move(more));
    }

    nats_server broker;
    relay_bench bench{shared_postgres(), broker, "pgoutput"};

private:
    int count_ = 0;
};

TEST_F(StatusCommand, ShowsTheRelayThatAnswers) {
    const answering_relay relay(bench, "relay");
    ASSERT_TRUE(relay.is("streaming", true, true));
    bench.execute(insert_event(1));
    ASSERT_TRUE(
        relay.comes_to_say("/metrics", "walrelay_messages_stored_total{source=\"live\"} 1\n"));
    const auto shown = status(relay);
    EXPECT_EQ(shown.exit_code, 0) << shown.errors;
    EXPECT_TRUE(has(shown.output, "streaming for ")) << shown.output;
    EXPECT_TRUE(has(shown.output, ", holds the slot\n"));
    EXPECT_TRUE(has(shown.output, "id " + event_id(1)));
    EXPECT_TRUE(has(shown.output, "stored       1 message since the start, the last "));
    EXPECT_FALSE(has(shown.output, "0.0 rows/s, p50 ?")) << shown.output;
    const auto json = status(relay, {"--json"});
    EXPECT_EQ(json.exit_code, 0);
    EXPECT_TRUE(json.output.starts_with("{\"schema\":1,")) << json.output;
    const auto quiet = status(relay, {"--quiet"});
    EXPECT_EQ(quiet.exit_code, 0);
    EXPECT_EQ(quiet.output + quiet.errors, "");
}

/// As the health check of a container whose settings are flags of `run`.
TEST_F(StatusCommand, NeedsNoConfigurationToAskARelay) {
    const answering_relay relay(bench, "relay");
    ASSERT_TRUE(relay.is("streaming", true, true));
    const temporary_folder elsewhere("status");
    const auto ask = [&](std::uint16_t port) {
        return run_to_end(
            {.program = WALRELAY_BINARY,
             .arguments = {"status", "--quiet"},
             .folder = elsewhere.path(),
             .environment = {{"WALRELAY_HTTP_LISTEN", "127.0.0.1:" + std::to_string(port)}}},
            patience);
    };
    const auto ready = ask(relay.port());
    EXPECT_EQ(ready.exit_code, 0) << ready.errors;
    EXPECT_EQ(ask(free_port()).exit_code, 1) << "no relay is there";
}

TEST_F(StatusCommand, SaysWhyTheRelayIsNotReady) {
    const answering_relay relay(bench, "relay");
    ASSERT_TRUE(relay.is("streaming", true, true));
    broker.stop();
    ASSERT_TRUE(relay.is("waiting_broker", false, true));
    const auto shown = status(relay);
    EXPECT_EQ(shown.exit_code, 1);
    EXPECT_TRUE(has(shown.output, "waiting broker for ")) << shown.output;
    EXPECT_TRUE(has(shown.output, "last trouble ")) << shown.output;
    EXPECT_TRUE(has(shown.output, "reason       ")) << shown.output;
    EXPECT_EQ(status(relay, {"--quiet"}).exit_code, 1);
}

TEST_F(StatusCommand, AsksTheServersWhereNoRelayAnswers) {
    ASSERT_EQ(bench.command({"init"}).exit_code, 0);
    bench.start();
    bench.execute(insert_events(1, 3));
    ASSERT_TRUE(bench.wait_for_messages(3));
    for (const std::string listen : {"127.0.0.1:1", "off"}) {
        const auto shown = status(listen);
        EXPECT_EQ(shown.exit_code, 1);
        EXPECT_TRUE(has(shown.output, "no relay answers at " + listen)) << shown.output;
        EXPECT_TRUE(has(shown.output, " of WAL, reserved")) << shown.output;
        EXPECT_TRUE(has(shown.output, "3 messages, ")) << shown.output;
        EXPECT_TRUE(has(shown.output, "dead letters 0 of rows")) << shown.output;
    }
    const auto quiet = status("127.0.0.1:1", {"--quiet"});
    EXPECT_EQ(quiet.exit_code, 1);
    EXPECT_EQ(quiet.output, "");
}

TEST_F(StatusCommand, SaysWhatTheServersLack) {
    const auto shown = status("off");
    EXPECT_EQ(shown.exit_code, 1);
    EXPECT_TRUE(has(shown.output, "there is no such slot")) << shown.output;
    EXPECT_TRUE(has(shown.output, "there is no such stream")) << shown.output;
    broker.stop();
    const auto without = status("off");
    EXPECT_TRUE(has(without.output, "cannot be reached")) << without.output;
}

TEST_F(StatusCommand, TakesNoOtherServerForARelay) {
    const auto shown = status("127.0.0.1:" + std::to_string(broker.port()));
    EXPECT_EQ(shown.exit_code, 1);
    EXPECT_TRUE(has(shown.output, "no relay answers at")) << shown.output;
}

TEST_F(StatusCommand, ShowsItAgainEverySecond) {
    const answering_relay relay(bench, "relay");
    ASSERT_TRUE(relay.is("streaming", true, true));
    relay_process watching(
        {.program = WALRELAY_BINARY,
         .arguments = {"status", "--watch", "--json", "--config",
                       (bench.folder() / "walrelay.toml").string()},
         .folder = bench.folder(),
         .environment = {{"WALRELAY_HTTP_LISTEN", "127.0.0.1:" + std::to_string(relay.port())}},
         .name = "watching"});
    EXPECT_TRUE(eventually(patience, [&] {
        const auto text = watching.process().standard_output();
        return std::ranges::count(text, '\n') >= 3;
    }));
    watching.process().signal(SIGINT);
    EXPECT_TRUE(watching.process().wait_exit(patience));
}

}  // namespace
}  // namespace walrelay::test
