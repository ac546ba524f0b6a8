#include "relay/confirm/write_backs.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace walrelay::relay {
namespace {

commit_position at(std::uint64_t commit, std::uint64_t ordinal = 0) {
    return {lsn{commit}, {}, ordinal};
}

awaited_row row(std::size_t table, commit_position where, const std::string& key) {
    return {table, where, key, false, false};
}

std::vector<std::string> keys(const std::optional<write_back_batch>& batch) {
    std::vector<std::string> all;
    if (batch) {
        for (const auto& each : batch->rows) {
            all.push_back(each.key);
        }
    }
    return all;
}

using names = std::vector<std::string>;

TEST(WriteBacks, PassesThroughWhereNoTableWantsThem) {
    write_backs none{false};
    EXPECT_EQ(none.settled(at(10)), at(10));
    EXPECT_EQ(none.settled({}), std::nullopt);
    EXPECT_FALSE(none.next_batch(at(10)));
}

TEST(WriteBacks, SettlesNothingBeforeItIsWritten) {
    write_backs some{true};
    some.await(row(0, at(10), "a"));
    some.read_up_to(at(10));
    ASSERT_EQ(keys(some.next_batch(at(10))), names{"a"});
    EXPECT_LT(*some.settled(at(10)), at(10));
    some.written();
    EXPECT_EQ(some.settled(at(10)), at(10));
    EXPECT_TRUE(some.empty());
}

TEST(WriteBacks, SettlesNothingThatWasNotRead) {
    write_backs some{true};
    EXPECT_EQ(some.settled(at(99)), std::nullopt);
    some.read_up_to(at(10));
    EXPECT_EQ(some.settled(at(99)), at(10)) << "a row of 20 may still have to be written back";
}

TEST(WriteBacks, WritesNothingBeforeItIsStored) {
    write_backs some{true};
    some.await(row(0, at(10), "a"));
    some.await(row(0, at(20), "b"));
    EXPECT_FALSE(some.next_batch({}));
    EXPECT_FALSE(some.next_batch(at(9)));
    EXPECT_EQ(keys(some.next_batch(at(10))), names{"a"});
}

TEST(WriteBacks, HasOneBatchOfOneTableInFlight) {
    write_backs some{true};
    some.await(row(1, at(10, 0), "a"));
    some.await(row(0, at(10, 1), "b"));
    some.await(row(1, at(10, 2), "c"));
    some.read_up_to(at(10, 2));
    const auto first = some.next_batch(at(10, 2));
    EXPECT_EQ(keys(first), (names{"a", "c"}));
    EXPECT_EQ(first->table, 1U);
    EXPECT_FALSE(some.next_batch(at(10, 2)));
    some.written();
    EXPECT_EQ(some.settled(at(10, 2)), at(10, 0)) << "b lies between a and c";
    EXPECT_EQ(keys(some.next_batch(at(10, 2))), names{"b"});
}

TEST(WriteBacks, KeepsBatchesSmall) {
    write_backs some{true};
    for (std::uint64_t ordinal = 0; ordinal < write_backs::batch_rows + 1; ++ordinal) {
        some.await(row(0, at(10, ordinal), std::to_string(ordinal)));
    }
    EXPECT_EQ(some.next_batch(at(20))->rows.size(), write_backs::batch_rows);
    some.written();
    EXPECT_EQ(some.next_batch(at(20))->rows.size(), 1U);
}

TEST(WriteBacks, DoesNotMixRetriedRowsWithOthers) {
    write_backs some{true};
    some.await(row(0, at(10), "a"));
    some.await({0, at(11), "b", false, true});
    some.await(row(0, at(12), "c"));
    const auto first = some.next_batch(at(20));
    EXPECT_EQ(keys(first), names{"a"});
    EXPECT_FALSE(first->retried);
    some.written();
    EXPECT_TRUE(some.next_batch(at(20))->retried);
}

TEST(WriteBacks, GivesAFailedBatchOutAgain) {
    write_backs some{true};
    some.await(row(0, at(10), "a"));
    EXPECT_EQ(keys(some.next_batch(at(10))), names{"a"});
    some.failed();
    EXPECT_EQ(keys(some.next_batch(at(10))), names{"a"});
}

TEST(WriteBacks, HasNoRoomForMoreThanItsLimit) {
    write_backs some{true};
    for (std::uint64_t ordinal = 0; ordinal < write_backs::awaited_rows; ++ordinal) {
        EXPECT_TRUE(some.has_room());
        some.await(row(0, at(10, ordinal), "x"));
    }
    EXPECT_FALSE(some.has_room());
}

TEST(WriteBacks, DoesNotWriteAgainWhatItHasWritten) {
    write_backs some{true};
    some.await(row(0, at(10), "a"));
    some.await(row(0, at(20), "b"));
    some.read_up_to(at(20));
    EXPECT_TRUE(some.next_batch(at(10)));
    some.written();
    EXPECT_LT(*some.settled(at(20)), at(20));
    some.forget();
    EXPECT_EQ(some.settled(at(20)), std::nullopt);
    some.await({0, at(10), "a", true, false});
    some.await({0, at(20), "b", true, false});
    EXPECT_EQ(keys(some.next_batch(at(20))), names{"b"});
}

TEST(WriteBacks, SettlesNoMoreThanIsStoredNow) {
    write_backs some{true};
    some.read_up_to(at(20));
    EXPECT_EQ(some.settled(at(20)), at(20));
    // The broker forgot what it had acked.
    EXPECT_EQ(some.settled(at(10)), at(10));
    EXPECT_EQ(some.settled({}), std::nullopt);
}

}  // namespace
}  // namespace walrelay::relay
