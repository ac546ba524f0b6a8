#include "relay/checkpoint/checkpoint.hpp"

#include <gmock/gmock.h>

namespace walrelay::relay {
namespace {

using namespace std::chrono_literals;
using kind = checkpoint::step::kind;
using state = checkpoint::state;

constexpr history origin{7, 1};

position at(std::uint64_t commit) {
    return {origin, {lsn{commit}, {}, 0}};
}

class Checkpoint : public testing::Test {
protected:
    Checkpoint() {
        known.stream = "OUTBOX";
        known.sequence = 10;
        known.where = at(1000);
        known.told = lsn{1008};
        known.origin = origin;
        known.version = 3;
    }
    [[nodiscard]] static stream_facts stream_with(std::uint64_t sequence) {
        stream_facts facts;
        facts.first_sequence = 1;
        facts.last_sequence = sequence;
        facts.last_message_there = sequence > 0;
        return facts;
    }
    /// A look of a moment later, before anything is made of it. `acked`: by the window.
    bool doubts(std::uint64_t ends_with, std::uint64_t acked = 0) {
        now += 1s;
        return it.doubts(stream_with(ends_with), {acked > ends_with}, now);
    }
    void stream_ends(std::uint64_t sequence, std::uint64_t commit, wall_time created = {}) {
        auto facts = stream_with(sequence);
        facts.created = created;
        if (sequence > 0) {
            facts.final_position = at(commit);
        }
        ends = facts.final_position;
        it.stream_seen(facts, late_rows);
    }
    enum class rows { unread, of_some_tables, of_all };
    void slot_at(std::uint64_t stands, rows newest = rows::unread) {
        slot_evidence evidence;
        evidence.stands_at = lsn{stands};
        evidence.line = lineage{origin};
        evidence.witness = {known, true};
        evidence.newest_rows_known = newest != rows::unread;
        evidence.newest_rows_whole = newest == rows::of_all;
        evidence.newest_rows_unread = unread;
        evidence.newest_rows_slow = is_slow;
        if (std::exchange(goes_on_without, false)) {
            it.go_on_without_missing();
        }
        it.slot_taken(std::move(evidence));
    }
    /// Before what both the window and the witness know; the slot is lost then.
    void believes_that_it_ends_before() {
        stream_ends(10, 1000);
        slot_at(500);
        EXPECT_EQ(judge(), kind::none);
        it.stream_lost();
        EXPECT_TRUE(doubts(8, 12));
        EXPECT_TRUE(doubts(8, 12));
        EXPECT_FALSE(doubts(8, 12));
        stream_ends(8, 800);
        it.slot_lost(std::nullopt);
    }
    /// Looks as often as a doubt takes.
    kind judge() {
        auto step = it.judge(ends, now);
        for (int look = 0; look < 10 && step.what == kind::look_again; ++look) {
            now += 1s;
            step = it.judge(ends, now);
        }
        why = step.why;
        line = step.line;
        return step.what;
    }
    void is(state expected) {
        EXPECT_EQ(static_cast<int>(it.now_is()), static_cast<int>(expected));
    }

    checkpoint it{"slot", "OUTBOX"};
    witness known;
    std::optional<position> ends;
    std::optional<error> why;
    std::optional<log_entry> line;
    std::optional<disorder> late_rows;
    bool goes_on_without = false;
    std::optional<error> unread;
    bool is_slow = false;
    monotonic_time now{1000s};
};

TEST_F(Checkpoint, DoubtsALookThatShowsLessThanTheWindowKnows) {
    EXPECT_FALSE(doubts(10)) << "a new process knows of no message";
    EXPECT_TRUE(doubts(9, 10));
    EXPECT_TRUE(doubts(9, 10));
    it.message_stored({10, at(1000)});
    EXPECT_FALSE(doubts(9, 10)) << "what was stored before tells nothing of what is shown now";
    EXPECT_FALSE(doubts(10));
    EXPECT_TRUE(doubts(9, 10)) << "a server that lagged once more";
    EXPECT_TRUE(doubts(9, 10));
    EXPECT_FALSE(doubts(9, 10)) << "long enough";
    EXPECT_FALSE(doubts(9, 10)) << "what follows can look again";
    stream_ends(9, 900);
    it.message_stored({11, at(1100)});
    EXPECT_TRUE(doubts(9, 11)) << "it ended later since";
}

TEST_F(Checkpoint, DoubtsALookThatShowsLessThanTheWitnessKnowsBeforeAnythingIsMadeOfIt) {
    stream_ends(10, 1000);
    EXPECT_FALSE(doubts(8)) << "without the slot nobody knows";
    slot_at(1008);
    EXPECT_EQ(judge(), kind::none);
    it.stream_lost();
    EXPECT_TRUE(doubts(8));
    EXPECT_TRUE(doubts(8));
    EXPECT_FALSE(doubts(8));
}

TEST_F(Checkpoint, DoubtsOneEndOnlyOnceForTheWindowAndForTheWitness) {
    believes_that_it_ends_before();
    slot_at(500);
    EXPECT_EQ(it.judge(ends, now).what, kind::none) << "the slot sends it again";
    EXPECT_TRUE(it.keeper().is_replacing());
}

TEST_F(Checkpoint, DoesNotDoubtWhatMustBeMissingWhileItIsPublishedAgain) {
    slot_at(1008);
    EXPECT_TRUE(doubts(8));
    EXPECT_FALSE(it.doubts(stream_with(8), {false, false, true}, now));
}

TEST_F(Checkpoint, DoubtsAnEndAgainThatAnotherRelayHasSeenLaterSince) {
    believes_that_it_ends_before();
    known.version = 4;
    slot_at(500);
    EXPECT_EQ(it.judge(ends, now).what, kind::look_again);
}

TEST_F(Checkpoint, IsUnknownUntilBothSidesAreThere) {
    is(state::unknown);
    slot_at(1008);
    EXPECT_EQ(judge(), kind::none);
    is(state::unknown);
    EXPECT_FALSE(it.may_publish());
    EXPECT_FALSE(it.may_tell());
    stream_ends(10, 1000);
    EXPECT_EQ(judge(), kind::none);
    is(state::proved);
    EXPECT_TRUE(it.may_publish());
    it.slot_lost(std::nullopt);
    is(state::unknown);
}

TEST_F(Checkpoint, TellsNothingWhileTheBrokerIsAwayNorBeforeItIsJudgedAgain) {
    slot_at(1008);
    stream_ends(10, 1000);
    EXPECT_EQ(judge(), kind::none);
    EXPECT_TRUE(it.may_tell());
    it.stream_lost();
    EXPECT_FALSE(it.may_tell());
    stream_ends(10, 1000);
    EXPECT_FALSE(it.may_tell());
    EXPECT_EQ(judge(), kind::none);
    EXPECT_TRUE(it.may_tell());
}

TEST_F(Checkpoint, ReadsTheMessageThatTheWitnessNames) {
    slot_at(1008);
    stream_ends(12, 1200);
    EXPECT_EQ(judge(), kind::read_message);
    EXPECT_FALSE(it.may_publish());
    it.message_read({10, at(1000), "a"});
    EXPECT_EQ(judge(), kind::none);
    is(state::proved);
}

TEST_F(Checkpoint, RefusesAStreamThatHasLostWhatTheSlotHasPassed) {
    slot_at(1008);
    stream_ends(8, 800);
    EXPECT_EQ(judge(), kind::gap);
    is(state::refused);
    EXPECT_NE(why->what.find("has lost messages"), std::string::npos);
    EXPECT_FALSE(it.may_tell());
}

TEST_F(Checkpoint, GoesOnWhereTheSlotSendsAllThatTheStreamHasLost) {
    slot_at(800);
    stream_ends(8, 800);
    EXPECT_EQ(judge(), kind::none);
    EXPECT_TRUE(it.has_all_told(at(1000), 9, false));
}

TEST_F(Checkpoint, KnowsThatASlotThatWentBackSendsWhatTheStreamHasLost) {
    stream_ends(10, 1000);
    slot_at(800);
    EXPECT_EQ(judge(), kind::none);
    // Both lost their power; the slot is back at 800, and the stream ends before the witness.
    EXPECT_TRUE(it.has_all_told(at(900), 9, false));
    EXPECT_FALSE(it.has_all_told(at(700), 7, false));
}

TEST_F(Checkpoint, GoesOnWithoutWhatWasMissingThenAndNotLater) {
    goes_on_without = true;
    slot_at(1008);
    stream_ends(8, 700);
    EXPECT_EQ(judge(), kind::none);
    ASSERT_TRUE(it.keeper().take_to_write(now, true));
    it.keeper().written(4, now);
    EXPECT_EQ(judge(), kind::none);
    is(state::proved);
    it.stream_lost();
    stream_ends(5, 500);
    EXPECT_EQ(judge(), kind::gap) << "that is another loss";
}

TEST_F(Checkpoint, DoesNotTakeTheSlotToSendARowThatCameLate) {
    late_rows = disorder{9, 20};  // the tenth message can be of a row that the slot has passed
    slot_at(800);
    stream_ends(8, 800);
    EXPECT_EQ(judge(), kind::gap);
    is(state::refused);
}

TEST_F(Checkpoint, DoesNotKnowWhetherRowsOfAStreamThatWasMadeAgainCameLate) {
    slot_at(800);
    stream_ends(8, 800, wall_time(1s));
    EXPECT_EQ(judge(), kind::gap);
}

TEST_F(Checkpoint, DoesNotMissALateRowThatIsStillThere) {
    late_rows = disorder{2, 8};
    slot_at(800);
    stream_ends(8, 800);
    EXPECT_EQ(judge(), kind::none);
}

TEST_F(Checkpoint, KnowsWhatAStreamHasStoredSinceItWasSeen) {
    stream_ends(0, 0);
    it.message_stored({10, at(1000)});
    slot_at(1008);
    ends = at(1000);
    EXPECT_EQ(judge(), kind::none);
    is(state::proved);
}

TEST_F(Checkpoint, ReadsAMessageOfWhichOnlyTheSequenceIsKnown) {
    stream_ends(0, 0);
    it.message_stored({10, std::nullopt});
    slot_at(1008);
    ends = at(1000);
    EXPECT_EQ(judge(), kind::read_message);
}

TEST_F(Checkpoint, DoesNotDoubtWhatItHasBelieved) {
    slot_at(900);
    stream_ends(9, 950);
    EXPECT_EQ(judge(), kind::none);
    // Before the witness was corrected, both connections are made anew.
    it.slot_lost(std::nullopt);
    it.stream_lost();
    stream_ends(9, 950);
    slot_at(900);
    EXPECT_EQ(it.judge(ends, now).what, kind::none);
}

TEST_F(Checkpoint, DoubtsAStreamThatWasMadeAgainAnew) {
    slot_at(900);
    stream_ends(9, 950);
    EXPECT_EQ(judge(), kind::none);
    it.slot_lost(std::nullopt);
    it.stream_lost();
    stream_ends(9, 950, wall_time{1s});
    slot_at(900);
    EXPECT_EQ(it.judge(ends, now).what, kind::look_again);
}

TEST_F(Checkpoint, GoesOnWithoutAlsoWhereTheConnectionEndsBefore) {
    goes_on_without = true;
    slot_at(1008);
    stream_ends(8, 700);
    EXPECT_EQ(judge(), kind::none);
    ASSERT_TRUE(it.keeper().is_replacing());
    it.slot_lost(std::nullopt);
    slot_at(1008);
    stream_ends(8, 700);
    EXPECT_EQ(judge(), kind::none);
    const auto written = it.keeper().take_to_write(now, true);
    ASSERT_TRUE(written);
    it.slot_lost(std::nullopt);
    it.slot_lost(std::nullopt);  // a try that failed
    // It was written, and the answer did not come.
    known = *written;
    known.version = 4;
    slot_at(1008);
    EXPECT_TRUE(it.goes_on_without());
}

TEST_F(Checkpoint, DoesNotGoOnWithoutWhatIsMissingAfterAnotherRelayHadTheSlot) {
    goes_on_without = true;
    slot_at(1008);
    stream_ends(8, 700);
    EXPECT_EQ(judge(), kind::none);
    it.slot_lost(std::nullopt);
    known.version = 5;
    known.sequence = 9;
    known.where = at(800);
    slot_at(1008);
    EXPECT_FALSE(it.goes_on_without());
    EXPECT_EQ(it.judge(ends, now).what, kind::look_again);
    it.slot_lost(std::nullopt);
    slot_at(1008);
    EXPECT_FALSE(it.goes_on_without()) << "nor later, with what is its own by then";
    it.slot_lost(std::nullopt);
    goes_on_without = true;
    slot_at(1008);
    EXPECT_TRUE(it.goes_on_without()) << "decided anew";
}

TEST_F(Checkpoint, LooksAtTheStreamOnceMoreBeforeItGoesOnWithoutWhatSeemsToBeMissing) {
    stream_ends(0, 0);
    goes_on_without = true;
    slot_at(1008);
    EXPECT_EQ(it.judge(ends, now).what, kind::look_again) << "another relay had the slot until now";
    stream_ends(10, 1000);
    EXPECT_EQ(it.judge(ends, now).what, kind::none);
    EXPECT_FALSE(it.keeper().is_replacing());
}

TEST_F(Checkpoint, DoesNotDoubtWhatAnOperatorHasDecidedOn) {
    goes_on_without = true;
    slot_at(1008);
    stream_ends(9, 950);
    EXPECT_EQ(it.judge(ends, now).what, kind::none);
}

TEST_F(Checkpoint, CorrectsTheWitnessWhereTheSlotSendsTheRestAgain) {
    slot_at(700);
    stream_ends(8, 800);
    EXPECT_EQ(judge(), kind::none);
    is(state::comparing);
    EXPECT_FALSE(it.may_publish()) << "first the witness";
    EXPECT_EQ(it.keeper().take_to_write(now, false)->sequence, 8U);
    it.keeper().written(4, now);
    EXPECT_EQ(judge(), kind::none);
    is(state::proved);
}

TEST_F(Checkpoint, RefusesAnotherStreamAlsoWhereGapsAreHealed) {
    known.stream = "ELSEWHERE";
    slot_at(1008);
    stream_ends(0, 0);
    EXPECT_EQ(judge(), kind::halt);
    EXPECT_NE(why->remedy.find("init --new-stream"), std::string::npos);
}

TEST_F(Checkpoint, GoesOnWithLessWhereAnOperatorSaysSo) {
    goes_on_without = true;
    slot_at(1008);
    stream_ends(8, 800);
    EXPECT_EQ(judge(), kind::none);
    EXPECT_TRUE(it.keeper().is_replacing());
}

TEST_F(Checkpoint, LetsTheNewestRowsDecideWhereASlotStandsAfterTheWitness) {
    slot_at(5000, rows::of_all);
    stream_ends(10, 1000);
    EXPECT_EQ(judge(), kind::none);
    is(state::comparing);
    EXPECT_TRUE(it.is_slot_in_question());
    EXPECT_FALSE(it.may_tell()) << "the next start must find it as it is";
    EXPECT_TRUE(it.may_publish());
    it.newest_rows_are_there();
    is(state::proved);
}

TEST_F(Checkpoint, LooksForTheNewestRowsAlsoWhereNotAllTablesTell) {
    stream_ends(10, 1000);
    slot_at(5000, rows::of_some_tables);
    EXPECT_EQ(judge(), kind::none);
    EXPECT_TRUE(it.is_slot_in_question());
    ASSERT_TRUE(line);
    EXPECT_THAT(line->text(), testing::HasSubstr("of some tables could not be compared"));
    slot_at(5000, rows::of_all);
    EXPECT_EQ(judge(), kind::none);
    EXPECT_FALSE(line);
}

TEST_F(Checkpoint, DecidesNothingWhileTheNewestRowsCannotBeRead) {
    unread = error{errc::postgres_lost, "a lock"};
    stream_ends(10, 1000);
    for (int again = 0; again < 10; ++again) {
        slot_at(5000);
        EXPECT_EQ(judge(), kind::ask_tables_again);
        EXPECT_NE(why->what.find("a lock"), std::string::npos);
        EXPECT_FALSE(it.may_tell());
        it.slot_lost(std::nullopt);
    }
    unread.reset();
    slot_at(5000, rows::of_all);
    EXPECT_EQ(judge(), kind::none);
    EXPECT_TRUE(it.is_slot_in_question());
}

TEST_F(Checkpoint, NeedsNoRowsWhereTheSlotStandsWhereItWasTold) {
    unread = error{errc::postgres_lost, "a lock"};
    slot_at(1008);
    stream_ends(10, 1000);
    EXPECT_EQ(judge(), kind::none);
    is(state::proved);
}

TEST_F(Checkpoint, WaitsThreeTimesForRowsThatAreNotReadInTime) {
    is_slow = true;
    stream_ends(10, 1000);
    for (int again = 0; again < 3; ++again) {
        slot_at(5000, rows::of_some_tables);
        EXPECT_EQ(judge(), kind::ask_tables_again);
        it.slot_lost(std::nullopt);
    }
    slot_at(5000, rows::of_some_tables);
    EXPECT_EQ(judge(), kind::none);
    EXPECT_TRUE(line);
    EXPECT_TRUE(it.is_slot_in_question());
}

TEST_F(Checkpoint, RefusesASlotThatMovedSinceThisProcessHadIt) {
    slot_at(1008);
    stream_ends(10, 1000);
    judge();
    it.place().begins_at(lsn{1008});
    it.slot_lost(std::nullopt);
    slot_at(5000, rows::of_all);
    EXPECT_EQ(judge(), kind::read_tail) << "another relay may have written";
    EXPECT_EQ(judge(), kind::gap);
    EXPECT_NE(why->what.find("stands at LSN"), std::string::npos);
}

TEST_F(Checkpoint, TakesAChangedWitnessForAnotherRelays) {
    slot_at(1008);
    stream_ends(10, 1000);
    judge();
    it.place().begins_at(lsn{1008});
    it.slot_lost(std::nullopt);
    known.version = 9;
    slot_at(5000, rows::of_all);
    EXPECT_EQ(judge(), kind::read_tail);
    EXPECT_EQ(judge(), kind::none);
    EXPECT_TRUE(it.is_slot_in_question());
}

TEST_F(Checkpoint, TakesTheWitnessOfANewTimelineForAnotherRelaysWhateverItsVersion) {
    slot_at(1008);
    stream_ends(10, 1000);
    judge();
    it.place().begins_at(lsn{1008});
    it.slot_lost(std::nullopt);
    // The standby that was promoted had not yet seen all that was written.
    known.origin.timeline = origin.timeline + 1;
    known.version = 2;
    slot_evidence evidence;
    evidence.stands_at = lsn{5000};
    evidence.line = lineage{known.origin, {{origin.timeline, lsn{4000}}}};
    evidence.witness = {known, true};
    evidence.newest_rows_known = true;
    evidence.newest_rows_whole = true;
    it.slot_taken(std::move(evidence));
    EXPECT_EQ(judge(), kind::read_tail);
    EXPECT_EQ(judge(), kind::none);
    EXPECT_TRUE(it.is_slot_in_question());
}

TEST_F(Checkpoint, DoesNotTakeASlotAtItsBeginningForOneThatSendsTheRowsOfASnapshot) {
    // The snapshot of 10 rows was stored, and then both sides lost power: the slot is where it
    // began, and of the stream a part is left.
    known.told = lsn{1008};
    known.where = at(1007);
    for (const bool has_snapshot : {true, false}) {
        for (const std::uint64_t kept : {0U, 6U}) {
            checkpoint fresh{"slot", "OUTBOX"};
            it = std::move(fresh);
            slot_evidence evidence;
            evidence.stands_at = lsn{1008};
            evidence.line = lineage{origin};
            evidence.began_at = lsn{1008};
            evidence.has_earlier_rows = has_snapshot;
            evidence.witness = {known, true};
            it.slot_taken(std::move(evidence));
            stream_ends(kept, 500);
            EXPECT_EQ(judge(), has_snapshot ? kind::gap : kind::none) << kept << has_snapshot;
        }
    }
}

TEST_F(Checkpoint, KnowsASlotBeforeTheStreamsEndWhereThereIsNoWitness) {
    slot_evidence evidence;
    evidence.stands_at = lsn{1000};
    evidence.line = lineage{origin};
    evidence.newest_rows_known = true;
    it.slot_taken(std::move(evidence));
    stream_ends(10, 1000);
    EXPECT_EQ(judge(), kind::none);
    is(state::proved);
}

TEST_F(Checkpoint, IsNotToldByTheStreamWhatASlotThatMovedHasPassed) {
    // Rows after the gap are published before it is known, and the process can end meanwhile.
    stream_ends(12, 6000);
    slot_at(5000, rows::of_all);
    EXPECT_EQ(judge(), kind::read_message);
    it.message_read({10, at(1000), "id"});
    EXPECT_EQ(judge(), kind::none);
    EXPECT_TRUE(it.is_slot_in_question());
}

TEST_F(Checkpoint, DoesNotJudgeWhatASlotWasToldBeforeItHadTheSlot) {
    constexpr bool made_again = true;
    EXPECT_TRUE(it.has_all_told(std::nullopt, 1, made_again));
    slot_at(1008);
    EXPECT_FALSE(it.has_all_told(std::nullopt, 1, made_again));
}

}  // namespace
}  // namespace walrelay::relay
