#include "relay/checkpoint/witness_keeper.hpp"

#include <gtest/gtest.h>

namespace walrelay::relay {
namespace {

using namespace std::chrono_literals;

const monotonic_time start{1000s};
constexpr history origin{7, 1};

stored_message message(std::uint64_t sequence) {
    return {sequence, position{origin, {lsn{100 * sequence}, {}, 0}}};
}
/// What another process has left.
witness left_behind(std::uint64_t sequence, std::uint64_t told) {
    witness known;
    known.stream = "OUTBOX";
    known.sequence = sequence;
    known.where = message(sequence).where;
    known.told = lsn{told};
    known.origin = origin;
    known.version = 41;
    return known;
}

class WitnessKeeper : public testing::Test {
protected:
    WitnessKeeper() { keeper.begin({std::nullopt, true}, lsn{10}); }

    void offer(std::optional<stored_message> last, std::uint64_t confirmed) {
        keeper.offer("OUTBOX", {}, last, lsn{confirmed}, origin);
    }
    /// Writes what is due, and returns the sequence that it names; nothing where none is.
    std::optional<std::uint64_t> write(monotonic_time now, bool at_once = false) {
        const auto what = keeper.take_to_write(now, at_once);
        if (!what) {
            return std::nullopt;
        }
        keeper.written(what->version + 1, now);
        return what->sequence;
    }

    witness_keeper keeper;
};

TEST_F(WitnessKeeper, TellsTheSlotNothingBeforeTheRowIsThere) {
    offer(std::nullopt, 50);
    EXPECT_EQ(keeper.may_tell(), lsn{10});
    EXPECT_EQ(write(start), 0U);
    EXPECT_EQ(keeper.may_tell(), lsn{50});
}

TEST_F(WitnessKeeper, NamesWhatIsStoredBeforeTheSlotIsToldPastIt) {
    offer(std::nullopt, 50);
    write(start);
    offer(message(1), 101);
    EXPECT_EQ(keeper.may_tell(), lsn{50});
    EXPECT_EQ(write(start + 2s), 1U);
    EXPECT_EQ(keeper.may_tell(), lsn{101});
}

TEST_F(WitnessKeeper, WritesAtMostOnceASecond) {
    offer(message(1), 101);
    EXPECT_EQ(write(start), 1U);
    int writes = 0;
    for (std::uint64_t row = 2; row < 102; ++row) {
        offer(message(row), row * 100);
        writes += write(start + (row - 1) * 50ms) ? 1 : 0;
    }
    EXPECT_EQ(writes, 5);
    EXPECT_LE(keeper.may_tell(), lsn{10100});
}

TEST_F(WitnessKeeper, FollowsIdleMovesAtOnceAndWritesThemOnceAMinute) {
    offer(message(1), 101);
    write(start);
    offer(message(1), 5000);
    EXPECT_EQ(keeper.may_tell(), lsn{5000}) << "nothing was stored";
    EXPECT_EQ(write(start + 3600s), std::nullopt) << "its own commit is no reason";
    offer(message(1), 101 + (16U << 20U));
    EXPECT_EQ(write(start + 3600s), std::nullopt) << "nor is the end of its segment";
    offer(message(1), 101 + (21U << 20U));
    EXPECT_EQ(write(start + 59s), std::nullopt);
    EXPECT_EQ(write(start + 60s), 1U);
}

TEST_F(WitnessKeeper, NamesAllAtOnceWhereTheRelayEnds) {
    offer(message(1), 101);
    write(start);
    offer(message(2), 201);
    offer(message(2), 260);
    EXPECT_TRUE(keeper.owes(true));
    EXPECT_EQ(write(start + 1ms, true), 2U);
    EXPECT_FALSE(keeper.owes(true));
    EXPECT_EQ(keeper.may_tell(), lsn{260});
    offer(message(2), 300);
    EXPECT_FALSE(keeper.owes(true)) << "its own commit is no reason";
    EXPECT_EQ(keeper.may_tell(), lsn{260}) << "no more than is named";
    offer(message(3), 401);
    EXPECT_TRUE(keeper.owes(true));
    EXPECT_EQ(write(start + 2ms, true), 3U);
    EXPECT_EQ(keeper.may_tell(), lsn{401});
}

TEST_F(WitnessKeeper, HoldsTheSlotBackWhileItCannotBeWritten) {
    offer(message(1), 101);
    ASSERT_TRUE(keeper.take_to_write(start, false));
    keeper.failed(start);
    EXPECT_EQ(keeper.may_tell(), lsn{10});
    EXPECT_EQ(write(start + 999ms), std::nullopt);
    EXPECT_EQ(write(start + 1s), 1U);
}

TEST_F(WitnessKeeper, LetsIdleMovesPassWhereItCannotBeWrittenForTheMoment) {
    keeper.begin({left_behind(7, 800), true}, lsn{800});
    offer(std::nullopt, 900);
    ASSERT_TRUE(keeper.take_to_write(start, false));
    keeper.failed(start);
    EXPECT_EQ(keeper.may_tell(), lsn{900}) << "a full disk wants its WAL back";
}

TEST_F(WitnessKeeper, LetsTheSlotGoOnWhereItCanNeverBeWritten) {
    offer(message(1), 101);
    ASSERT_TRUE(keeper.take_to_write(start, false));
    keeper.cannot_be_written();
    EXPECT_EQ(keeper.may_tell(), lsn{101});
    offer(message(2), 201);
    EXPECT_EQ(keeper.may_tell(), lsn{201});
    EXPECT_FALSE(keeper.owes(true));
}

TEST_F(WitnessKeeper, GivesTheVersionThatItKnowsSoThatAnotherRelaysChangeIsNoticed) {
    keeper.begin({left_behind(5, 600), true}, lsn{600});
    offer(message(6), 601);
    EXPECT_EQ(keeper.take_to_write(start, false)->version, 41U);
}

TEST_F(WitnessKeeper, NamesWhatAnotherHasStoredWhereThisProcessHasStoredNothing) {
    keeper.begin({left_behind(7, 800), true}, lsn{800});
    offer(std::nullopt, 900);
    const auto last = keeper.take_to_write(start, true);
    ASSERT_TRUE(last) << "it ends, and the slot is to move";
    EXPECT_EQ(last->sequence, 7U);
    EXPECT_EQ(last->where, message(7).where);
}

TEST_F(WitnessKeeper, IsSignedOverEachConnectionBeforeTheSlotMoves) {
    keeper.begin({left_behind(7, 800), true}, lsn{800});
    offer(std::nullopt, 900);
    EXPECT_EQ(keeper.may_tell(), lsn{800}) << "else another relay would take it for moved";
    EXPECT_EQ(write(start), 7U);
    EXPECT_EQ(keeper.may_tell(), lsn{900});
    offer(std::nullopt, 1000);
    EXPECT_EQ(keeper.may_tell(), lsn{1000});
    EXPECT_EQ(write(start + 2s), std::nullopt) << "once is enough";
}

TEST_F(WitnessKeeper, NamesWhatAnotherHasStoredSinceThisProcessLed) {
    keeper.begin({left_behind(7, 800), true}, lsn{800});
    offer(message(5), 900);
    EXPECT_EQ(write(start, true), 7U);
}

TEST_F(WitnessKeeper, NamesRowsBeforeItsPlaceThatTheStreamLacked) {
    // An operator went on without rows, and a crash has taken the slot back to before them.
    keeper.begin({left_behind(3, 1000), true}, lsn{10});
    offer(stored_message{4, message(2).where}, 250);
    EXPECT_EQ(keeper.may_tell(), lsn{10});
    EXPECT_EQ(write(start), 4U);
    EXPECT_EQ(keeper.may_tell(), lsn{250});
    offer(message(11), 1101);
    EXPECT_EQ(keeper.may_tell(), lsn{250}) << "this was written for less";
    EXPECT_EQ(write(start + 1s), 11U);
    EXPECT_EQ(keeper.may_tell(), lsn{1101});
}

TEST_F(WitnessKeeper, TellsWhatItHasNamedWhileLaterRowsWait) {
    keeper.begin({left_behind(3, 400), true}, lsn{10});
    offer(message(4), 401);
    EXPECT_EQ(keeper.may_tell(), lsn{400});
}

TEST_F(WitnessKeeper, NamesAMessageOfWhichOnlyTheSequenceIsKnown) {
    keeper.begin({left_behind(3, 400), true}, lsn{400});
    offer(stored_message{4, std::nullopt}, 450);
    EXPECT_EQ(keeper.may_tell(), lsn{400});
    const auto next = keeper.take_to_write(start, false);
    ASSERT_TRUE(next);
    EXPECT_EQ(next->sequence, 4U);
    EXPECT_FALSE(next->where);
}

TEST_F(WitnessKeeper, NamesTheCorrectionThatIsStillToBeWritten) {
    keeper.begin({left_behind(100, 600), true}, lsn{500});
    auto less = left_behind(90, 500);
    keeper.replace(less);
    offer(std::nullopt, 510);
    EXPECT_EQ(write(start), 90U);
}

TEST_F(WitnessKeeper, ForgetsTheStreamBeforeWhereNothingCanBeWritten) {
    keeper.begin({std::nullopt, false}, lsn{10});
    offer(message(100), 10'001);
    EXPECT_EQ(keeper.known()->sequence, 100U);
    const wall_time made_again{std::chrono::seconds(5)};
    keeper.offer("OUTBOX", made_again, message(1), lsn{20'000}, origin);
    EXPECT_EQ(keeper.known()->sequence, 1U);
}

TEST_F(WitnessKeeper, WritesACorrectionWhateverItNames) {
    const auto known = left_behind(100, 600);
    keeper.begin({known, true}, lsn{500});
    witness less = known;
    less.sequence = 90;
    less.told = lsn{500};
    keeper.replace(less);
    EXPECT_TRUE(keeper.is_replacing());
    EXPECT_EQ(write(start), 90U);
    EXPECT_FALSE(keeper.is_replacing());
    offer(message(91), 700);
    EXPECT_EQ(write(start + 2s), 91U) << "it is named again";
}

}  // namespace
}  // namespace walrelay::relay
