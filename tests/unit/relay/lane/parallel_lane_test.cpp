#include "relay/lane/parallel_lane.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace walrelay::relay {
namespace {

using namespace std::chrono_literals;
using strings = std::vector<std::string>;

constexpr history here{7, 1};
const monotonic_time start{};

/// Where records begin: no place of a snapshot.
constexpr lsn nth(std::uint64_t commit) {
    return lsn{8 * commit};
}

publish_outcome stored(std::uint64_t sequence) {
    return {outcome_class::stored, sequence, 0, {}};
}

class ParallelLane : public testing::Test {
protected:
    ParallelLane() { tested.set_history({here}); }

    void admit(const std::string& aggregate, std::uint64_t commit) {
        message& filled = tested.vacancy();
        filled.where = {here, {nth(commit), {}, 0}};
        filled.aggregate = aggregate;
        filled.id = aggregate + std::to_string(commit);
        tested.admit();
    }

    strings send(monotonic_time at = start) {
        strings sent;
        while (const auto next = tested.next_to_send(at)) {
            EXPECT_EQ(next->expected_last_sequence, std::nullopt);
            tokens.push_back(next->token);
            sent.push_back(next->content->id);
        }
        return sent;
    }

    void has_stored_commits_2_and_4() {
        tested.open(1, {});
        admit("a", 2);
        admit("b", 4);
        send();
        ack(0);
        ack(1);
    }

    void has_an_ack_behind_an_open_one() {
        tested.open(1, {});
        admit("a", 1);
        admit("b", 2);
        send();
        ack(1);
    }

    static message message_of(const std::string& aggregate, std::uint64_t commit) {
        message made;
        made.where = {here, {nth(commit), {}, 0}};
        made.aggregate = aggregate;
        made.id = aggregate + std::to_string(commit);
        return made;
    }

    void ack(std::size_t which) {
        EXPECT_EQ(tested.on_reply(tokens.at(which), stored(++sequence), start),
                  lane_verdict::carry_on);
    }

    std::uint64_t stored_commit() const {
        const auto known = tested.stored_up_to();
        return known ? known->commit.value / 8 : 0;
    }

    parallel_lane tested{{8, 10000, 5s, false}};
    std::vector<publish_token> tokens;
    std::uint64_t sequence = 100;
};

TEST_F(ParallelLane, SendsOneMessageOfEachAggregateAtATime) {
    tested.open(1, {});
    admit("a", 1);
    admit("a", 2);
    admit("b", 3);
    admit("a", 4);
    EXPECT_EQ(send(), (strings{"a1", "b3"}));
    ack(0);
    EXPECT_EQ(send(), strings{"a2"});
    ack(2);
    EXPECT_EQ(send(), strings{"a4"});
}

TEST_F(ParallelLane, CountsOnlyTheContiguousPrefixAsStored) {
    tested.open(1, {});
    admit("a", 1);
    admit("b", 2);
    send();
    ack(1);
    EXPECT_EQ(stored_commit(), 0U);
    ack(0);
    EXPECT_EQ(stored_commit(), 2U);
    EXPECT_TRUE(tested.empty());
}

TEST_F(ParallelLane, SendsWhatIsNotAckedAgainInOrderOnANewConnection) {
    tested.open(1, {});
    admit("a", 1);
    admit("a", 2);
    admit("b", 3);
    send();
    ack(1);
    tested.close();
    tested.open(2, {150, position{here, {nth(9), {}, 0}}});
    EXPECT_EQ(send(), strings{"a1"}) << "the stream's tail proves nothing here, an ack does";
    EXPECT_EQ(tested.on_reply({1, tokens[0].index}, stored(7), start), lane_verdict::carry_on);
    EXPECT_EQ(stored_commit(), 0U) << "a reply of the old connection counts for nothing";
}

TEST_F(ParallelLane, TakesADuplicateForItsOwnEarlierPublish) {
    tested.open(1, {});
    admit("a", 1);
    send();
    EXPECT_EQ(tested.on_reply(tokens[0], {outcome_class::duplicate, 5, 0, {}}, start),
              lane_verdict::carry_on);
    EXPECT_EQ(stored_commit(), 1U);
}

/// What is decided about a message once it was queued again.
TEST_F(ParallelLane, SendsNothingThatALookHasShownToBeStored) {
    for (const bool is_first : {true, false}) {
        parallel_lane lane{{8, 10000, 5s, false}};
        lane.set_history({here});
        for (const auto& [aggregate, commit] :
             {std::pair("a", 1U), {"b", 2U}, {"a", 3U}, {"b", 4U}}) {
            lane.vacancy() = message_of(aggregate, commit);
            lane.admit();
        }
        lane.open(1, {});
        lane.settle_stored({here, {nth(is_first ? 1 : 2), {}, 0}});
        strings sent;
        while (const auto next = lane.next_to_send(start)) {
            sent.push_back(next->content->id);
        }
        EXPECT_EQ(sent, (is_first ? strings{"b2", "a3"} : strings{"a1", "b4"}));
    }
}

TEST_F(ParallelLane, AsksWhoseDuplicatesAreWhereIdsCanHaveBeenGivenAgain) {
    tested.set_history({{7, 2}, {{1, nth(100)}}});
    tested.open(1, {});
    for (const auto& [aggregate, commit] : {std::pair("a", 200U), {"a", 201U}, {"b", 202U}}) {
        auto& filled = tested.vacancy();
        filled.where = {{7, 2}, {nth(commit), {}, 0}};
        filled.aggregate = aggregate;
        filled.id = aggregate + std::to_string(commit);
        tested.admit();
    }
    EXPECT_EQ(send(), (strings{"a200", "b202"}));
    for (const auto& [token, at_sequence] : {std::pair(0U, 5U), {1U, 6U}}) {
        EXPECT_EQ(
            tested.on_reply(tokens[token], {outcome_class::duplicate, at_sequence, 0, {}}, start),
            lane_verdict::id_is_taken);
        EXPECT_EQ(tested.taken_at(), at_sequence);
    }
    EXPECT_EQ(send(), strings{});
    tested.settle_asked({{7, 2}, {nth(200), {}, 0}});
    EXPECT_EQ(send(), strings{"a201"}) << "the next one of its aggregate";
    tested.refuse({{7, 2}, {nth(202), {}, 0}}, 6);
    tested.set_refused_aside();
    EXPECT_EQ(send(), strings{});
}

TEST_F(ParallelLane, MissesALostMessageEvenWhileOthersAreAcked) {
    tested.open(1, {});
    admit("a", 1);
    send(start);
    admit("b", 2);
    send(start + 4s);
    EXPECT_EQ(tested.on_reply(tokens[1], stored(9), start + 4s), lane_verdict::carry_on);
    EXPECT_EQ(tested.ack_deadline(), start + 5s);
    ack(0);
    EXPECT_EQ(tested.ack_deadline(), std::nullopt);
}

TEST_F(ParallelLane, ForgetsAnAggregateWithItsLastMessage) {
    tested.open(1, {});
    for (std::uint64_t commit = 1; commit <= 100; ++commit) {
        admit("a", commit);
        ASSERT_EQ(send(), strings{"a" + std::to_string(commit)});
        ack(commit - 1);
    }
    EXPECT_EQ(tested.stored_count(), 100U);
}

TEST_F(ParallelLane, SeesByTheNextAckThatTheStreamLostWhatItHadAcked) {
    tested.open(1, {});
    admit("a", 1);
    send();
    ack(0);
    admit("a", 2);
    admit("b", 3);
    send();
    EXPECT_EQ(tested.on_reply(tokens[1], stored(90), start), lane_verdict::resync);
    EXPECT_EQ(tested.reused_sequence(), 90U);
    tested.close();
    EXPECT_EQ(tested.open(2, {150, position{here, {nth(9), {}, 0}}}), stream_memory::forgot)
        << "although it has more by now than it had acked";
    EXPECT_FALSE(tested.covers({nth(1), {}, 0}));
    EXPECT_EQ(tested.reused_sequence(), std::nullopt);
}

TEST_F(ParallelLane, TakesAcksThatPassEachOtherForNoLoss) {
    tested.open(1, {});
    admit("a", 1);
    admit("b", 2);
    send();
    EXPECT_EQ(tested.on_reply(tokens[1], stored(102), start), lane_verdict::carry_on);
    EXPECT_EQ(tested.on_reply(tokens[0], stored(101), start), lane_verdict::carry_on);
}

TEST_F(ParallelLane, StartsOverBehindTheStoredPrefix) {
    tested.open(1, {});
    admit("a", 1);
    admit("b", 2);
    admit("c", 3);
    send();
    ack(0);
    ack(2);
    tested.close();
    tested.start_over();
    EXPECT_TRUE(tested.covers({nth(1), {}, 0}));
    EXPECT_FALSE(tested.covers({nth(2), {}, 0}));
    tested.open(2, {150, {}});
    EXPECT_EQ(send(), strings{});
    EXPECT_TRUE(tested.has_acked(message_of("c", 3))) << "the source sends it once more";
    EXPECT_FALSE(tested.has_acked(message_of("b", 2)));
    EXPECT_FALSE(tested.has_acked(message_of("d", 3))) << "another row at this position";
}

TEST_F(ParallelLane, ForgetsItsAcksWhereTheStreamLostSome) {
    has_an_ack_behind_an_open_one();
    tested.close();
    ASSERT_EQ(tested.open(2, {100, {}}), stream_memory::forgot);
    EXPECT_FALSE(tested.has_acked(message_of("b", 2)));
    EXPECT_EQ(send(), strings{});
}

TEST_F(ParallelLane, ForgetsItsAcksWithTheHistory) {
    has_an_ack_behind_an_open_one();
    tested.close();
    tested.set_history({{7, 2}, {{1, nth(8)}}});
    EXPECT_FALSE(tested.has_acked(message_of("b", 2)));
}

TEST_F(ParallelLane, ForgetsAnAckOnceAllBeforeItIsStored) {
    has_an_ack_behind_an_open_one();
    tested.close();
    tested.start_over();
    tested.open(2, {150, {}});
    ASSERT_TRUE(tested.has_acked(message_of("b", 2)));
    admit("a", 1);
    message& again = tested.vacancy();
    again = message_of("b", 2);
    tested.admit_stored();
    tokens.clear();
    ASSERT_EQ(send(), strings{"a1"});
    sequence = 200;
    ack(0);
    EXPECT_EQ(stored_commit(), 2U);
    EXPECT_FALSE(tested.has_acked(message_of("b", 2)));
}

TEST_F(ParallelLane, HoldsTheAggregateOfARefusedMessageUntilItsLetterIsStored) {
    const publish_outcome refusal{outcome_class::refused, 0, 10054, "too large"};
    tested.open(1, {});
    admit("a", 1);
    admit("a", 2);
    admit("b", 3);
    ASSERT_EQ(send(), (strings{"a1", "b3"}));
    ASSERT_EQ(tested.on_reply(tokens[0], refusal, start), lane_verdict::message_refused);
    tested.set_refused_aside();
    EXPECT_EQ(send(), strings{}) << "without a letter it would be sent behind a2 after a stop";
    tested.close();
    tested.open(2, {});
    EXPECT_EQ(send(), strings{"b3"}) << "also over another connection";
    tested.settle_waiting({{nth(1), {}, 0}});
    EXPECT_EQ(send(), strings{"a2"});
}

TEST_F(ParallelLane, ClaimsNoRowOfAHistoryThatWasLeft) {
    constexpr history second{7, 2};
    tested.set_history({second, {{1, nth(8)}}});
    tested.open(1, {});
    tested.vacancy().where = {second, {nth(16), nth(8), 0}};
    tested.admit();
    send();
    ack(0);
    ASSERT_TRUE(tested.claim_again(nth(5)));
    // Another standby, promoted to a timeline of the same number.
    tested.set_history({second, {{1, nth(4)}}});
    EXPECT_FALSE(tested.claim_again(nth(1)));
    EXPECT_FALSE(tested.covers({nth(2), {}, 0}));
}

TEST_F(ParallelLane, KeepsWhatItCanMeetAgainBehindAPromotion) {
    has_stored_commits_2_and_4();
    tested.set_history({{7, 2}, {{1, nth(8)}}});
    EXPECT_TRUE(tested.covers({nth(2), {}, 0}));
}

TEST_F(ParallelLane, ForgetsAllWhereWhatItHasProvedIsNotInTheNewHistory) {
    has_stored_commits_2_and_4();
    // On the way there the database can have been restored, and have used LSN 2 again.
    tested.set_history({{7, 2}, {{1, nth(3)}}});
    EXPECT_FALSE(tested.covers({nth(2), {}, 0}));
}

}  // namespace
}  // namespace walrelay::relay
