// The search of the whole stream for rows, at a start: a stop does not wait for it.
#include "chaos/tcp_proxy.hpp"
#include "integration/e2e/relay_bench.hpp"
#include "support/eventually.hpp"

#include <gmock/gmock.h>

namespace walrelay::test {
namespace {

using chaos::direction;
using testing::HasSubstr;

class StartupCheck : public testing::TestWithParam<const char*> {
protected:
    void SetUp() override {
        bench.create_table();
        // So little is looked at before that it is there soon, also through the proxy.
        bench.set_delivery("window_messages = 256\non_slot_loss = 'heal'\n");
        bench.start();
        bench.execute(insert_events(1, rows));
        ASSERT_TRUE(bench.wait_for_messages(rows));
        ASSERT_TRUE(bench.confirmed_reaches(bench.wal_end()));
        bench.stop();
        // Newer than all messages, and its own is far behind the last ones.
        bench.execute("UPDATE outbox_events SET created_at = clock_timestamp() WHERE version = 1");
        // The whole stream takes some twenty seconds now.
        proxy.set(direction::to_client, {.bytes_per_second = 1'000'000});
    }
    void launch() {
        relay.emplace(relay_start{
            .program = WALRELAY_BINARY,
            .arguments = {"run", "--config", (bench.folder() / "walrelay.toml").string(), "--nats",
                          "nats://127.0.0.1:" + std::to_string(proxy.port())},
            .folder = bench.folder(),
            .name = "slow"});
    }
    /// In the midst of the stream, of which nothing else has read so much at once.
    void expect_prompt_end() {
        constexpr std::uint64_t well_within = 500'000;
        const auto before = proxy.passed_bytes(direction::to_client);
        ASSERT_TRUE(eventually(patience, [&] {
            return proxy.passed_bytes(direction::to_client) > before + well_within;
        }));
        // A batch that is under way is waited for.
        const auto code = relay->stop(8s);
        EXPECT_EQ(code, 0) << relay->log();
        EXPECT_THAT(relay->log(), HasSubstr("was not finished"));
    }

    static constexpr std::uint64_t rows = 40'000;
    nats_server nats;
    chaos::tcp_proxy proxy{nats.port()};
    relay_bench bench{shared_postgres(), nats, GetParam()};
    std::optional<relay_process> relay;
};

TEST_P(StartupCheck, OfTheNewestRowsDoesNotHoldUpAStop) {
    launch();
    ASSERT_TRUE(relay->wait_for_log("startup check: looking for", patience)) << relay->log();
    expect_prompt_end();
}

TEST_P(StartupCheck, OfAllRowsDoesNotHoldUpAStop) {
    bench.session().execute("SELECT pg_drop_replication_slot('" + bench.name() + "')");
    launch();
    ASSERT_TRUE(relay->wait_for_log("taking a snapshot", patience)) << relay->log();
    expect_prompt_end();
}

INSTANTIATE_TEST_SUITE_P(, StartupCheck, both_plugins(), plugin_name);

}  // namespace
}  // namespace walrelay::test
