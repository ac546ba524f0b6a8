// Where a frame may stand, and that what real servers have sent stands there.
#include "wal/frame_order.hpp"

#include "unit/wal/captures.hpp"
#include "wal/change_reader.hpp"

#include <gtest/gtest.h>

namespace walrelay::wal {
namespace {

constexpr lsn commit{100};
constexpr lsn end{110};

class FrameOrder : public ::testing::Test {
protected:
    void begin(lsn at = commit) { ASSERT_TRUE(order.take(lsn{50}, transaction_begin{at, {}, {}})); }
    result<void> change(lsn at) { return order.take(at, row_insert{}); }

    frame_order order;
};

TEST_F(FrameOrder, ChangesOfOneRecordShareItsPlace) {
    begin();
    EXPECT_TRUE(change(lsn{50}));
    EXPECT_TRUE(change(lsn{50}));
    EXPECT_TRUE(change(commit)) << "a logical message stands where its record ends";
}

TEST_F(FrameOrder, AChangeDoesNotGoBack) {
    begin();
    ASSERT_TRUE(change(lsn{60}));
    const auto taken = change(lsn{59});
    ASSERT_FALSE(taken);
    EXPECT_EQ(taken.error().code, errc::frame_malformed);
    EXPECT_NE(taken.error().what.find("0/3B"), std::string::npos) << taken.error().what;
    EXPECT_NE(taken.error().what.find("0/3C"), std::string::npos) << taken.error().what;
}

TEST_F(FrameOrder, AChangeStandsSomewhere) {
    begin();
    EXPECT_FALSE(change(lsn{}));
}

TEST_F(FrameOrder, AChangeIsNotBehindItsCommit) {
    begin();
    EXPECT_FALSE(change(lsn{101}));
}

TEST_F(FrameOrder, ATransactionMayLieBeforeTheChangesOfTheLast) {
    begin();
    ASSERT_TRUE(change(lsn{90}));
    ASSERT_TRUE(order.take(end, transaction_commit{commit, end}));
    begin(end);
    EXPECT_TRUE(change(lsn{60})) << "transactions run beside each other";
}

TEST_F(FrameOrder, ATransactionDoesNotCommitBeforeTheLast) {
    begin();
    ASSERT_TRUE(order.take(end, transaction_commit{commit, end}));
    EXPECT_FALSE(order.take(lsn{50}, transaction_begin{lsn{109}, {}, {}}));
}

TEST_F(FrameOrder, ATransactionDoesNotCommitBeforeWhatWasSaidToBeSent) {
    order.alive(lsn{101});
    order.alive(lsn{80});
    EXPECT_FALSE(order.take(lsn{50}, transaction_begin{commit, {}, {}}));
}

TEST_F(FrameOrder, ACommitStandsWhereItsTransactionEnds) {
    begin();
    EXPECT_FALSE(order.take(commit, transaction_commit{commit, end}));
}

TEST_F(FrameOrder, WhatIsNotRelayedStandsAnywhere) {
    begin();
    ASSERT_TRUE(change(lsn{60}));
    EXPECT_TRUE(order.take(lsn{}, nothing_to_relay{})) << "a description of a table";
}

class CapturedOrder : public ::testing::TestWithParam<testing::capture> {};

TEST_P(CapturedOrder, IsThatOfEveryFrameThatAServerSent) {
    const auto path = testing::capture_path(GetParam().name, ".frames");
    change_reader reader(GetParam().plugin);
    reader.by().want_updates([](std::string_view, std::string_view) { return true; });
    std::size_t changes = 0;
    for (const auto& message : testing::split_capture(testing::read_file(path))) {
        const auto read = parse_frame(message).value();
        if (const auto* const alive = std::get_if<keepalive>(&read)) {
            reader.read(*alive);
            continue;
        }
        const auto decoded = reader.read(std::get<xlog_data>(read));
        ASSERT_TRUE(decoded) << to_string(decoded.error());
        changes += std::holds_alternative<nothing_to_relay>(*decoded) ? 0U : 1U;
    }
    EXPECT_GT(changes, 50U);
}

INSTANTIATE_TEST_SUITE_P(All, CapturedOrder, ::testing::ValuesIn(testing::captures),
                         [](const auto& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace walrelay::wal
