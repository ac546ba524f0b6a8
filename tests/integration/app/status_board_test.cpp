#include "app/status_board.hpp"

#include <gtest/gtest.h>

namespace walrelay::app {
namespace {

using namespace std::chrono_literals;

class StatusBoard : public testing::Test {
protected:
    StatusBoard() {
        status_.postgres_connected = true;
        board_.attach({[this](instant) { return status_; }, [this] { return counts_; }});
    }

    /// So long after the start.
    static instant at(std::chrono::seconds time) {
        return {monotonic_time{} + time, wall_time{} + time};
    }
    void slot_has_left(std::chrono::seconds time, std::int64_t safe_wal_bytes) {
        slot_usage usage;
        usage.safe_wal_bytes = safe_wal_bytes;
        board_.servers().slot_was_read(usage, at(time));
    }

    relay_status status_;
    relay_counts counts_;
    config::settings settings_;
    status_board board_{settings_, "1.0", at(0s)};
};

TEST_F(StatusBoard, TellsHowSoonTheSlotCanBeLost) {
    slot_has_left(0s, 1000);
    slot_has_left(60s, 400);
    EXPECT_EQ(board_.report(at(60s)).slot_danger_in, 40s);
    status_.postgres_connected = false;
    EXPECT_EQ(board_.report(at(61s)).slot_danger_in, std::nullopt) << "nothing is known of it now";
}

/// A relay that looks again every backoff_max: alerts and readiness would come and go with it.
TEST_F(StatusBoard, StaysHaltedUntilTheNextRelayIsPastTheHalt) {
    const auto state = [&] { return board_.report(at(1s)).status.state; };
    board_.detach(at(0s));
    board_.has_halted({errc::postgres_unsuitable, "wal_level is replica", "set it"});
    board_.halted_postgres_answers(true);
    EXPECT_EQ(state(), relay_state::halted);
    board_.attach({[this](instant) { return status_; }, [this] { return counts_; }});
    for (const auto looks :
         {relay_state::starting, relay_state::waiting_postgres, relay_state::waiting_broker}) {
        status_.state = looks;
        EXPECT_EQ(state(), relay_state::halted);
        EXPECT_EQ(board_.report(at(1s)).status.reason, "wal_level is replica");
    }
    board_.detach(at(2s));
    board_.has_halted({errc::postgres_unsuitable, "wal_level is replica", "set it"});
    EXPECT_TRUE(board_.report(at(2s)).status.postgres_connected) << "as it was";
    board_.attach({[this](instant) { return status_; }, [this] { return counts_; }});
    status_.state = relay_state::catching_up;
    EXPECT_EQ(state(), relay_state::catching_up);
    status_.state = relay_state::waiting_postgres;
    EXPECT_EQ(state(), relay_state::waiting_postgres) << "that is no halt any more";
}

/// It streams until it meets the row again.
TEST_F(StatusBoard, StaysHaltedBeforeTheRowUntilThatIsConfirmed) {
    const auto state = [&] { return board_.report(at(1s)).status.state; };
    status_.confirmed = lsn{0x100};
    board_.detach(at(0s));
    board_.has_halted({errc::row_unmappable, "the row has no subject", "correct it"});
    board_.attach({[this](instant) { return status_; }, [this] { return counts_; }});
    status_.state = relay_state::streaming;
    EXPECT_EQ(state(), relay_state::halted);
    status_.confirmed = lsn{0x101};
    EXPECT_EQ(state(), relay_state::streaming);
}

TEST_F(StatusBoard, TellsWhatWasGivenUpBeforeItsTime) {
    board_.kept().was_dropped(kept_kind::bookmark, giving_way::expired, at(1s));
    board_.kept().was_dropped(kept_kind::trail, giving_way::unwanted, at(2s));
    EXPECT_FALSE(board_.report(at(3s)).last_given_up);
    board_.kept().trail_was_moved_on(giving_way::max_wal, at(4s));
    auto last = board_.report(at(9s)).last_given_up;
    ASSERT_TRUE(last);
    EXPECT_EQ(last->at, at(4s).wall);
    EXPECT_EQ(last->what, kept_kind::trail);
    board_.kept().was_dropped(kept_kind::bookmark, giving_way::no_free_slot, at(5s));
    EXPECT_EQ(board_.report(at(9s)).last_given_up->what, kept_kind::bookmark);
}

TEST_F(StatusBoard, TellsForHowLongReplaysHaveStoodStill) {
    kept_positions found;
    board_.kept().were_read(found, at(1s));
    EXPECT_EQ(board_.report(at(2s)).replays_still_for, std::nullopt);
    found.replays = {{"slot", std::nullopt, 1, 100, 10}};
    board_.kept().were_read(found, at(10s));
    board_.kept().were_read(found, at(30s));
    EXPECT_EQ(board_.report(at(40s)).replays_still_for, 30s);
    board_.kept().were_read(std::nullopt, at(40s));
    EXPECT_EQ(board_.report(at(40s)).replays_still_for, std::nullopt) << "nothing is known of it";
    found.replays[0].rows_written = 20;
    board_.kept().were_read(found, at(50s));
    EXPECT_EQ(board_.report(at(55s)).replays_still_for, 5s);
    found.replays.clear();
    board_.kept().were_read(found, at(60s));
    EXPECT_EQ(board_.report(at(61s)).replays_still_for, std::nullopt);
}

/// A look of every minute takes its time, and is not to be missing meanwhile.
TEST_F(StatusBoard, ShowsWhatWasFoundUntilTheNextLookIsOverdue) {
    status_.postgres_connected = true;
    board_.servers().findings_were_read(std::vector<finding>{}, at(0s));
    board_.kept().were_read(kept_positions{}, at(0s));
    board_.servers().letters_were_read(open_letters{}, at(0s), 100s);
    const auto early = board_.report(at(90s));
    EXPECT_TRUE(early.findings.facts && early.kept.facts && early.letters.facts);
    EXPECT_TRUE(board_.report(at(150s)).letters.facts);
    const auto late = board_.report(at(200s));
    EXPECT_FALSE(late.findings.facts || late.kept.facts || late.letters.facts);
}

TEST_F(StatusBoard, TellsTheLatencyOfTheLastSecondAlone) {
    EXPECT_EQ(board_.report(at(0s)).last_second, std::nullopt);
    board_.sample(at(1s), 0us);
    counts_.commit_to_ack.add(5ms);
    board_.sample(at(2s), 0us);
    EXPECT_GT(board_.report(at(2s)).last_second.value().p99_seconds, 0);
    board_.sample(at(3s), 0us);
    EXPECT_LT(board_.report(at(3s)).last_second.value().p99_seconds, 0);
    EXPECT_TRUE(board_.report(at(3s)).recent.p99.has_value());
}

TEST_F(StatusBoard, TellsOfARowRightAfterIt) {
    board_.sample(at(1s), 0us);
    counts_.commit_to_ack.add(5ms);
    counts_.messages_stored = 1;
    const auto report = board_.report({at(1s).monotonic + 100ms, at(1s).wall + 100ms});
    EXPECT_EQ(report.recent.messages_per_second, 10);
    EXPECT_TRUE(report.recent.p99.has_value());
}

TEST_F(StatusBoard, NumbersEachStateOfRelayAndConnections) {
    const auto number = [this] { return board_.source().state(); };
    const auto first = number();
    status_.broker_connected = true;
    const auto connected = number();
    EXPECT_NE(connected, first);
    status_.state = relay_state::streaming;
    EXPECT_NE(number(), connected);
    status_ = {};
    status_.postgres_connected = true;
    EXPECT_EQ(number(), first);
}

TEST_F(StatusBoard, TellsSinceWhenByAClockThatIsCorrectedMeanwhile) {
    const auto before = board_.report(at(10s));
    auto corrected = at(10s);
    corrected.wall -= 90s;
    const auto after = board_.report(corrected);
    EXPECT_EQ(after.now - after.since, before.now - before.since);
    EXPECT_EQ(after.now - after.started, before.now - before.started);
}

}  // namespace
}  // namespace walrelay::app
