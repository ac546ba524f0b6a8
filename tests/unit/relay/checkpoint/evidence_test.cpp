#include "relay/checkpoint/evidence.hpp"

#include <gtest/gtest.h>

namespace walrelay::relay {
namespace {

constexpr history origin{7, 1};

position at(std::uint64_t commit) {
    return {origin, {lsn{commit}, {}, 0}};
}

class StreamVerdict : public testing::Test {
protected:
    StreamVerdict() {
        known.stream = seen.stream = "OUTBOX";
        known.sequence = 10;
        known.where = at(1000);
        known.told = lsn{1001};
        known.origin = origin;
        seen.first_sequence = 1;
        ends(10, at(1000));
    }
    void ends(std::uint64_t sequence, std::optional<position> where) {
        seen.last_sequence = sequence;
        seen.last_where = where;
        seen.last_is_there = sequence > 0;
    }
    void is(stream_verdict expected) {
        EXPECT_EQ(static_cast<int>(judge_stream(known, seen)), static_cast<int>(expected));
    }

    witness known;
    stream_evidence seen;
};

TEST_F(StreamVerdict, HoldsWhereTheLastMessageIsTheOneThatIsNamed) {
    is(stream_verdict::holds);
}

TEST_F(StreamVerdict, AsksForTheMessageWhereMoreHasCome) {
    ends(12, at(1200));
    is(stream_verdict::ask);
    seen.asked = asked_message{10, at(1000), "a"};
    is(stream_verdict::holds);
    seen.asked = asked_message{10, at(1100), "b"};
    is(stream_verdict::overwritten);
    seen.asked = asked_message{10};
    is(stream_verdict::holds);
}

TEST_F(StreamVerdict, ConvictsAStreamThatEndsBefore) {
    ends(9, at(900));
    is(stream_verdict::ends_before);
    ends(0, std::nullopt);
    is(stream_verdict::ends_before);
}

TEST_F(StreamVerdict, ConvictsOneThatHasAnotherRowThere) {
    ends(10, at(1008));
    is(stream_verdict::overwritten);
}

TEST_F(StreamVerdict, TakesWhatLimitsHaveRemovedForNoLoss) {
    seen.first_sequence = 11;
    ends(10, std::nullopt);
    seen.last_is_there = false;
    is(stream_verdict::holds);
    seen.created = wall_time(std::chrono::seconds(5));
    is(stream_verdict::overwritten);
}

TEST_F(StreamVerdict, BelievesAnotherStreamOnlyWithThatVeryRow) {
    seen.stream = "MIRROR";
    is(stream_verdict::holds_elsewhere);
    ends(10, at(1008));
    is(stream_verdict::another_stream);
    ends(0, std::nullopt);
    is(stream_verdict::another_stream);
    seen.first_sequence = 11;
    ends(12, at(1200));
    is(stream_verdict::another_stream);
}

TEST_F(StreamVerdict, TakesOneOfThisNameThatAnotherDatabaseFillsForAnotherStream) {
    seen.created = wall_time(std::chrono::seconds(5));
    position foreign = at(5000);
    foreign.origin.system_identifier = 8;
    ends(600, foreign);
    seen.asked = asked_message{10, foreign, "x"};
    is(stream_verdict::another_stream);
    ends(6, foreign);
    is(stream_verdict::another_stream);
    // The same stream, and a database that was dumped and loaded.
    seen.created = known.created;
    is(stream_verdict::ends_before);
}

TEST_F(StreamVerdict, HasNothingAgainstAnyStreamWhereNothingWasStored) {
    known.sequence = 0;
    known.where.reset();
    ends(0, std::nullopt);
    is(stream_verdict::holds);
    seen.stream = "OTHER";
    is(stream_verdict::holds_elsewhere);
}

TEST_F(StreamVerdict, RowsThatWerePublishedLateAreNotKnownToBeSentAgain) {
    const lineage line{origin};
    seen.late_rows = disorder{5, 20};
    ends(8, at(1500));
    EXPECT_FALSE(is_sent_again(known, seen, seen.last_where, lsn{900}, line));
    ends(9, at(1500));
    EXPECT_TRUE(is_sent_again(known, seen, seen.last_where, lsn{900}, line))
        << "the row that is named is the only one";
    EXPECT_TRUE(is_sent_again(known, seen, seen.last_where, lsn{1000}, line));
    EXPECT_FALSE(is_sent_again(known, seen, seen.last_where, lsn{1001}, line));
    seen.created = wall_time(std::chrono::seconds(5));
    EXPECT_FALSE(is_sent_again(known, seen, seen.last_where, lsn{900}, line)) << "made again";
}

TEST(ExplainedSlot, StandsWhereTheWitnessSaysOrBefore) {
    witness known;
    known.told = lsn{1000};
    known.origin = origin;
    const lineage line{origin};
    EXPECT_TRUE(explains_slot(known, lsn{1000}, line));
    EXPECT_TRUE(explains_slot(known, lsn{10}, line));
    EXPECT_FALSE(explains_slot(known, lsn{1008}, line));
    EXPECT_FALSE(explains_slot(known, lsn{10}, lineage{{8, 1}})) << "another system";
}

TEST(ExplainedSlot, IsNotExplainedBeyondABranchThatWasLeft) {
    witness known;
    known.told = lsn{1000};
    known.origin = origin;
    const lineage promoted{{7, 2}, {{1, lsn{900}}}};
    EXPECT_TRUE(explains_slot(known, lsn{900}, promoted));
    EXPECT_FALSE(explains_slot(known, lsn{950}, promoted));
    EXPECT_FALSE(explains_slot(known, lsn{10}, lineage{{7, 3}, {{2, lsn{900}}}}));
}

}  // namespace
}  // namespace walrelay::relay
