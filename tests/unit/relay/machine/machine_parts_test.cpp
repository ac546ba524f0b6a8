// The small states of the machine: comparison, backfill, refusals, life, what is known of both
// sides.
#include "relay/machine/backfill_progress.hpp"
#include "relay/machine/known_database.hpp"
#include "relay/machine/open_question.hpp"
#include "relay/machine/refusals.hpp"
#include "relay/machine/relay_life.hpp"
#include "relay/machine/stored_comparison.hpp"
#include "relay/machine/stream_sight.hpp"

#include <gtest/gtest.h>

namespace walrelay::relay {
namespace {

using namespace std::chrono_literals;

TEST(StoredComparison, GoesThroughItsStages) {
    stored_comparison rows;
    EXPECT_FALSE(rows.is_open());
    EXPECT_FALSE(rows.is_reading_back());
    stored_rows_request wanted;
    wanted.has_holes = true;
    rows.begin(wanted, "other rules");
    EXPECT_TRUE(rows.waits_for_mark());
    EXPECT_TRUE(rows.is_reading_back());
    rows.mark_is_written();
    EXPECT_TRUE(rows.is_reading());
    EXPECT_TRUE(rows.is_reading_back()) << "no row may come before the stream is read";
    rows.stream_is_read();
    EXPECT_TRUE(rows.is_comparing());
    EXPECT_FALSE(rows.is_reading_back());
    EXPECT_TRUE(rows.wanted().has_holes);
    EXPECT_EQ(rows.why(), "other rules");
    EXPECT_TRUE(rows.end());
    EXPECT_FALSE(rows.end());
}

TEST(BackfillProgress, AdoptsOnceAllRowsHaveCome) {
    backfill_progress rows;
    EXPECT_FALSE(rows.wants_rows());
    rows.begin({.consistent_point = lsn{70}});
    EXPECT_TRUE(rows.wants_rows());
    EXPECT_FALSE(rows.waits_for_acks());
    rows.rows_ended();
    EXPECT_FALSE(rows.wants_rows());
    EXPECT_TRUE(rows.waits_for_acks());
    rows.adopting();
    EXPECT_FALSE(rows.waits_for_acks()) << "once";
    EXPECT_EQ(rows.what().consistent_point, lsn{70});
    rows.adopted();
    EXPECT_FALSE(rows.is_open());
}

TEST(BackfillProgress, KeepsAGapUntilItIsFilled) {
    backfill_progress rows;
    rows.fill_gap();
    rows.begin({});
    EXPECT_TRUE(rows.give_up());
    EXPECT_FALSE(rows.give_up());
    EXPECT_TRUE(rows.fills_gap());
    rows.begin({});
    EXPECT_TRUE(rows.wants_rows()) << "from the beginning";
    rows.adopted();
    EXPECT_FALSE(rows.fills_gap());
}

TEST(Refusals, CountForEachRow) {
    refusals of;
    const commit_position one{lsn{1}};
    const commit_position other{lsn{2}};
    EXPECT_EQ(of.count(one), 1U);
    EXPECT_EQ(of.count(one), 2U);
    EXPECT_EQ(of.count(other), 1U);
    of.forget(one);
    EXPECT_EQ(of.count(one), 1U);
    of.forget_all();
    EXPECT_EQ(of.count(other), 1U);
}

TEST(Refusals, AreStuckAtTheSecondTimeWithNothingStored) {
    refusals of;
    EXPECT_FALSE(of.is_stuck());
    of.one_was_stored();
    EXPECT_FALSE(of.is_stuck());
    EXPECT_TRUE(of.is_stuck());
    of.want_step_down();
    EXPECT_TRUE(of.take_step_down());
    EXPECT_FALSE(of.take_step_down()) << "once";
}

TEST(Refusals, AskOfOneIdAtATime) {
    refusals of;
    EXPECT_EQ(of.asked_of(), nullptr);
    of.ask_of({{}, "a", 7});
    of.ask_of({{}, "b", 9, true});
    of.ask_of({{}, "c", 8});
    ASSERT_NE(of.asked_of(), nullptr);
    EXPECT_EQ(of.take_question().sequence, 7U);
    EXPECT_EQ(of.asked_of()->sequence, 9U);
    of.drop_questions();
    EXPECT_EQ(of.asked_of(), nullptr);
}

TEST(RelayLife, StoresAHaltOnce) {
    relay_life life(10s);
    EXPECT_FALSE(life.halted_for());
    EXPECT_FALSE(life.halt_is_stored());
    life.note_halt({errc::gap_found, "a gap"}, 3);
    life.close();
    life.store_halt();
    EXPECT_TRUE(life.is_storing_halt());
    EXPECT_TRUE(life.halt_is_stored());
    EXPECT_FALSE(life.halt_is_stored());
    EXPECT_EQ(life.halted_for()->what, "a gap");
    EXPECT_EQ(life.exit_code(), 3);
}

TEST(RelayLife, WaitsForWhatIsOutOnlyWhileItDrains) {
    constexpr monotonic_time start{1000s};
    relay_life life(10s);
    EXPECT_TRUE(life.is_running());
    EXPECT_EQ(life.drain_until(), std::nullopt);
    life.drain(0, start);
    EXPECT_TRUE(life.is_draining());
    EXPECT_FALSE(life.is_at_end());
    EXPECT_EQ(life.drain_until(), start + 10s);
    life.close();
    EXPECT_TRUE(life.is_closing());
    EXPECT_EQ(life.drain_until(), std::nullopt);
    life.end();
    EXPECT_FALSE(life.is_closing());
    EXPECT_TRUE(life.is_at_end());
}

TEST(StreamSight, TellsOfAStrangerOnceInEachStream) {
    stream_sight seen;
    EXPECT_FALSE(seen.is_known());
    EXPECT_FALSE(seen.was_made_again(wall_time(1s))) << "the first one is no other one";
    seen.seen(wall_time(1s));
    EXPECT_TRUE(seen.tells_of_stranger(7));
    EXPECT_FALSE(seen.tells_of_stranger(7));
    EXPECT_FALSE(seen.tells_of_stranger(6));
    seen.seen(wall_time(1s));
    EXPECT_FALSE(seen.tells_of_stranger(7));
    EXPECT_TRUE(seen.was_made_again(wall_time(2s)));
    seen.seen(wall_time(2s));
    EXPECT_TRUE(seen.tells_of_stranger(1));
}

TEST(OpenQuestion, IsOneAtATime) {
    open_question question;
    EXPECT_FALSE(question.is_open());
    question.ask_for_row();
    EXPECT_TRUE(question.is_of_row());
    question.ask_for_table();
    EXPECT_TRUE(question.is_open());
    EXPECT_FALSE(question.is_of_row());
    EXPECT_TRUE(question.is_of_table());
    question.close();
    EXPECT_FALSE(question.is_open());
}

lineage timeline(std::uint32_t number, std::vector<timeline_end> ancestors = {}) {
    return {{7, number}, std::move(ancestors)};
}

TEST(KnownDatabase, KnowsNothingAtFirst) {
    const known_database known(false);
    EXPECT_FALSE(known.is_known());
    EXPECT_FALSE(known.began_at());
    EXPECT_EQ(known.slot_confirmed(), lsn{});
}

TEST(KnownDatabase, TellsWhereAHistoryWasLeft) {
    known_database known(false);
    EXPECT_EQ(known.begin_history(timeline(1)).branch, std::nullopt);
    known.note_beginning(lsn{10});
    known.note_beginning(lsn{20});
    known.connected({timeline(1), lsn{50}}, "app", lsn{20});
    const auto next = known.begin_history(timeline(2, {{1, lsn{40}}}));
    EXPECT_EQ(next.before, (history{7, 1}));
    EXPECT_EQ(next.branch, lsn{40});
    EXPECT_EQ(known.began_at(), lsn{10}) << "it goes on";
    known.connected({timeline(2, {{1, lsn{40}}}), lsn{60}}, "app", lsn{30});
    EXPECT_EQ(known.begin_history({{8, 2}}).branch, std::nullopt) << "another database";
    EXPECT_EQ(known.began_at(), std::nullopt);
}

TEST(KnownDatabase, IsAcceptedOnceAndWithWhatGoesOnFromIt) {
    known_database known(true);
    EXPECT_TRUE(known.accepts(timeline(1)));
    known.connected({timeline(1), lsn{50}}, "app", lsn{20});
    EXPECT_TRUE(known.accepts(timeline(2, {{1, lsn{40}}})));
    EXPECT_FALSE(known.accepts({{8, 1}}));
    known.accept_no_more();
    EXPECT_FALSE(known.accepts(timeline(1)));
}

}  // namespace
}  // namespace walrelay::relay
