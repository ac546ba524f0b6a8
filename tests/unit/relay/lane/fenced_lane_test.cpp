#include "unit/relay/lane/fenced_lane_fixture.hpp"

namespace walrelay::relay {
namespace {

TEST_F(FencedLane, SendsNothingBeforeItIsOpen) {
    admit(1);
    EXPECT_EQ(send(), strings{});
    EXPECT_FALSE(tested.ack_deadline().has_value());
}

TEST_F(FencedLane, SendsInOrderEachExpectingTheSequenceOfTheOneBefore) {
    open_proven(10);
    admit_through(1, 3);
    EXPECT_EQ(send(), (strings{"1@10", "2@11", "3@12"}));
    EXPECT_EQ(send(), strings{});
}

TEST_F(FencedLane, ReportsOnlyTheContiguousPrefixAsStored) {
    open_proven(10);
    admit_through(1, 3);
    send();
    EXPECT_EQ(reply(tokens[1], stored(12)), lane_verdict::carry_on);
    EXPECT_EQ(stored_commit(), 0U);
    EXPECT_EQ(reply(tokens[0], stored(11)), lane_verdict::carry_on);
    EXPECT_EQ(stored_commit(), 2U);
    EXPECT_EQ(tested.size(), 1U);
}

TEST_F(FencedLane, TakesNoMoreThanItsWindowOfMessages) {
    tested.open(1, {0, {}});
    admit_through(1, 4);
    EXPECT_FALSE(tested.has_room());
    send();
    EXPECT_EQ(reply(tokens[0], stored(1)), lane_verdict::carry_on);
    EXPECT_TRUE(tested.has_room());
}

TEST_F(FencedLane, TakesNoMoreThanItsWindowOfBytes) {
    admit(1, 600);
    EXPECT_TRUE(tested.has_room());
    admit(2, 600);
    EXPECT_FALSE(tested.has_room());
}

TEST_F(FencedLane, LetsAMessageLargerThanTheWindowGoAlone) {
    EXPECT_TRUE(tested.has_room());
    admit(1, 5000);
    EXPECT_FALSE(tested.has_room());
    tested.open(1, {0, {}});
    send();
    EXPECT_EQ(reply(tokens[0], stored(1)), lane_verdict::carry_on);
    EXPECT_TRUE(tested.has_room());
    EXPECT_EQ(tested.size_bytes(), 0U);
}

TEST_F(FencedLane, GoesOnFromTheFirstMissingMessageAfterAResync) {
    open_proven(10);
    admit_through(1, 4);
    send();
    tested.close();
    tested.open(2, tail_at(12, 2));
    EXPECT_EQ(stored_commit(), 2U);
    EXPECT_EQ(send(), strings{"3@12"});
}

TEST_F(FencedLane, SendsAllAgainWhenTheTailHasNoneOfThem) {
    tested.open(1, {10, {}});
    admit_through(1, 2);
    send();
    tested.close();
    EXPECT_EQ(tested.open(2, {10, {}}), stream_memory::kept);
    EXPECT_EQ(send(), strings{"1@10"});
    EXPECT_EQ(reply(tokens.back(), stored(11)), lane_verdict::carry_on);
    EXPECT_EQ(send(), strings{"2@11"});
}

TEST_F(FencedLane, IgnoresRepliesOfAnEarlierConnection) {
    tested.open(1, {10, {}});
    admit(1);
    send();
    tested.close();
    tested.open(2, {10, {}});
    send();
    EXPECT_EQ(reply(tokens[0], stored(11)), lane_verdict::carry_on);
    EXPECT_EQ(tested.size(), 1U);
    EXPECT_EQ(reply(tokens[1], stored(11)), lane_verdict::carry_on);
    EXPECT_TRUE(tested.empty());
}

TEST_F(FencedLane, IgnoresRepliesToWhatWasNeverSentAndSecondReplies) {
    tested.open(1, {10, {}});
    admit_through(1, 2);
    send();
    EXPECT_EQ(reply({1, 99}, stored(12)), lane_verdict::carry_on);
    EXPECT_EQ(reply(tokens[0], stored(11)), lane_verdict::carry_on);
    EXPECT_EQ(reply(tokens[0], failed(outcome_class::doubt)), lane_verdict::carry_on);
    EXPECT_EQ(tested.size(), 1U);
}

TEST_F(FencedLane, AsksForAResyncAtEveryDoubt) {
    std::uint64_t epoch = 0;
    admit(1);
    for (const auto kind : {outcome_class::doubt, outcome_class::transient}) {
        tested.open(++epoch, {10, {}});
        send();
        EXPECT_EQ(reply(tokens.back(), failed(kind)), lane_verdict::resync);
        EXPECT_EQ(tested.last_trouble(), "words of the broker");
        EXPECT_EQ(tested.size(), 1U) << "the message stays";
    }
}

TEST_F(FencedLane, AsksForAResyncWhenTheSequenceIsNotTheExpectedOne) {
    tested.open(1, {10, {}});
    admit(1);
    send();
    EXPECT_EQ(reply(tokens[0], stored(13)), lane_verdict::resync);
    EXPECT_EQ(stored_commit(), std::nullopt);
}

TEST_F(FencedLane, NamesTheMessageThatTheBrokerRefuses) {
    open_proven(10);
    admit_through(1, 2);
    send();
    EXPECT_EQ(reply(tokens[1], failed(outcome_class::refused)), lane_verdict::carry_on);
    EXPECT_EQ(reply(tokens[0], stored(11)), lane_verdict::message_refused)
        << "once all before it is stored";
    EXPECT_EQ(tested.refused_message().id, "2");
    EXPECT_EQ(send(), strings{}) << "it is not decided what becomes of it";
    EXPECT_FALSE(tested.ack_deadline());
    tested.offer_again();
    EXPECT_EQ(send(), strings{"2@11"});
}

TEST_F(FencedLane, SendsWhatFailedBehindARefusedMessageAgain) {
    open_proven(10);
    admit_through(1, 4);
    send();
    EXPECT_EQ(reply(tokens[0], stored(11)), lane_verdict::carry_on);
    EXPECT_EQ(reply(tokens[1], failed(outcome_class::refused)), lane_verdict::carry_on);
    EXPECT_EQ(reply(tokens[2], wrong_sequence), lane_verdict::carry_on);
    EXPECT_EQ(send(), strings{}) << "a reply is still to come";
    EXPECT_TRUE(tested.ack_deadline());
    EXPECT_EQ(reply(tokens[3], duplicate(3)), lane_verdict::message_refused);
    tested.set_refused_aside();
    EXPECT_EQ(send(), strings{}) << "its dead letter is not stored yet";
    EXPECT_EQ(stored_commit(), 1U);
    tested.settle_waiting({tested.refused_message().where.at});
    EXPECT_EQ(stored_commit(), 2U);
    EXPECT_EQ(send(), strings{"3@11"});
    EXPECT_EQ(reply(tokens.back(), stored(12)), lane_verdict::carry_on);
    EXPECT_EQ(send(), strings{"4@12"});
}

TEST_F(FencedLane, ReadsTheTailAgainWhereSomebodyTookThePlaceOfARefusedMessage) {
    open_proven(10);
    admit_through(1, 3);
    send();
    EXPECT_EQ(reply(tokens[0], failed(outcome_class::refused)), lane_verdict::carry_on);
    EXPECT_EQ(reply(tokens[1], stored(12)), lane_verdict::resync);
}

TEST_F(FencedLane, ReadsTheTailAgainWhereWhatIsBeforeARefusedMessageFails) {
    open_proven(10);
    admit_through(1, 3);
    send();
    EXPECT_EQ(reply(tokens[1], failed(outcome_class::refused)), lane_verdict::carry_on);
    EXPECT_EQ(reply(tokens[0], wrong_sequence), lane_verdict::resync);
}

TEST_F(FencedLane, ForgetsARefusalWithItsConnection) {
    open_proven(10);
    admit_through(1, 2);
    send();
    EXPECT_EQ(reply(tokens[0], failed(outcome_class::refused)), lane_verdict::carry_on);
    tested.close();
    tested.open(2, tail_at(10, 0));
    EXPECT_EQ(send(), strings{"1@10"});
}

TEST_F(FencedLane, TakesADuplicateAtTheExpectedSequenceForItsOwnEarlierPublish) {
    tested.open(1, {10, {}});
    admit(1);
    send();
    EXPECT_EQ(reply(tokens[0], duplicate(11)), lane_verdict::carry_on);
    EXPECT_EQ(stored_commit(), 1U);
    // The stream has had as many messages; of which position that one is, the broker does not say.
    EXPECT_EQ(tested.newest_stored(), (stored_message{11, std::nullopt}));
}

TEST_F(FencedLane, AsksWhoseIdItIsThatTheStreamHadBefore) {
    tested.open(1, tail_at(10, 1));
    admit(2);
    send();
    EXPECT_EQ(reply(tokens[0], duplicate(4)), lane_verdict::id_is_taken);
    EXPECT_EQ(tested.refused_message().id, "2");
    EXPECT_EQ(tested.taken_at(), 4U);
}

TEST_F(FencedLane, TrustsTheBrokersMemoryOfIdsWhereTheTailSaysNothing) {
    tested.open(1, {10, {}});
    admit_through(1, 2);
    send();
    EXPECT_EQ(reply(tokens[0], duplicate(9)), lane_verdict::carry_on);
    EXPECT_EQ(send(), strings{"2@10"}) << "the duplicate made no new sequence";
    EXPECT_EQ(reply(tokens[1], duplicate(10)), lane_verdict::carry_on);
    EXPECT_EQ(stored_commit(), 2U);
    admit(3);
    EXPECT_EQ(send(), strings{"3@10"});
}

TEST_F(FencedLane, CoversWhatTheTailOrTheWindowHas) {
    tested.open(1, tail_at(10, 5));
    EXPECT_TRUE(tested.covers({nth(5), {}, 0}));
    EXPECT_FALSE(tested.covers({nth(5), {}, 1}));
    admit(6);
    EXPECT_TRUE(tested.covers({nth(6), {}, 0}));
}

TEST_F(FencedLane, SkipsNothingByThePositionsOfAnotherHistory) {
    tested.open(1, {10, position{{7, 2}, {nth(500), {}, 0}}});
    EXPECT_FALSE(tested.covers({nth(5), {}, 0}));
    tested.set_history({{7, 2}});
    EXPECT_TRUE(tested.covers({nth(5), {}, 0}));
}

TEST_F(FencedLane, AppliesATailThatWasReadBeforeTheHistoryWasKnown) {
    fenced_lane fresh({4, 1000, 5s});
    fresh.open(1, tail_at(10, 5));
    EXPECT_FALSE(fresh.covers({nth(5), {}, 0}));
    fresh.set_history({here});
    EXPECT_TRUE(fresh.covers({nth(5), {}, 0}));
    EXPECT_EQ(fresh.stored_up_to(), (commit_position{nth(5), {}, 0}));
}

TEST_F(FencedLane, AsksWhoseIdItIsThatThisConnectionSent) {
    tested.open(1, {0, {}});
    admit_through(1, 2);
    send();
    EXPECT_EQ(reply(tokens[0], stored(1)), lane_verdict::carry_on);
    send();
    EXPECT_EQ(reply(tokens[1], duplicate(1)), lane_verdict::id_is_taken);
    EXPECT_EQ(tested.refused_message().id, "2");
}

TEST_F(FencedLane, KeepsNoMemoryOfLargeMessagesThatAreStored) {
    tested.open(1, {0, {}});
    admit(1, 1U << 20U);
    send();
    EXPECT_EQ(reply(tokens[0], stored(1)), lane_verdict::carry_on);
    admit(2);
    admit(3);
    admit(4);
    EXPECT_LT(tested.vacancy().body.capacity(), 4096U) << "the first place is next again";
}

TEST_F(FencedLane, GivesASlowLinkTimeAsLongAsAcksArrive) {
    open_proven(10);
    admit_through(1, 2);
    send(start);
    EXPECT_EQ(reply(tokens[0], stored(11), start + 4s), lane_verdict::carry_on);
    EXPECT_EQ(tested.ack_deadline(), start + 9s);
}

TEST_F(FencedLane, WaitsForTheOldestAckOnly) {
    open_proven(10);
    admit(1);
    send(start);
    admit(2);
    send(start + 400ms);
    EXPECT_EQ(tested.ack_deadline(), start + 5s);
    EXPECT_EQ(reply(tokens[0], stored(11)), lane_verdict::carry_on);
    EXPECT_EQ(tested.ack_deadline(), start + 5400ms);
}

TEST_F(FencedLane, GivesAMessageThatWasNotAdmittedAgain) {
    tested.vacancy().id = "left";
    EXPECT_EQ(tested.vacancy().id, "");
    EXPECT_TRUE(tested.empty());
}

TEST_F(FencedLane, ReusesItsPlacesForEver) {
    tested.open(1, {0, {}});
    for (std::uint64_t commit = 1; commit <= 1000; ++commit) {
        admit(commit);
        send();
        ASSERT_EQ(reply(tokens.back(), stored(commit)), lane_verdict::carry_on);
    }
    EXPECT_EQ(tested.stored_count(), 1000U);
    EXPECT_TRUE(tested.empty());
}

TEST_F(FencedLane, NoticesAStreamThatEndsBeforeWhatItAcked) {
    tested.open(1, tail_at(10, 5));
    admit_through(6, 8);
    send();
    EXPECT_EQ(reply(tokens[0], stored(11)), lane_verdict::carry_on);
    tested.close();
    EXPECT_FALSE(tested.has_forgotten({11, position{here, {nth(6), {}, 0}}}));
    EXPECT_TRUE(tested.has_forgotten({10, position{here, {nth(5), {}, 0}}}));
    EXPECT_EQ(tested.open(2, tail_at(10, 5)), stream_memory::forgot);
    EXPECT_TRUE(tested.empty()) << "what is missing is older than the window";
    EXPECT_FALSE(tested.covers({nth(6), {}, 0}));
    EXPECT_TRUE(tested.covers({nth(5), {}, 0}));
    EXPECT_EQ(stored_commit(), 5U);
}

TEST_F(FencedLane, NoticesThatOthersHaveWrittenWithAnEarlierPosition) {
    tested.open(1, tail_at(10, 5));
    admit(6);
    send();
    EXPECT_EQ(reply(tokens[0], stored(11)), lane_verdict::carry_on);
    tested.close();
    stream_facts seen;
    seen.last_sequence = 20;
    seen.placed = {{20, {here, {nth(5), {}, 0}}, "forged"}};
    EXPECT_TRUE(tested.is_mixed(seen, 0));
    EXPECT_FALSE(tested.is_mixed(seen, 20)) << "rows were compared up to there";
    EXPECT_FALSE(tested.has_forgotten(tail_at(20, 5)));
}

TEST_F(FencedLane, NoticesThatAStrangersMessageTookThePlaceOfALostPublish) {
    open_proven(10);
    admit_through(1, 4);
    send();
    // Sequence 11 is a stranger's, and what was sent behind it fits all the same.
    EXPECT_EQ(reply(tokens[1], stored(12)), lane_verdict::carry_on);
    EXPECT_EQ(reply(tokens[2], stored(13)), lane_verdict::carry_on);
    tested.close();
    stream_facts seen;
    seen.last_sequence = 14;
    seen.shared = true;
    seen.placed = {{12, {here, {nth(2), {}, 0}}, "2"}, {13, {here, {nth(3), {}, 0}}, "3"}};
    seen.last_position = seen.placed.back().where;
    EXPECT_TRUE(tested.is_mixed(seen, 0)) << "1 is not there";
    seen.placed.insert(seen.placed.begin(), {11, {here, {nth(1), {}, 0}}, "1"});
    EXPECT_FALSE(tested.is_mixed(seen, 0));
    // The same with a forged position behind it.
    seen.placed.erase(seen.placed.begin());
    seen.placed.push_back({14, {here, {nth(9), {}, 0}}, "forged"});
    seen.last_position = seen.placed.back().where;
    EXPECT_TRUE(tested.is_mixed(seen, 0));
}

TEST_F(FencedLane, KeepsWhatItKnowsWhenTheStreamIsPurged) {
    tested.open(1, tail_at(10, 5));
    admit(6);
    send();
    EXPECT_EQ(reply(tokens[0], stored(11)), lane_verdict::carry_on);
    tested.close();
    EXPECT_EQ(tested.open(2, {11, {}}), stream_memory::kept);
    EXPECT_TRUE(tested.covers({nth(6), {}, 0}));
}

TEST_F(FencedLane, PassesOverEventsThatAreSettledWithoutTheStream) {
    open_proven(10);
    admit(1);
    tested.admit_settled({here, {nth(2), {}, 0}});
    admit(3);
    EXPECT_EQ(send(), (strings{"1@10", "3@11"}));
    EXPECT_EQ(stored_commit(), 0U);
    EXPECT_EQ(reply(tokens[0], stored(11)), lane_verdict::carry_on);
    EXPECT_EQ(stored_commit(), 2U);
    EXPECT_TRUE(tested.covers({nth(2), {}, 0}));
}

TEST_F(FencedLane, CountsASettledEventInAnEmptyWindowAtOnce) {
    tested.open(1, {10, {}});
    tested.admit_settled({here, {nth(2), {}, 0}});
    EXPECT_TRUE(tested.empty());
    EXPECT_EQ(stored_commit(), 2U);
    EXPECT_FALSE(tested.has_forgotten({10, {}})) << "the stream never had it";
}

TEST_F(FencedLane, KeepsSettledEventsSettledOverAReconnect) {
    tested.open(1, {10, {}});
    admit(1);
    tested.admit_settled({here, {nth(2), {}, 0}});
    send();
    tested.close();
    tested.open(2, {10, {}});
    EXPECT_EQ(send(), strings{"1@10"});
    EXPECT_EQ(reply(tokens.back(), stored(11)), lane_verdict::carry_on);
    EXPECT_EQ(stored_commit(), 2U);
}

TEST_F(FencedLane, StartsOverBehindWhatIsStored) {
    open_proven(10);
    admit_through(1, 3);
    send();
    EXPECT_EQ(reply(tokens[0], stored(11)), lane_verdict::carry_on);
    tested.close();
    tested.start_over();
    EXPECT_TRUE(tested.empty());
    EXPECT_TRUE(tested.covers({nth(1), {}, 0}));
    EXPECT_FALSE(tested.covers({nth(2), {}, 0}));
}

TEST_F(FencedLane, SendsFewerAtOnceAfterTheBrokerSaidTooMany) {
    fenced_lane wide({64, 100000, 5s});
    wide.set_history({here});
    wide.open(1, {0, {}});
    for (std::uint64_t commit = 1; commit <= 64; ++commit) {
        message& filled = wide.vacancy();
        filled.where = {here, {nth(commit), {}, 0}};
        wide.admit();
    }
    const auto first = wide.next_to_send(start);
    ASSERT_TRUE(first);
    publish_outcome too_many{outcome_class::transient, 0, 10167, "too many requests"};
    EXPECT_EQ(wide.on_reply(first->token, too_many, start), lane_verdict::resync);
    wide.close();
    wide.open(2, {0, {}});
    std::vector<publish_token> sent{wide.next_to_send(start).value().token};
    EXPECT_EQ(wide.on_reply(sent[0], stored(1), start), lane_verdict::carry_on);
    while (const auto next = wide.next_to_send(start)) {
        sent.push_back(next->token);
    }
    EXPECT_EQ(sent.size(), 34U);
    EXPECT_EQ(wide.on_reply(sent[1], stored(2), start), lane_verdict::carry_on);
    EXPECT_EQ(wide.in_flight_limit(), 34U) << "and it grows again";
}

TEST_F(FencedLane, SendsOneMessageUntilTheTailIsProvedToBeTheLatest) {
    tested.open(1, {10, {}});
    admit_through(1, 3);
    // An old tail: the second publish would be let through by what made the first one fail.
    EXPECT_EQ(send(), strings{"1@10"});
    EXPECT_EQ(send(), strings{});
    EXPECT_EQ(reply(tokens[0], stored(11)), lane_verdict::carry_on);
    EXPECT_EQ(send(), (strings{"2@11", "3@12"}));
}

TEST_F(FencedLane, ProvesTheTailAgainWhenTheSlotWasInOtherHands) {
    open_proven(10);
    admit(1);
    send();
    tested.prove_again();
    admit_through(2, 4);
    EXPECT_EQ(send(), strings{});
    EXPECT_EQ(reply(tokens[0], stored(11)), lane_verdict::carry_on);
    EXPECT_EQ(send(), strings{"2@11"}) << "the first was sent before, and proves nothing";
    EXPECT_EQ(reply(tokens[1], stored(12)), lane_verdict::carry_on);
    EXPECT_EQ(send(), (strings{"3@12", "4@13"}));
}

TEST_F(FencedLane, SendsAsManyAloneAsAnEarlierWindowCanHaveLeftOnItsWay) {
    open_proven(10);
    tested.outlast_stragglers();
    // Four were in flight at most, after sequence 10: the last of them expects 13.
    admit_through(1, 4);
    for (std::uint64_t commit = 1; commit <= 4; ++commit) {
        EXPECT_EQ(send(), strings{std::to_string(commit) + "@" + std::to_string(commit + 9)});
        EXPECT_EQ(reply(tokens.at(commit - 1), stored(commit + 10)), lane_verdict::carry_on);
    }
    admit_through(5, 6);
    EXPECT_EQ(send(), (strings{"5@14", "6@15"}));
}

}  // namespace
}  // namespace walrelay::relay
