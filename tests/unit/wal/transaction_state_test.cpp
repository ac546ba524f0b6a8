// What may follow what in the stream of changes.
#include "wal/transaction_state.hpp"

#include <gtest/gtest.h>

namespace walrelay::wal {
namespace {

constexpr place here{"message", "type", 0};

TEST(TransactionState, GoesFromBeginToCommitAndOver) {
    transaction_state state;
    EXPECT_TRUE(state.begin(lsn{5}, here));
    EXPECT_TRUE(state.require_open(here));
    EXPECT_TRUE(state.commit({lsn{5}, lsn{6}}, here));
    EXPECT_TRUE(state.begin(lsn{7}, here));
}

TEST(TransactionState, TakesNothingOutsideATransaction) {
    transaction_state state;
    EXPECT_EQ(state.require_open(here).error().code, errc::frame_unexpected);
    EXPECT_EQ(state.commit({lsn{5}, lsn{6}}, here).error().code, errc::frame_unexpected);
}

TEST(TransactionState, TakesNoTransactionInsideAnother) {
    transaction_state state;
    ASSERT_TRUE(state.begin(lsn{5}, here));
    EXPECT_EQ(state.begin(lsn{6}, here).error().code, errc::frame_unexpected);
}

TEST(TransactionState, TakesNoTransactionWithoutAnLsn) {
    transaction_state state;
    EXPECT_EQ(state.begin(lsn{}, here).error().code, errc::frame_malformed);
}

TEST(TransactionState, TakesOnlyTheCommitOfTheOpenTransaction) {
    transaction_state state;
    ASSERT_TRUE(state.begin(lsn{5}, here));
    EXPECT_EQ(state.commit({lsn{4}, lsn{6}}, here).error().code, errc::frame_malformed);
    EXPECT_EQ(state.commit({lsn{5}, lsn{5}}, here).error().code, errc::frame_malformed);
    EXPECT_EQ(state.commit({lsn{5}, lsn{4}}, here).error().code, errc::frame_malformed);
}

TEST(TransactionState, IsAsBeforeAfterAnError) {
    transaction_state state;
    ASSERT_TRUE(state.begin(lsn{5}, here));
    EXPECT_FALSE(state.begin(lsn{6}, here));
    EXPECT_FALSE(state.commit({lsn{6}, lsn{7}}, here));
    EXPECT_TRUE(state.commit({lsn{5}, lsn{6}}, here));
}

}  // namespace
}  // namespace walrelay::wal
