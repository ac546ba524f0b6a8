// The small states of the machine: comparison, backfill, refusals, halt.
#include "relay/machine/backfill_progress.hpp"
#include "relay/machine/halt_record.hpp"
#include "relay/machine/refusals.hpp"
#include "relay/machine/stored_comparison.hpp"

#include <gtest/gtest.h>

namespace walrelay::relay {
namespace {

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
    EXPECT_FALSE(of.take_question());
    of.ask_of({{}, "a", 7});
    ASSERT_TRUE(of.asked_of());
    EXPECT_EQ(of.take_question()->sequence, 7U);
    EXPECT_FALSE(of.asked_of());
}

TEST(HaltRecord, WaitsForTheDatabaseOnce) {
    halt_record halt;
    EXPECT_FALSE(halt.why());
    EXPECT_FALSE(halt.stored());
    halt.note({errc::gap_found, "a gap"});
    halt.storing();
    EXPECT_TRUE(halt.is_storing());
    EXPECT_TRUE(halt.stored());
    EXPECT_FALSE(halt.stored());
    EXPECT_EQ(halt.why()->what, "a gap");
}

}  // namespace
}  // namespace walrelay::relay
