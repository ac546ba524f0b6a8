#include "unit/relay/lane/fenced_lane_fixture.hpp"

#include <memory>

namespace walrelay::relay {
namespace {

TEST_F(FencedLane, AsksToLookBackWhereOthersMayHaveWrittenInBetween) {
    EXPECT_EQ(tested.wanted_look_back(), 1024U) << "an earlier process may have left a hole";
    open_proven(10);
    tested.close();
    EXPECT_EQ(tested.wanted_look_back(), 0U) << "nothing was in flight";
    tested.open(2, {10, {}});
    admit(1);
    send();
    tested.close();
    EXPECT_EQ(tested.wanted_look_back(), 1024U);
}

TEST_F(FencedLane, AsksToLookBackAsLongAsTheRowOfTheTailIsNotMet) {
    const stream_tail tail{10, position{here, {nth(3), {}, 0}}};
    tested.open(1, tail, tail_belief::undecided);
    tested.believe(tail_belief::claim);
    tested.close();
    EXPECT_EQ(tested.wanted_look_back(), 1024U) << "what was shown is judged again";
    tested.open(2, tail, tail_belief::undecided);
    tested.believe(tail_belief::claim);
    tested.claim_is_met();
    tested.close();
    EXPECT_EQ(tested.wanted_look_back(), 0U);
}

TEST_F(FencedLane, SendsAgainWhatAStrangersMessageMayHaveDisplaced) {
    open_proven(10);
    admit_through(1, 3);
    send();
    tested.close();
    // A stranger took sequence 11: message 1 was rejected, 2 and 3 found what they expected.
    tested.open(2, {13, position{here, {nth(3), {}, 0}}, true, position{here, {nth(0), {}, 0}}});
    EXPECT_EQ(stored_commit(), 0U);
    EXPECT_EQ(send(), strings{"1@13"});
    EXPECT_EQ(reply(tokens.back(), stored(14)), lane_verdict::carry_on);
    EXPECT_EQ(send(), (strings{"2@14", "3@15"}));
    EXPECT_EQ(reply(tokens[tokens.size() - 2], duplicate(12)), lane_verdict::carry_on);
    EXPECT_EQ(reply(tokens.back(), duplicate(13)), lane_verdict::carry_on);
    EXPECT_EQ(stored_commit(), 3U);
}

TEST_F(FencedLane, TakesAForgedPositionOfARowInTheWindowForNoPublishOfItsOwn) {
    open_proven(10);
    admit_through(5, 7);
    tested.close();
    auto tail = tail_at(12, 7);
    tail.final_position = position{here, {nth(3), {}, 0}};
    tail.final_id = "3";
    tail.placed = {{11, *tail.last_position, "forged"}, {12, *tail.final_position, "3"}};
    tested.open(2, tail, tail_belief::undecided);
    EXPECT_EQ(tested.belief(), tail_belief::undecided);
    EXPECT_FALSE(tested.covers({nth(7), {}, 0}));
}

TEST_F(FencedLane, MissesNothingWhereTheStreamHadARowLongBeforeItsLast) {
    tested.open(1, {10, {}}, tail_belief::nothing);
    admit_through(1, 2);
    send();
    ASSERT_EQ(reply(tokens[0], stored(11)), lane_verdict::carry_on);
    send();
    ASSERT_EQ(reply(tokens[1], duplicate(4)), lane_verdict::carry_on);
    EXPECT_FALSE(tested.has_forgotten(tail_at(11, 1)));
}

TEST_F(FencedLane, AsksWhoseADuplicateIsWhereIdsCanHaveBeenGivenAgain) {
    tested.set_history({{7, 2}, {{1, nth(100)}}});
    tested.open(1, {10, {}}, tail_belief::nothing);
    for (const std::uint64_t commit : {200U, 201U}) {
        auto& filled = tested.vacancy();
        filled.where = {{7, 2}, {nth(commit), {}, 0}};
        filled.id = std::to_string(commit);
        tested.admit();
    }
    EXPECT_EQ(send(), strings{"200@10"});
    EXPECT_EQ(reply(tokens[0], duplicate(4)), lane_verdict::id_is_taken);
    EXPECT_EQ(tested.taken_at(), 4U);
    EXPECT_TRUE(tested.knows_by_id(4));
    EXPECT_FALSE(tested.knows_by_id(11));
    tested.settle_asked({{7, 2}, {nth(200), {}, 0}});
    EXPECT_EQ(send(), strings{"201@10"}) << "its own: the next one follows";
}

TEST_F(FencedLane, AsksWhoseADuplicateOfASnapshotsRowIs) {
    tested.open(1, {10, {}}, tail_belief::exact);
    auto& filled = tested.vacancy();
    filled.where = {here, {before_slot(nth(3)), {}, 0}};
    tested.admit();
    send();
    EXPECT_EQ(reply(tokens[0], duplicate(4)), lane_verdict::id_is_taken);
}

TEST_F(FencedLane, SendsOneMessageAloneAfterItMayHaveStoodStill) {
    open_proven(10);
    admit_through(1, 3);
    EXPECT_EQ(send(start + 1s), strings{"1@10"}) << "another relay may have written meanwhile";
    EXPECT_EQ(reply(tokens[0], stored(11), start + 1s), lane_verdict::carry_on);
    EXPECT_EQ(send(start + 1s), (strings{"2@11", "3@12"}));
}

TEST_F(FencedLane, SeesThatALaterMessagePassedOneWhileAComparisonIsToBeTakenUp) {
    tested.resume(std::make_shared<stored_rows>(stored_rows_request{}));
    tested.end_resuming(tail_belief::undecided);
    tested.open(1, {10, {}}, tail_belief::nothing);
    admit_through(1, 2);
    tested.close();
    stream_facts seen;
    seen.last_sequence = 12;
    seen.placed = {{12, {here, {nth(2), {}, 0}}, "2"}};
    seen.last_position = seen.placed.back().where;
    EXPECT_TRUE(tested.is_mixed(seen, 0));
}

TEST_F(FencedLane, SeesThatALaterMessagePassedOneAlsoBehindAStranger) {
    open_proven(10);
    admit_through(1, 2);
    send();
    tested.close();
    stream_facts seen;
    seen.last_sequence = 12;
    seen.placed = {{10, {here, {nth(0), {}, 0}}, "0"}, {12, {here, {nth(2), {}, 0}}, "2"}};
    seen.shared = true;
    seen.safe_position = seen.placed.front().where;
    seen.last_position = seen.placed.back().where;
    EXPECT_TRUE(tested.is_mixed(seen, 0));
}

TEST_F(FencedLane, MeetsItsLastRowAgainAfterAComparisonThatWasBrokenOff) {
    tested.resume(std::make_shared<stored_rows>(stored_rows_request{}));
    tested.end_resuming(tail_belief::undecided);
    tested.open(1, {10, position{here, {nth(8), nth(4), 0}}}, tail_belief::undecided);
    tested.believe(tail_belief::claim);
    tested.claim_is_met();
    EXPECT_TRUE(tested.claim_again(nth(1))) << "the server can have been restored";
}

TEST_F(FencedLane, DoesNotTakeItsOwnMessageForProofWhereAnotherServerIsStreamedFirst) {
    open_proven(10);
    admit(1);
    send();
    ASSERT_EQ(reply(tokens.at(0), stored(11)), lane_verdict::carry_on);
    tested.close();
    auto seen = tail_at(12, 2);
    seen.final_id = "2";
    tested.open(2, seen, tail_belief::undecided);
    ASSERT_EQ(tested.belief(), tail_belief::undecided);
    tested.close();
    EXPECT_FALSE(tested.claim_again(nth(0)));
    auto again = tail_at(12, 1);
    again.final_id = "1";
    tested.open(3, again, tail_belief::undecided);
    EXPECT_EQ(tested.belief(), tail_belief::undecided);
}

}  // namespace
}  // namespace walrelay::relay
