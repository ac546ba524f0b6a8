#include "relay/lane/stored_rows.hpp"

#include <gtest/gtest.h>

namespace walrelay::relay {
namespace {

constexpr history first_timeline{7, 1};
constexpr history second_timeline{7, 2};
const lineage promoted{second_timeline, {{1, lsn{1000}}}};

commit_position at(std::uint64_t commit, std::uint64_t row, std::uint64_t index = 0) {
    return {lsn{commit}, lsn{row}, index};
}

position on(history origin, commit_position where) {
    return {origin, where};
}

stored_rows_request since(std::uint64_t commit) {
    return {lsn{commit}, promoted, false, 0, 0U};
}

TEST(StoredRows, KnowEachRowThatTheSlotStillSends) {
    stored_rows rows(since(100));
    rows.add(1, on(second_timeline, at(90, 80)), "before");
    rows.add(2, on(second_timeline, at(100, 91)), "a");
    rows.add(3, on(second_timeline, at(100, 91, 1)), "b");
    rows.add(4, on(second_timeline, at(200, 93)), "c");
    ASSERT_TRUE(rows.reaches_back());
    rows.end(false, removed_messages::none);
    EXPECT_EQ(rows.size(), 3U);
    EXPECT_TRUE(rows.has(at(100, 91), "a"));
    EXPECT_TRUE(rows.has(at(100, 91, 1), ""));
    EXPECT_TRUE(rows.has(at(200, 93), "another id, as the configuration has changed"));
    EXPECT_FALSE(rows.has(at(100, 92), "a"));
    EXPECT_FALSE(rows.has(at(100, 91, 2), "a"));
    EXPECT_EQ(rows.newest(), at(200, 93));
    EXPECT_EQ(rows.last_sequence(), 4U);
}

TEST(StoredRows, CompareIdsWhereThePositionsOfAnotherHistoryMayBeUsedAgain) {
    auto wanted = since(100);
    wanted.compares_ids = true;
    stored_rows rows(wanted);
    rows.add(1, on(second_timeline, at(100, 91)), "a");
    rows.end(true, removed_messages::none);
    EXPECT_TRUE(rows.has(at(100, 91), "a"));
    EXPECT_FALSE(rows.has(at(100, 91), "b"));
}

TEST(StoredRows, KnowARowByItsIdThatWasPublishedFromItsTable) {
    const auto from_table = [](std::uint64_t index) {
        return at(before_slot(lsn{400}).value, before_slot(lsn{400}).value, index);
    };
    for (const bool compares_ids : {false, true}) {
        auto wanted = since(100);
        wanted.compares_ids = compares_ids;
        stored_rows rows(wanted);
        rows.add(1, on(second_timeline, from_table(0)), "b");
        rows.add(2, on(second_timeline, from_table(1)), "a");
        rows.end(true, removed_messages::none);
        EXPECT_TRUE(rows.has(at(200, 191), "a"));
        EXPECT_TRUE(rows.has(from_table(1), "a"));
        EXPECT_FALSE(rows.has(at(200, 191), "c"));
        EXPECT_FALSE(rows.has(at(200, 191), ""));
        EXPECT_FALSE(rows.has(at(400, 391), "a")) << "one that came later has its id again";
    }
}

TEST(StoredRows, KnowNoRowByItsIdWhereTheDatabaseCanHaveBeenRestored) {
    const auto place = before_slot(lsn{400});
    auto wanted = since(100);
    wanted.compares_ids = true;
    wanted.rows_of_tables = false;
    stored_rows rows(wanted);
    rows.add(1, on(second_timeline, at(place.value, place.value)), "a");
    rows.end(true, removed_messages::none);
    EXPECT_FALSE(rows.has(at(200, 191), "a"));
}

TEST(StoredRows, KnowNoRowByWhatAnUnknownTimelineHasPublishedFromATable) {
    const auto place = before_slot(lsn{400});
    auto wanted = since(100);
    wanted.compares_ids = true;
    wanted.wal_end = lsn{1000};
    stored_rows rows(wanted);
    rows.add(1, on({7, 9}, at(place.value, place.value)), "a");
    rows.end(true, removed_messages::none);
    EXPECT_FALSE(rows.has(at(200, 191), "a"));
}

TEST(StoredRows, KnowARowByItsIdThatALaterTimelineNamed) {
    auto wanted = since(100);
    wanted.compares_ids = true;
    wanted.wal_end = lsn{300};
    stored_rows rows(wanted);
    rows.add(1, on({7, 9}, at(200, 191)), "a");
    rows.add(2, on({7, 9}, at(300, 291)), "b");
    rows.end(true, removed_messages::none);
    EXPECT_TRUE(rows.has(at(200, 191), "a"));
    EXPECT_FALSE(rows.has(at(200, 191), "b"));
    EXPECT_FALSE(rows.has(at(300, 291), "b")) << "the server has written that later";
    EXPECT_EQ(rows.newest(), at(200, 191));
}

/// The place and the id of a lost row can both come again.
TEST(StoredRows, KnowNoRowByWhatAnAncestorWroteAfterItsEnd) {
    auto wanted = since(100);
    wanted.compares_ids = true;
    wanted.wal_end = lsn{3000};
    stored_rows rows(wanted);
    rows.add(1, on(first_timeline, at(999, 998)), "a");
    rows.add(2, on(first_timeline, at(1100, 1098)), "b");
    rows.end(true, removed_messages::none);
    EXPECT_TRUE(rows.has(at(999, 998), "a"));
    EXPECT_FALSE(rows.has(at(1100, 1098), "b"));
    EXPECT_EQ(rows.orphaned().count, 1U);
}

TEST(StoredRows, KnowPositionsOfTheFirstVersionByCommitAndId) {
    stored_rows rows(since(100));
    rows.add(1, on(first_timeline, {lsn{100}, {}, 0}), "a");
    rows.add(2, on(first_timeline, {lsn{100}, {}, 1}), "b;republish-0000000000000064-1");
    rows.end(true, removed_messages::none);
    EXPECT_TRUE(rows.has(at(100, 91), "a"));
    EXPECT_FALSE(rows.has(at(200, 91), "a"));
    EXPECT_TRUE(rows.has(at(100, 92), "b;republish-000000000000005C-0"));
    EXPECT_FALSE(rows.has(at(100, 92), "b"));
}

TEST(StoredRows, CountMessagesOfABranchThatWasLeft) {
    stored_rows rows(since(900));
    rows.add(5, on(first_timeline, at(999, 998)), "shared");
    rows.add(6, on(first_timeline, at(1000, 999)), "lost");
    rows.add(7, on(first_timeline, at(1100, 1098)), "lost too");
    rows.add(8, on({9, 1}, at(950, 940)), "of another system");
    rows.end(true, removed_messages::oldest);
    EXPECT_TRUE(rows.has(at(999, 998), ""));
    EXPECT_FALSE(rows.has(at(1000, 999), ""));
    EXPECT_EQ(rows.orphaned().count, 2U);
    EXPECT_EQ(rows.orphaned().first_sequence, 6U);
    EXPECT_EQ(rows.orphaned().last_sequence, 7U);
}

TEST(StoredRows, ReachBackOnlyWithAMessageThatTheSlotDoesNotSend) {
    stored_rows rows(since(100));
    EXPECT_FALSE(rows.reaches_back());
    rows.add(1, std::nullopt, "of somebody else");
    rows.add(2, on({9, 1}, at(1, 1)), "of another system");
    EXPECT_FALSE(rows.reaches_back());
    rows.add(3, on(second_timeline, at(100, 91)), "a");
    rows.add(4, on(second_timeline, at(99, 91)), "z");
    EXPECT_FALSE(rows.reaches_back());
}

TEST(StoredRows, ReachBackOnlyBehindAsManyMessagesAsSomebodyElseMayHaveWritten) {
    auto wanted = since(100);
    wanted.margin = 2;
    stored_rows rows(wanted);
    rows.add(7, on(second_timeline, at(90, 80)), "forged");
    rows.add(8, on(second_timeline, at(200, 191)), "a");
    rows.add(9, on(second_timeline, at(91, 81)), "forged, too");
    EXPECT_FALSE(rows.reaches_back());
    stored_rows from_further_back(wanted);
    from_further_back.add(5, on(second_timeline, at(80, 70)), "before");
    from_further_back.add(6, on(second_timeline, at(81, 71)), "before, too");
    from_further_back.add(8, on(second_timeline, at(200, 191)), "a");
    EXPECT_TRUE(from_further_back.reaches_back());
}

TEST(StoredRows, DoNotReachBackFromWithinWhatIsOutOfOrder) {
    for (const auto until : {std::optional<std::uint64_t>(20), std::optional<std::uint64_t>()}) {
        auto wanted = since(100);
        wanted.disordered_after = 10;
        wanted.disordered_until = until;
        stored_rows within(wanted);
        within.add(11, on(second_timeline, at(90, 80)), "published late");
        EXPECT_FALSE(within.reaches_back());
        stored_rows before(wanted);
        before.add(10, on(second_timeline, at(90, 80)), "in order");
        EXPECT_TRUE(before.reaches_back());
    }
}

TEST(StoredRows, TakeWhatANewerMessageMayHaveReplacedForStored) {
    for (const bool has_holes : {false, true}) {
        auto wanted = since(100);
        wanted.has_holes = has_holes;
        stored_rows states(wanted);
        states.add(40, on(second_timeline, at(90, 80)), "of another subject");
        states.add(50, on(second_timeline, at(200, 150)), "a");
        states.end(false, removed_messages::replaced);
        EXPECT_EQ(states.has(at(150, 120), ""), !has_holes);
        stored_rows forged(wanted);
        forged.add(49, on(second_timeline, at(900, 890)), "forged");
        forged.add(50, on(second_timeline, at(200, 150)), "a");
        forged.end(false, removed_messages::replaced);
        EXPECT_FALSE(forged.has(at(300, 290), ""));
        EXPECT_TRUE(states.has(at(200, 150), "a"));
        EXPECT_FALSE(states.has(at(200, 151), ""));
    }
}

TEST(StoredRows, TakeWhatATrimmedStreamCannotShowForStored) {
    stored_rows trimmed(since(100));
    trimmed.add(50, on(second_timeline, at(200, 150)), "a");
    trimmed.end(true, removed_messages::oldest);
    EXPECT_TRUE(trimmed.has(at(150, 120), ""));
    EXPECT_FALSE(trimmed.has(at(200, 151), ""));
    auto with_holes = since(100);
    with_holes.has_holes = true;
    stored_rows holed(with_holes);
    holed.add(50, on(second_timeline, at(200, 150)), "a");
    holed.end(true, removed_messages::oldest);
    EXPECT_FALSE(holed.has(at(150, 120), "")) << "it can have been missing all the same";
    EXPECT_TRUE(holed.has(at(200, 150), "a"));
    stored_rows forged(since(100));
    forged.add(49, on(second_timeline, at(900, 890)), "forged");
    forged.add(50, on(second_timeline, at(200, 150)), "a");
    forged.end(true, removed_messages::oldest);
    EXPECT_FALSE(forged.has(at(300, 250), "")) << "the first message tells no more than the others";
    stored_rows whole(since(100));
    whole.add(1, on(second_timeline, at(200, 150)), "a");
    whole.end(true, removed_messages::none);
    EXPECT_FALSE(whole.has(at(150, 120), ""));
}

}  // namespace
}  // namespace walrelay::relay
