// What a relay finds of itself while it runs: an edit that lets no row pass, and that nobody saw.
#include "integration/e2e/answering_relay.hpp"
#include "support/eventually.hpp"

#include <gmock/gmock.h>

namespace walrelay::test {
namespace {

using testing::HasSubstr;

/// It looks every minute.
constexpr std::chrono::seconds two_looks{135};

class SelfCheck : public testing::Test {
protected:
    relay_bench bench{shared_postgres(), shared_nats(), "pgoutput"};
};

TEST_F(SelfCheck, NamesAFullStreamAndThatItIsOver) {
    bench.create_table();
    answering_relay relay(bench, "relay");
    ASSERT_TRUE(relay.is("streaming", true, true));
    bench.execute(insert_event(1));
    ASSERT_TRUE(bench.wait_for_messages(1));
    ASSERT_TRUE(bench.wait_until_marked()) << relay.process().log();
    bench.broker().limit(bench.stream_name(), 1);
    EXPECT_TRUE(relay.process().wait_for_log("[finding code=stream_full]", two_looks))
        << relay.process().log();
    EXPECT_THAT(relay.get("/status").body, HasSubstr("\"code\":\"stream_full\""));
    EXPECT_THAT(relay.get("/metrics").body, HasSubstr("walrelay_findings{severity=\"warning\"} 1"));
    bench.broker().limit(bench.stream_name(), -1);
    EXPECT_TRUE(relay.process().wait_for_log("[finding_is_over code=stream_full]", two_looks))
        << relay.process().log();
}

}  // namespace
}  // namespace walrelay::test
