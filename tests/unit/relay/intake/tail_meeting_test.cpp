#include "relay/intake/tail_meeting.hpp"

#include "relay/intake/open_transaction.hpp"

#include <gtest/gtest.h>

namespace walrelay::relay {
namespace {

constexpr commit_position tail{lsn{0x200}, lsn{0x180}};

std::optional<open_transaction> within(lsn commit, lsn row) {
    open_transaction open{{commit, {}, {}}};
    open.stand_at(row);
    return open;
}

TEST(TailMeeting, EarlierRowsAreNotPastTheTail) {
    EXPECT_FALSE(is_past_the_tail(row_insert{}, within(lsn{0x100}, lsn{0x190}), tail));
    EXPECT_FALSE(is_past_the_tail(row_insert{}, within(lsn{0x200}, lsn{0x180}), tail));
}

TEST(TailMeeting, ALaterRowOfTheSameTransactionIsPast) {
    EXPECT_TRUE(is_past_the_tail(row_insert{}, within(lsn{0x200}, lsn{0x190}), tail));
}

TEST(TailMeeting, ALaterTransactionIsPastBeforeItsFirstRow) {
    const open_transaction open{{lsn{0x300}, {}, {}}};
    EXPECT_TRUE(is_past_the_tail(transaction_begin{}, open, tail));
}

TEST(TailMeeting, TheCommitOfItsTransactionIsPast) {
    EXPECT_TRUE(is_past_the_tail(transaction_commit{lsn{0x200}, lsn{0x210}}, {}, tail));
    EXPECT_FALSE(is_past_the_tail(transaction_commit{lsn{0x1F0}, lsn{0x200}}, {}, tail));
}

TEST(TailMeeting, WhatIsOfNoTransactionSaysNothing) {
    EXPECT_FALSE(is_past_the_tail(nothing_to_relay{}, {}, tail));
}

TEST(TailMeeting, ErrorsNameTheMessage) {
    const tail_claim claim{7, {{1, 1}, tail}, "row-1"};
    for (const auto& each : {tail_not_met(claim, "S"), tail_is_another_row(claim, "row-2", "S")}) {
        EXPECT_EQ(each.code, errc::tail_not_met);
        EXPECT_NE(each.what.find("stream S (sequence 7, message id row-1"), std::string::npos);
    }
}

}  // namespace
}  // namespace walrelay::relay
