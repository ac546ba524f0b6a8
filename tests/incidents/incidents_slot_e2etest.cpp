// Nights of the slot, of positions that are kept, and of replays.
#include "incidents/incident.hpp"
#include "integration/e2e/background_writer.hpp"

namespace walrelay::test {
namespace {

class SlotIncident : public incident {
protected:
    /// By the ids of their messages.
    [[nodiscard]] std::size_t replayed_rows() {
        std::set<std::string> ids;
        for (const auto& each : bench.messages()) {
            if (!each.header("Walrelay-Replay").empty()) {
                ids.insert(each.header("Nats-Msg-Id"));
            }
        }
        return ids.size();
    }
};

TEST_F(SlotIncident, TheSlotIsDropped) {
    begin();
    bench.execute(
        "DO $$ BEGIN LOOP BEGIN"
        " PERFORM pg_terminate_backend(active_pid) FROM pg_replication_slots;"
        " PERFORM pg_drop_replication_slot('" +
        bench.name() + "'); EXIT; EXCEPTION WHEN object_in_use THEN NULL; END; END LOOP; END $$");
    bench.execute(insert_events(101, 110));
    tells({"halted", false, false, bench.name(), {"WalrelayHalted"}});
    is_healed();
}

TEST_F(SlotIncident, AStandbyWithTheSlotTakesOver) {
    begin();
    postgres.begin_timeline();
    bench.execute(insert_events(101, 110));
    ASSERT_TRUE(relay->process().wait_for_log("timeline 2", patience)) << relay->process().log();
    tells({"streaming", true, true, "timeline 2", {}});
    has_each_row_once();
}

TEST_F(SlotIncident, AStandbyWithoutTheSlotTakesOver) {
    begin();
    postgres.begin_timeline(bench.name());
    bench.execute(insert_events(101, 110));
    tells({"halted", false, false, bench.name(), {"WalrelayHalted"}});
    is_healed();
}

/// It meets the server before that is promoted: what a standby lacks is no gap.
TEST_F(SlotIncident, AStandbyWithoutTheSlotIsSeenBeforeItTakesOver) {
    begin();
    postgres.become_standby(bench.name());
    ASSERT_TRUE(relay->process().wait_for_log("is a standby", patience)) << relay->process().log();
    ASSERT_TRUE(relay->comes_to_say("/status", "is a standby"));
    postgres.promote();
    bench.execute(insert_events(101, 110));
    tells({"halted", false, false, bench.name() + " does not exist", {"WalrelayHalted"}});
    is_healed();
}

TEST_F(SlotIncident, TheSlotIsMovedWhileNoRelayRuns) {
    begin();
    relay.reset();
    ASSERT_TRUE(eventually(patience, [&] { return bench.slot("active") == "f"; }));
    bench.execute(insert_events(101, 110));
    bench.execute("SELECT pg_replication_slot_advance('" + bench.name() +
                  "', pg_current_wal_lsn())");
    relay.emplace(bench, "again");
    tells({"halted", false, false, "neither in stream", {"WalrelayHalted"}});
    is_healed();
}

TEST_F(SlotIncident, TheSlotIsAboutToBeLost) {
    begin();
    broker.kill_9();
    bench.execute(insert_events(101, 110));
    fill_wal(24);
    strikes();
    postgres.reconfigure("max_slot_wal_keep_size = '1MB'");
    tells({"waiting_broker",
           false,
           true,
           "broker",
           {"WalrelayLag", "WalrelayWaiting", "WalrelaySlotEndangered", "WalrelaySlotRetention"},
           "unreserved"},
          heard::by_asking);
    postgres.reconfigure("max_slot_wal_keep_size = '-1'");
    broker.start();
    has_each_row_once();
}

TEST_F(SlotIncident, TheSlotHasMinutesLeft) {
    begin();
    postgres.reconfigure("max_slot_wal_keep_size = '512MB'");
    broker.kill_9();
    strikes();
    background_writer writer(bench.conninfo(), 2'000'000);
    tells({"waiting_broker",
           false,
           true,
           "broker",
           {"WalrelayLag", "WalrelayWaiting", "WalrelaySlotEndangered"},
           "PostgreSQL may remove its WAL in"},
          heard::by_asking);
    EXPECT_NE(bench.slot("wal_status"), "unreserved") << "it says so before";
    writer.stop();
    broker.start();
    has_each_row_once();
}

TEST_F(SlotIncident, TheTrailIsCut) {
    bench.set_replay("keep = '1h'\nmax_wal = '4MiB'");
    begin();
    ASSERT_TRUE(relay->process().wait_for_log("[trail_made", patience)) << relay->process().log();
    const auto first = read_metrics();
    std::uint64_t next = 101;
    ASSERT_TRUE(eventually(patience, [&] {
        fill_wal(2);
        bench.execute(insert_event(next++));
        return has(relay->process().log(), "[trail_cut ");
    })) << relay->process().log();
    expect_alerts_since(first, {"WalrelayTrailCut"});
    strikes();
    all_say({"streaming",
             true,
             true,
             "replay.max_wal",
             {},
             "the trail was given up before its time",
             "\"alert\":\"WalrelayTrailCut\""});
    takes_first_offer("streaming");
    has_each_row_once();
}

TEST_F(SlotIncident, AReplayIsBrokenOff) {
    ASSERT_NO_FATAL_FAILURE(a_replay_breaks_off());
    tells({"streaming",
           true,
           true,
           "caught up",
           {"WalrelayReplayStalled"},
           "1000 of 1300 rows written (walrelay replay show 1, walrelay replay resume 1 or",
           "\"rows_written\":1000"},
          heard::by_asking);
    const auto resumed = run_offer(status().output, "replay resume");
    ASSERT_EQ(resumed.exit_code, 0) << resumed.output << resumed.errors;
    EXPECT_EQ(replayed_rows(), 1300U);
    has_each_row_once();
}

TEST_F(SlotIncident, HoursAreReplayedDuringTheDay) {
    bench.set_replay("keep = '1h'");
    begin();
    ASSERT_TRUE(relay->process().wait_for_log("[trail_made", patience)) << relay->process().log();
    const auto now_sql =
        "SELECT to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.USZ')";
    const auto from = bench.session().value_of(now_sql);
    bench.execute(insert_events(101, 600));
    const auto until = bench.session().value_of(now_sql);
    ASSERT_TRUE(bench.confirms_messages(600)) << relay->process().log();
    background_writer writer(bench.conninfo(), 2'000'000);
    const auto first = read_metrics();
    const auto replayed = bench.command({"replay", "--from", from, "--until", until, "--execute"});
    EXPECT_EQ(replayed.exit_code, 0) << replayed.output << replayed.errors;
    EXPECT_TRUE(relay->is("streaming", true, true));
    writer.stop();
    // The relay asks now and then how far replays have come.
    ASSERT_TRUE(relay->comes_to_say("/metrics", "\nwalrelay_replays_unfinished 0\n"));
    expect_alerts_since(first, {});
    strikes();
    tells({"streaming", true, true, "caught up", {}});
    EXPECT_EQ(replayed_rows(), 500U);
    has_each_row_once();
}

}  // namespace
}  // namespace walrelay::test
