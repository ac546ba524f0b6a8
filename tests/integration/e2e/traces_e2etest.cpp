// Spans of rows that belong to a sampled trace reach a collector; without one, with one that is
// away or never answers, rows are relayed all the same.
#include "integration/e2e/answering_relay.hpp"
#include "support/free_port.hpp"
#include "support/trace_collector.hpp"

#include <gmock/gmock.h>

#include <chrono>
#include <map>
#include <string>

namespace walrelay::test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

const std::string trace = "4bf92f3577b34da6a3ce929d0e0e4736";

std::string parent_with(const std::string& flags) {
    return "00-" + trace + "-00f067aa0ba902b7-" + flags;
}

class Traces : public e2e_test {
protected:
    Traces() { bench.create_table(); }

    void insert(std::uint64_t number, const std::string& metadata) const {
        const auto version = std::to_string(number);
        bench.execute(
            "INSERT INTO outbox_events (id, aggregate_id, aggregate_type, event_type, event_data,"
            " metadata, status, version, created_at) VALUES (" +
            as_literal(event_id(number)) + ", 'a', 'order', 'placed', '{}', " +
            as_literal(metadata) + ", 'pending', " + version + ", now())");
    }
    void insert_traced(std::uint64_t number, const std::string& parent) const {
        insert(number, R"({"traceparent": ")" + parent + R"(", "tracestate": "vendor=1"})");
    }

    static std::map<std::string, std::string> to(const std::string& url) {
        return {{"WALRELAY_TRACES_ENDPOINT", url},
                {"WALRELAY_TRACES_HEADERS", "{ Authorization = \"Bearer s3cret\" }"},
                {"WALRELAY_TRACES_SERVICE_NAME", "orders relay"}};
    }

    /// How long the relay takes to end on SIGTERM.
    static std::chrono::steady_clock::duration time_to_stop(answering_relay& relay) {
        const auto begun = std::chrono::steady_clock::now();
        EXPECT_EQ(relay.process().stop(patience), 0) << relay.process().log();
        return std::chrono::steady_clock::now() - begun;
    }
};

std::string result(const std::string& name, int spans) {
    return "walrelay_trace_spans_total{result=\"" + name + "\"} " + std::to_string(spans) + "\n";
}

TEST_P(Traces, HaveASpanForEachRowOfASampledTrace) {
    const trace_collector collector;
    answering_relay relay(bench, "relay", to(collector.url()));
    ASSERT_TRUE(relay.is("streaming", true, true));
    insert_traced(1, parent_with("01"));
    insert_traced(2, parent_with("00"));
    insert_traced(3, "00-nonsense-01");
    insert(4, "{}");
    ASSERT_TRUE(bench.wait_for_messages(4));
    ASSERT_TRUE(relay.comes_to_say("/metrics", result("exported", 1))) << relay.process().log();
    EXPECT_TRUE(relay.says("/metrics", result("dropped", 0)));
    EXPECT_TRUE(relay.says("/metrics", result("failed", 0)));
    const auto asked = collector.requests();
    ASSERT_EQ(asked.size(), 1U);
    EXPECT_EQ(asked.front().target, "/v1/traces");
    EXPECT_THAT(asked.front().headers, HasSubstr("Authorization: Bearer s3cret\r\n"));
    const auto& body = asked.front().body;
    for (const auto& wanted :
         {R"("traceId":")" + trace + '"', std::string(R"("parentSpanId":"00f067aa0ba902b7")"),
          std::string(R"("traceState":"vendor=1")"), std::string(R"("name":"published")"),
          std::string(R"("name":"acked")"), event_id(1), std::string(R"("orders relay")"),
          R"("publish )" + bench.stream_name() + '"',
          std::string(R"("key":"walrelay.stream_sequence","value":{"intValue":"1"})")}) {
        EXPECT_THAT(body, HasSubstr(wanted));
    }
    EXPECT_THAT(body, Not(HasSubstr(event_id(2))));
    // The message stays as it was.
    EXPECT_EQ(bench.messages().front().header("traceparent"), parent_with("01"));
    EXPECT_THAT(relay.process().log(), Not(HasSubstr("s3cret")));
}

TEST_P(Traces, AreSentBeforeTheRelayEnds) {
    const trace_collector collector;
    answering_relay relay(bench, "relay", to(collector.url()));
    ASSERT_TRUE(relay.is("streaming", true, true));
    insert_traced(1, parent_with("01"));
    ASSERT_TRUE(bench.wait_for_messages(1));
    EXPECT_EQ(relay.process().stop(patience), 0);
    EXPECT_THAT(collector.bodies(), HasSubstr(event_id(1)));
}

TEST_P(Traces, AreGivenUpWhileTheCollectorIsAwayAndGoOnAfterThat) {
    const auto port = free_port();
    answering_relay relay(bench, "relay", to("http://127.0.0.1:" + std::to_string(port)));
    ASSERT_TRUE(relay.is("streaming", true, true));
    insert_traced(1, parent_with("01"));
    ASSERT_TRUE(bench.wait_for_messages(1));
    ASSERT_TRUE(relay.comes_to_say("/metrics", result("failed", 1)));
    ASSERT_TRUE(relay.process().wait_for_log(
        "spans do not reach the collector at 127.0.0.1:" + std::to_string(port), patience));
    EXPECT_EQ(relay.get("/readyz").status, 200);
    insert_traced(2, parent_with("01"));
    ASSERT_TRUE(relay.comes_to_say("/metrics", result("failed", 2)));
    const trace_collector collector(port);
    insert_traced(3, parent_with("01"));
    ASSERT_TRUE(relay.comes_to_say("/metrics", result("exported", 1)));
    EXPECT_TRUE(relay.process().wait_for_log("spans reach the collector at", patience));
    const auto log = relay.process().log();
    const std::string told = "spans do not reach the collector";
    EXPECT_EQ(log.find(told), log.rfind(told)) << log;
    EXPECT_THAT(log, Not(HasSubstr("s3cret")));
    ASSERT_TRUE(bench.wait_for_messages(3));
}

TEST_P(Traces, OfACollectorThatNeverAnswersHoldNothingUp) {
    trace_collector collector;
    collector.fall_silent();
    answering_relay relay(bench, "relay", to(collector.url()));
    ASSERT_TRUE(relay.is("streaming", true, true));
    insert_traced(1, parent_with("01"));
    ASSERT_TRUE(eventually(patience, [&] { return collector.requests().size() == 1; }));
    // More than can wait.
    bench.execute(
        "INSERT INTO outbox_events (id, aggregate_id, aggregate_type, event_type, event_data,"
        " metadata, status, version, created_at) SELECT gen_random_uuid(), 'a', 'order', 'placed',"
        " '{}', '{\"traceparent\": \"" +
        parent_with("01") + "\"}', 'pending', n, now() FROM generate_series(2, 6001) n");
    ASSERT_TRUE(bench.wait_for_messages(6001));
    EXPECT_FALSE(relay.says("/metrics", result("dropped", 0)));
    EXPECT_EQ(relay.get("/readyz").status, 200);
    EXPECT_TRUE(bench.confirmed_reaches(bench.wal_end()));
    EXPECT_LT(time_to_stop(relay), 10s);
}

TEST_P(Traces, AreOffWhereNoCollectorIsNamed) {
    answering_relay relay(bench, "relay");
    ASSERT_TRUE(relay.is("streaming", true, true));
    insert_traced(1, parent_with("01"));
    ASSERT_TRUE(bench.wait_for_messages(1));
    EXPECT_FALSE(relay.says("/metrics", "walrelay_trace_spans_total"));
}

INSTANTIATE_TEST_SUITE_P(Plugins, Traces, both_plugins(), plugin_name);

}  // namespace
}  // namespace walrelay::test
