#include "relay/confirm/ledger.hpp"

#include <gtest/gtest.h>

namespace walrelay::relay {
namespace {

commit_position at(std::uint64_t commit, std::uint64_t ordinal) {
    return {lsn{commit}, {}, ordinal};
}

TEST(Ledger, KnowsNothingAtFirst) {
    const ledger fresh;
    EXPECT_EQ(fresh.acked(), lsn{});
    EXPECT_TRUE(fresh.settled());
}

TEST(Ledger, AcksTheEndOfATransactionOnceItsLastEventIsStored) {
    ledger book;
    book.transaction_ended(at(100, 2), at(100, 2), lsn{110});
    book.stored_up_to(at(100, 1));
    EXPECT_EQ(book.acked(), lsn{});
    book.stored_up_to(at(100, 2));
    EXPECT_EQ(book.acked(), lsn{110});
}

TEST(Ledger, HoldsAckedBeforeTheOldestUnstored) {
    ledger book;
    book.transaction_ended(at(100, 0), at(100, 0), lsn{110});
    book.transaction_ended(at(200, 0), at(200, 0), lsn{210});
    book.transaction_ended(at(300, 0), at(300, 0), lsn{310});
    book.stored_up_to(at(200, 0));
    EXPECT_EQ(book.acked(), lsn{210});
    EXPECT_FALSE(book.settled());
}

TEST(Ledger, AcksATransactionThatWasStoredBeforeItsEndWasRead) {
    ledger book;
    book.stored_up_to(at(100, 5));
    book.transaction_ended(at(100, 5), at(100, 5), lsn{110});
    EXPECT_EQ(book.acked(), lsn{110});
}

TEST(Ledger, AcksATransactionWithoutEventsAtOnce) {
    ledger book;
    book.transaction_ended(std::nullopt, std::nullopt, lsn{110});
    EXPECT_EQ(book.acked(), lsn{110});
}

TEST(Ledger, LetsATransactionWithoutEventsWaitForTheOneBefore) {
    ledger book;
    book.transaction_ended(at(100, 0), at(100, 0), lsn{110});
    for (std::uint64_t end = 120; end < 1000; end += 10) {
        book.transaction_ended(std::nullopt, std::nullopt, lsn{end});
    }
    EXPECT_EQ(book.acked(), lsn{});
    EXPECT_EQ(book.pending_count(), 1U);
    book.stored_up_to(at(100, 0));
    EXPECT_EQ(book.acked(), lsn{990});
}

TEST(Ledger, MovesWithAKeepaliveThatSaysWhatTheLastOneSaid) {
    ledger book;
    EXPECT_TRUE(book.idle_at(lsn{50})) << "to be asked again";
    EXPECT_EQ(book.acked(), lsn{});
    EXPECT_FALSE(book.idle_at(lsn{50}));
    EXPECT_EQ(book.acked(), lsn{50});
}

TEST(Ledger, BelievesOneKeepaliveOnlyAsFarAsTheOther) {
    ledger book;
    EXPECT_TRUE(book.idle_at(lsn{5000}));
    EXPECT_FALSE(book.idle_at(lsn{60}));
    EXPECT_EQ(book.acked(), lsn{60});
    EXPECT_TRUE(book.idle_at(lsn{70}));
    EXPECT_EQ(book.acked(), lsn{60});
}

TEST(Ledger, ForgetsWhatAnotherConnectionSaid) {
    ledger book;
    EXPECT_TRUE(book.idle_at(lsn{50}));
    book.forget_pending();
    EXPECT_TRUE(book.idle_at(lsn{50}));
    EXPECT_EQ(book.acked(), lsn{});
}

TEST(Ledger, RemembersAKeepaliveUntilWhatIsPendingIsStored) {
    ledger book;
    book.transaction_ended(at(100, 0), at(100, 0), lsn{110});
    book.transaction_ended(at(200, 0), at(200, 0), lsn{210});
    EXPECT_TRUE(book.idle_at(lsn{500}));
    EXPECT_FALSE(book.idle_at(lsn{500}));
    EXPECT_EQ(book.acked(), lsn{});
    book.stored_up_to(at(100, 0));
    EXPECT_EQ(book.acked(), lsn{110});
    book.stored_up_to(at(200, 0));
    EXPECT_EQ(book.acked(), lsn{500});
}

TEST(Ledger, KnowsTheLastEventOfWhatIsAcked) {
    ledger book;
    book.stored_up_to(at(100, 1));
    EXPECT_EQ(book.acked_event(), std::nullopt);
    book.transaction_ended(at(100, 1), at(100, 1), lsn{110});
    EXPECT_EQ(book.acked_event(), at(100, 1));
    book.transaction_ended(std::nullopt, std::nullopt, lsn{120});
    book.transaction_ended(at(200, 3), at(200, 3), lsn{210});
    EXPECT_EQ(book.acked_event(), at(100, 1));
    book.stored_up_to(at(300, 0));
    EXPECT_EQ(book.acked_event(), at(200, 3));
}

TEST(Ledger, LastEventThatIsAckedIsNoDeadLetter) {
    ledger book;
    book.transaction_ended(at(100, 1), at(100, 1), lsn{110});
    book.transaction_ended(at(200, 3), at(200, 1), lsn{210});
    book.transaction_ended(at(300, 0), std::nullopt, lsn{310});
    book.stored_up_to(at(300, 0));
    EXPECT_EQ(book.acked(), lsn{310});
    EXPECT_EQ(book.acked_event(), at(200, 1)) << "the stream never had the others";
}

TEST(Ledger, NeverMovesBackwards) {
    ledger book;
    EXPECT_TRUE(book.idle_at(lsn{500}));
    EXPECT_FALSE(book.idle_at(lsn{500}));
    EXPECT_FALSE(book.idle_at(lsn{400}));
    book.transaction_ended(std::nullopt, std::nullopt, lsn{300});
    EXPECT_EQ(book.acked(), lsn{500});
}

TEST(Ledger, StartsOverFromTheSlotWithoutForgettingWhatIsStored) {
    ledger book;
    book.transaction_ended(at(100, 0), at(100, 0), lsn{110});
    book.transaction_ended(at(200, 0), at(200, 0), lsn{210});
    book.stored_up_to(at(100, 0));
    book.forget_pending();
    // The slot resends both; the second is not stored yet.
    book.transaction_ended(at(100, 0), at(100, 0), lsn{110});
    book.transaction_ended(at(200, 0), at(200, 0), lsn{210});
    EXPECT_EQ(book.acked(), lsn{110});
    book.stored_up_to(at(200, 0));
    EXPECT_EQ(book.acked(), lsn{210});
}

}  // namespace
}  // namespace walrelay::relay
