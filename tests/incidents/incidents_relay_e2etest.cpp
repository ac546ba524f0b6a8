// Nights of the relay itself: none, two, and one whose clock is wrong.
#include "incidents/incident.hpp"
#include "integration/e2e/clock_ahead.hpp"

namespace walrelay::test {
namespace {

class RelayIncident : public incident {};

TEST_F(RelayIncident, ARelayStandsBy) {
    begin();
    answering_relay leader = std::move(*relay);
    relay.emplace(bench, "second");
    ASSERT_TRUE(relay->is("standby", true, false));
}

TEST_F(RelayIncident, TheClockOfTheRelayIsWrong) {
    begin(clock_ahead());
    ASSERT_TRUE(relay->comes_to_say("/metrics", "walrelay_clock_offset_seconds"));
    expect_alerts({"WalrelayClockOff"});
    has_each_row_once();
}

TEST_F(RelayIncident, NoRelayRuns) {
    begin();
    expect_alerts_of_silence({"WalrelayAbsent"});
    relay->process().kill_9();
    bench.execute(insert_events(101, 110));
    const auto said = status();
    EXPECT_EQ(said.exit_code, 1);
    EXPECT_TRUE(has(said.output + said.errors, "no relay answers")) << said.output << said.errors;
    relay.emplace(bench, "again");
    has_each_row_once();
}

}  // namespace
}  // namespace walrelay::test
