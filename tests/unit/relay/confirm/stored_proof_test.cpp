// From acked to stored: what an ack alone does not prove.
#include "relay/confirm/stored_proof.hpp"

#include <gtest/gtest.h>

namespace walrelay::relay {
namespace {

using namespace std::chrono_literals;

const monotonic_time start{1000s};

commit_position at(std::uint64_t commit) {
    return {lsn{commit}, {}, 0};
}

stored_proof::claim claim_of(std::uint64_t sequence) {
    return {at(100 * sequence), stored_message{sequence, position{{7, 1}, at(100 * sequence)}},
            sequence};
}

/// Remembers what was claimed, as the lane does.
class claimed_proof : public stored_proof {
public:
    std::optional<commit_position> stored_of(const claim& what) {
        claimed_ = what;
        return stored_proof::stored_of(what.up_to, what.newest, what.stored_count);
    }
    void asked(monotonic_time now) { stored_proof::asked(claimed_, now); }

private:
    claim claimed_;
};

TEST(StoredProof, AnAckProvesNothing) {
    claimed_proof proof;
    EXPECT_EQ(proof.stored_of(claim_of(1)), std::nullopt);
    EXPECT_EQ(proof.newest(), std::nullopt);
    EXPECT_TRUE(proof.is_open());
    ASSERT_TRUE(proof.deadline());
    EXPECT_LE(*proof.deadline(), start) << "the stream is asked at once";
}

TEST(StoredProof, WhatWasAckedWhenTheStreamWasAskedIsStoredOnceItAnswers) {
    claimed_proof proof;
    EXPECT_EQ(proof.stored_of(claim_of(1)), std::nullopt);
    proof.asked(start);
    EXPECT_EQ(proof.stored_of(claim_of(3)), std::nullopt);
    EXPECT_EQ(proof.deadline(), std::nullopt) << "an answer is awaited";
    proof.answered();
    EXPECT_EQ(proof.stored_of(claim_of(3)), at(100));
    EXPECT_EQ(proof.newest(), claim_of(1).newest);
    ASSERT_TRUE(proof.deadline());
    EXPECT_GT(*proof.deadline(), start) << "not for every ack";
}

TEST(StoredProof, WhatIsReadNeedsNoAnswer) {
    claimed_proof proof;
    proof.shown(claim_of(5));
    EXPECT_EQ(proof.stored_of(claim_of(5)), at(500));
    auto further = claim_of(5);
    further.up_to = at(700);
    EXPECT_EQ(proof.stored_of(further), at(700)) << "rows that the stream was seen to have";
    EXPECT_FALSE(proof.is_open());
}

TEST(StoredProof, AnAckOutOfItsTurnIsNotTakenForRead) {
    claimed_proof proof;
    proof.shown(claim_of(5));
    auto later = claim_of(5);
    later.newest = claim_of(7).newest;
    EXPECT_EQ(proof.stored_of(later), at(500));
    EXPECT_EQ(proof.newest(), claim_of(5).newest);
    EXPECT_TRUE(proof.is_open());
}

TEST(StoredProof, TheAnswerOfAConnectionThatIsGoneProvesNothing) {
    claimed_proof proof;
    EXPECT_EQ(proof.stored_of(claim_of(1)), std::nullopt);
    proof.asked(start);
    proof.forget_question();
    proof.answered();
    EXPECT_EQ(proof.stored_of(claim_of(1)), std::nullopt);
}

TEST(StoredProof, GoesBackWithWhatIsClaimed) {
    claimed_proof proof;
    proof.shown(claim_of(5));
    auto less = claim_of(5);
    less.up_to = at(300);
    EXPECT_EQ(proof.stored_of(less), at(300));
    less.up_to.reset();
    EXPECT_EQ(proof.stored_of(less), std::nullopt);
}

TEST(StoredProof, ProvesNothingOfAnotherHistory) {
    claimed_proof proof;
    EXPECT_EQ(proof.stored_of(claim_of(9)), std::nullopt);
    proof.asked(start);
    proof.begin_history();
    auto of_it = claim_of(9);
    of_it.up_to = at(2);
    EXPECT_EQ(proof.stored_of(of_it), std::nullopt);
    proof.answered();
    EXPECT_EQ(proof.stored_of(of_it), at(2)) << "the stream has all that was acked";
}

}  // namespace
}  // namespace walrelay::relay
