// Nights of the relay itself: none, two, and one whose clock is wrong.
#include "incidents/incident.hpp"
#include "integration/e2e/clock_ahead.hpp"

namespace walrelay::test {
namespace {

class RelayIncident : public incident {};

TEST_F(RelayIncident, ARelayStandsBy) {
    begin();
    answering_relay leader = std::move(*relay);
    strikes();
    relay.emplace(bench, "second");
    all_say({"standby", true, false, "[standing_by ", {}, "held by", "\"application\":\"walrelay"});
    leader.process().kill_9();
    bench.execute(insert_events(101, 110));
    has_each_row_once();
}

TEST_F(RelayIncident, TheClockOfTheRelayIsWrong) {
    begin(clock_ahead());
    tells({"streaming",
           true,
           true,
           "caught up",
           {"WalrelayClockOff"},
           " behind this machine's",
           "\"alert\":\"WalrelayClockOff\""},
          heard::by_asking);
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
    strikes();
    relay.emplace(bench, "again");
    tells({"streaming", true, true, "caught up", {}});
    has_each_row_once();
}

}  // namespace
}  // namespace walrelay::test
