// Nights of the broker and of the stream.
#include "incidents/incident.hpp"

#include <regex>

namespace walrelay::test {
namespace {

class BrokerIncident : public incident {};

TEST_F(BrokerIncident, AQuietNight) {
    begin();
    tells({"streaming", true, true, "caught up", {}});
    has_each_row_once();
}

TEST_F(BrokerIncident, TheBrokerIsGone) {
    begin();
    broker.kill_9();
    bench.execute(insert_events(101, 110));
    tells({"waiting_broker", false, true, "broker", {"WalrelayWaiting", "WalrelayLag"}});
    broker.start();
    has_each_row_once();
}

TEST_F(BrokerIncident, TheBrokerStandsStill) {
    begin();
    broker.freeze();
    bench.execute(insert_events(101, 110));
    ASSERT_TRUE(relay->comes_to_say("/status", "\"window\":{\"messages\":10"));
    const auto first = read_metrics();
    const std::string answers_nothing = "\"alert\":\"WalrelayBrokerStuck\"";
    const std::string given_up = "\"state\":\"waiting_broker\"";
    ASSERT_TRUE(eventually(patience, [&] {
        const auto json = relay->get("/status").body;
        return has(json, answers_nothing) || has(json, given_up);
    }));
    // The relay asks whether it lives, and gives the connection up after ten seconds or more: as
    // long as it has not, nothing but the silence is known.
    if (const auto second = read_metrics();
        is_in(first, "streaming") && is_in(second, "streaming")) {
        expect_alerts_between(first, second, {"WalrelayLag", "WalrelayBrokerStuck"});
    }
    tells({"waiting_broker", false, true, "broker", {"WalrelayWaiting", "WalrelayLag"}},
          heard::by_asking);
    broker.resume();
    has_each_row_once();
}

TEST_F(BrokerIncident, TheStreamIsFull) {
    begin();
    ASSERT_TRUE(bench.wait_until_marked());
    bench.broker().limit(bench.stream_name(), 100);
    bench.execute(insert_events(101, 110));
    tells({"waiting_broker",
           false,
           true,
           "maximum messages exceeded",
           {"WalrelayWaiting", "WalrelayLag"},
           "takes no messages for stream",
           "",
           "takes no messages for stream"});
    bench.broker().limit(bench.stream_name(), -1);
    has_each_row_once();
}

TEST_F(BrokerIncident, TheStreamIsDeleted) {
    begin();
    strikes();
    bench.broker().remove(bench.stream_name());
    bench.execute(insert_events(101, 110));
    tells({"halted", false, false, bench.stream_name(), {"WalrelayHalted"}});
    // It is gone for good.
    ASSERT_NO_FATAL_FAILURE(takes_offer("init --new-stream"));
    is_healed();
}

TEST_F(BrokerIncident, TheBrokerIsSlow) {
    begin();
    const auto first = read_metrics();
    // Too short for the connection to be given up: these are acked, late.
    broker.freeze();
    bench.execute(insert_events(101, 200));
    ASSERT_TRUE(eventually(patience, [&] {
        return std::regex_search(relay->get("/metrics").body,
                                 std::regex("\nwalrelay_oldest_unacked_seconds ([2-9]|1[.][5-9])"));
    }));
    broker.resume();
    ASSERT_TRUE(bench.confirms_messages(200)) << relay->process().log();
    ASSERT_TRUE(relay->is("streaming", true, true));
    EXPECT_TRUE(std::regex_search(status().output, std::regex("slowest +[1-9]")))
        << status().output;
    expect_alerts_since(first, {"WalrelaySlow"});
    strikes();
    tells({"streaming", true, true, "caught up", {}, "slowest ", "\"slowest\":{\"seconds\":"});
    has_each_row_once();
}

TEST_F(BrokerIncident, MessagesAreToExpire) {
    begin();
    ASSERT_TRUE(bench.wait_until_marked());
    ASSERT_NO_FATAL_FAILURE(is_about_to_look());
    strikes();
    bench.broker().expire(bench.stream_name(), std::chrono::hours(24));
    tells({"streaming",
           true,
           true,
           "code=stream_max_age",
           {"WalrelayFindings"},
           "deletes messages by age",
           "",
           "ready: streaming; found: stream_max_age\n"},
          heard::by_asking);
    bench.broker().expire(bench.stream_name(), std::chrono::hours(0));
    has_each_row_once();
}

TEST_F(BrokerIncident, OldMessagesMakeRoomForNewOnes) {
    begin();
    ASSERT_TRUE(bench.wait_until_marked());
    // What was so from the first look on is no news.
    ASSERT_TRUE(relay->comes_to_say("/metrics", "facts_age_seconds{about=\"findings\"}"));
    ASSERT_NO_FATAL_FAILURE(is_about_to_look());
    strikes();
    bench.broker().keep_newest(bench.stream_name(), 50);
    // Streams that keep the newest are what many want: it is said once, and wakes nobody.
    tells({"streaming",
           true,
           true,
           "[finding_noted code=stream_removes_oldest]",
           {},
           "",
           "",
           "ready: streaming\n"},
          heard::by_asking);
    bench.execute(insert_events(101, 110));
    ASSERT_TRUE(bench.confirms_messages(50)) << relay->process().log();
    EXPECT_EQ(bench.broker().state(bench.stream_name())->last_sequence, 110U);
}

}  // namespace
}  // namespace walrelay::test
