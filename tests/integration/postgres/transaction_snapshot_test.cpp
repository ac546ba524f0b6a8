#include "postgres/tables/transaction_snapshot.hpp"

#include <gtest/gtest.h>

#include <string>

namespace walrelay::postgres {
namespace {

bool shows(const std::string& snapshot, transaction_id xid) {
    return transaction_snapshot::parse(snapshot).value().shows(xid);
}

TEST(TransactionSnapshot, ShowsWhatHasEnded) {
    EXPECT_TRUE(shows("10:20:10,14", 9));
    EXPECT_FALSE(shows("10:20:10,14", 10));
    EXPECT_TRUE(shows("10:20:10,14", 11));
    EXPECT_FALSE(shows("10:20:10,14", 14));
    EXPECT_TRUE(shows("10:20:10,14", 19));
    EXPECT_FALSE(shows("10:20:10,14", 20)) << "it began after";
    EXPECT_FALSE(shows("10:20:10,14", 21));
    EXPECT_TRUE(shows("20:20:", 19));
    EXPECT_FALSE(shows("20:20:", 20));
}

/// 2^32 = 4294967296: the numbers of transactions begin again.
TEST(TransactionSnapshot, KnowsNumbersAcrossTheirWrapAround) {
    EXPECT_TRUE(shows("4294967290:4294967300:4294967290,4294967299", 4294967289));
    EXPECT_FALSE(shows("4294967290:4294967300:4294967290,4294967299", 4294967290));
    EXPECT_TRUE(shows("4294967290:4294967300:4294967290,4294967299", 4294967295));
    EXPECT_FALSE(shows("4294967290:4294967300:4294967290,4294967299", 3));
    EXPECT_FALSE(shows("4294967290:4294967300:4294967290,4294967299", 4));
    EXPECT_FALSE(shows("4294967290:4294967290:", 3)) << "that of the next round";
    EXPECT_TRUE(shows("8589934600:8589934600:", 3)) << "of this round";
    EXPECT_TRUE(shows("8589934600:8589934600:", 4294967295)) << "of the last one";
}

TEST(TransactionSnapshot, DoesNotShowWhatTheServerCannotKnow) {
    EXPECT_FALSE(shows("1000:1000:", 3000000000)) << "of another server";
}

TEST(TransactionSnapshot, IsNothingElse) {
    for (const std::string text : {"", "1", "1:", "1:2", "a:2:", "1:b:", "1:2:c", "1:2:3,",
                                   "1:2:3:", "1:2:3,x", "1;2;", "-1:2:", "1:2: 3"}) {
        EXPECT_FALSE(transaction_snapshot::parse(text)) << text;
    }
}

}  // namespace
}  // namespace walrelay::postgres
