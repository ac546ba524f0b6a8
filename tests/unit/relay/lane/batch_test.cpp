// Messages of the only writer that share batches.
#include "unit/relay/lane/fenced_lane_fixture.hpp"

#include <gmock/gmock.h>

#include <map>

namespace walrelay::relay {
namespace {

using testing::ElementsAre;

class Batches : public testing::Test {
protected:
    static constexpr std::uint64_t window = 4;

    Batches() {
        tested.set_history({here});
        tested.open(1, {0, {}});
        // So many go by themselves on each connection.
        for (std::uint64_t commit = 1; commit <= window; ++commit) {
            admit(commit);
            const auto sent = send();
            EXPECT_THAT(sent, ElementsAre(std::to_string(commit)));
            EXPECT_EQ(reply(commit, stored(commit)), lane_verdict::carry_on);
        }
    }

    void admit(std::uint64_t commit) {
        message& filled = tested.vacancy();
        filled.where = {here, {nth(commit), {}, 0}};
        filled.id = std::to_string(commit);
        filled.subject = "s";
        tested.admit();
    }

    /// Their ids, with a plus where one may share a batch.
    std::vector<std::string> send() {
        std::vector<std::string> all;
        while (const auto next = tested.next_to_send(start)) {
            tokens[std::stoull(next->content->id)] = next->token;
            all.push_back(next->content->id + (next->may_batch ? "+" : ""));
        }
        return all;
    }

    lane_verdict reply(std::uint64_t commit, const publish_outcome& said) {
        return tested.on_reply(tokens.at(commit), said, start);
    }

    static publish_outcome stored_together(std::uint64_t sequence, std::uint32_t count) {
        auto said = stored(sequence);
        said.together = count;
        return said;
    }

    static publish_outcome batch_failed() {
        auto said = failed(outcome_class::doubt);
        said.together = 2;
        return said;
    }

    void open_again(std::uint64_t epoch, std::uint64_t sequence) {
        tested.close();
        tested.open(epoch, tail_at(sequence, sequence));
    }

    fenced_lane tested{{window, 1000, 5s, true, true}};
    std::map<std::uint64_t, publish_token> tokens;
};

TEST_F(Batches, OneAckStoresAll) {
    for (std::uint64_t commit = 5; commit <= 7; ++commit) {
        admit(commit);
    }
    EXPECT_THAT(send(), ElementsAre("5+", "6+", "7+"));
    EXPECT_EQ(reply(7, stored_together(7, 3)), lane_verdict::carry_on);
    EXPECT_TRUE(tested.empty());
    EXPECT_EQ(tested.stored_up_to().value().commit, nth(7));
    EXPECT_EQ(tested.known_sequence(), 7U);
}

TEST_F(Batches, AnAckAtAnotherSequenceIsNone) {
    admit(5);
    admit(6);
    send();
    EXPECT_EQ(reply(6, stored_together(5, 2)), lane_verdict::resync);
    EXPECT_EQ(tested.stored_up_to().value().commit, nth(4));
}

TEST_F(Batches, AnAckOfMoreThanWasSentTogetherIsNone) {
    admit(5);
    send();
    EXPECT_EQ(reply(5, stored(5)), lane_verdict::carry_on);
    admit(6);
    admit(7);
    send();
    // 5 was stored before; the three cannot be one batch that ends at 8.
    EXPECT_EQ(reply(7, stored_together(8, 3)), lane_verdict::resync);
}

TEST_F(Batches, AfterOneFailedWhatWasUnderWayGoesByItself) {
    for (std::uint64_t commit = 5; commit <= 8; ++commit) {
        admit(commit);
    }
    EXPECT_THAT(send(), ElementsAre("5+", "6+", "7+", "8+"));
    EXPECT_EQ(reply(6, batch_failed()), lane_verdict::resync);
    open_again(2, 4);
    EXPECT_THAT(send(), ElementsAre("5"));
    EXPECT_EQ(reply(5, stored(5)), lane_verdict::carry_on);
    EXPECT_THAT(send(), ElementsAre("6", "7", "8"));
    // The answer says now of which message it is.
    EXPECT_EQ(reply(6, failed(outcome_class::refused)), lane_verdict::carry_on);
    EXPECT_EQ(reply(7, wrong_sequence), lane_verdict::carry_on);
    EXPECT_EQ(reply(8, wrong_sequence), lane_verdict::message_refused);
    EXPECT_EQ(tested.refused_message().id, "6");
}

TEST_F(Batches, AreTriedMoreAndMoreRarelyWhereTheyFail) {
    std::uint64_t epoch = 1;
    std::uint64_t commit = window;
    std::vector<std::uint64_t> single;
    for (int times = 0; times < 3; ++times) {
        admit(++commit);
        admit(++commit);
        EXPECT_EQ(send().size(), 2U);
        EXPECT_EQ(reply(commit, batch_failed()), lane_verdict::resync);
        open_again(++epoch, commit);  // they were stored, all the same
        single.push_back(0);
        for (bool singly = true; singly; single.back() += singly ? 1 : 0) {
            admit(++commit);
            singly = !send().at(0).ends_with("+");
            EXPECT_EQ(reply(commit, stored(commit)), lane_verdict::carry_on);
        }
    }
    // The two of the batch are among them.
    EXPECT_THAT(single, ElementsAre(2 * window - 2, 4 * window - 2, 8 * window - 2));
}

TEST_F(Batches, SilenceIsAFailureAsWell) {
    std::uint64_t commit = window;
    admit(++commit);
    admit(++commit);
    EXPECT_EQ(send().size(), 2U);
    open_again(2, commit);
    for (std::uint64_t each = 0; each < window + 1; ++each) {
        admit(++commit);
        EXPECT_FALSE(send().at(0).ends_with("+")) << each;
        EXPECT_EQ(reply(commit, stored(commit)), lane_verdict::carry_on);
    }
}

TEST_F(Batches, AFailureBehindARefusedMessageIsADoubt) {
    admit(5);
    admit(6);
    admit(7);
    send();
    EXPECT_EQ(reply(5, failed(outcome_class::refused)), lane_verdict::carry_on);
    EXPECT_EQ(reply(6, batch_failed()), lane_verdict::resync);
}

TEST(BatchesBesideOthers, AreNone) {
    const auto beside = lane::make({4, 1000, 5s, false, true});
    beside->set_history({here});
    beside->open(1, {0, {}});
    message& filled = beside->vacancy();
    filled.where = {here, {nth(1), {}, 0}};
    filled.id = "1";
    beside->admit();
    EXPECT_FALSE(beside->next_to_send(start).value().may_batch);
}

}  // namespace
}  // namespace walrelay::relay
