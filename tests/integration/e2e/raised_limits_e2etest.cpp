// The broker takes larger messages than before while a relay runs: it uses that without a restart,
// so that what was set aside can be retried and new rows pass.
#include "integration/e2e/relay_bench.hpp"
#include "support/eventually.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <sstream>

namespace walrelay::test {
namespace {

class RaisedLimits : public testing::TestWithParam<const char*> {
protected:
    RaisedLimits() {
        std::ifstream conf(nats.folder() / "nats.conf");
        std::stringstream all;
        all << conf.rdbuf();
        settings_ = all.str();
        bench.create_table();
    }
    void write_limit(const std::string& line) const {
        std::ofstream(nats.folder() / "nats.conf", std::ios::trunc) << settings_ << line;
    }
    static std::string insert_large(std::uint64_t number) {
        return "INSERT INTO outbox_events (id, aggregate_id, aggregate_type, event_type, "
               "event_data, status, version, created_at) VALUES ('" +
               event_id(number) +
               "', 'a', 'order', 'placed', to_jsonb(repeat('x', 5000)), 'pending', " +
               std::to_string(number) + ", now())";
    }
    void expect_set_aside() {
        bench.execute(insert_large(1));
        bench.execute(insert_event(2));
        ASSERT_TRUE(bench.wait_for_messages(1)) << bench.relay().log();
        ASSERT_TRUE(eventually(patience, [&] {
            return bench.session().value_of("SELECT count(*) FROM walrelay.dead_letter") == "1";
        })) << bench.relay().log();
    }
    void expect_all_pass() {
        ASSERT_TRUE(bench.relay().wait_for_log("the connection is made again to use it", patience))
            << bench.relay().log();
        ASSERT_TRUE(eventually(patience, [&] {
            bench.execute(insert_large(next_));
            next_ += 1;
            return bench.broker().message_count(bench.stream_name()) > 1;
        })) << bench.relay().log();
        const auto retried = bench.command({"dead-letter", "retry", "--all"});
        EXPECT_EQ(retried.exit_code, 0) << retried.errors;
        EXPECT_TRUE(eventually(patience, [&] {
            const auto events = bench.events();
            return std::ranges::any_of(
                events, [](const seen_event& each) { return each.id.starts_with(event_id(1)); });
        })) << bench.relay().log();
        bench.stop();
    }

    nats_server nats;
    relay_bench bench{shared_postgres(), nats, GetParam()};

private:
    std::string settings_;
    std::uint64_t next_ = 10;
};

TEST_P(RaisedLimits, OfTheServerAreUsed) {
    nats.stop();
    write_limit("max_payload: 2000\n");
    nats.start();
    bench.start();
    expect_set_aside();
    write_limit("");
    kill(nats.pid(), SIGHUP);
    expect_all_pass();
}

TEST_P(RaisedLimits, OfTheStreamAreUsed) {
    bench.start();
    ASSERT_TRUE(bench.wait_until_marked()) << bench.relay().log();
    bench.broker().limit_size(bench.stream_name(), 2000);
    ASSERT_TRUE(bench.relay().wait_for_log("from -1 to 2000 bytes", patience));
    expect_set_aside();
    bench.broker().limit_size(bench.stream_name(), -1);
    ASSERT_TRUE(bench.relay().wait_for_log("from 2000 to -1 bytes", patience));
    expect_all_pass();
}

INSTANTIATE_TEST_SUITE_P(, RaisedLimits, both_plugins(), plugin_name);

}  // namespace
}  // namespace walrelay::test
