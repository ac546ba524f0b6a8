#include "relay/confirm/hold_back.hpp"

#include <gtest/gtest.h>

namespace walrelay::relay {
namespace {

using namespace std::chrono_literals;

const monotonic_time start{1000s};

commit_position at(std::uint64_t commit) {
    return {lsn{commit}, {}, 0};
}

/// Asks at this moment where there is something to ask, and hears that all is there.
void look(hold_back& gate, monotonic_time now) {
    if (const auto due = gate.deadline(); due && *due <= now) {
        gate.asked(0, now);
        gate.answered();
    }
}

TEST(HoldBack, ConfirmsAtOnceWithoutADelay) {
    hold_back gate(0ms);
    gate.acked(lsn{110}, at(100), {}, start);
    EXPECT_EQ(gate.confirmed(), lsn{110});
    EXPECT_EQ(gate.deadline(), std::nullopt);
}

TEST(HoldBack, ConfirmsNothingBeforeTheDelayIsOver) {
    hold_back gate(10s);
    gate.acked(lsn{110}, at(100), {}, start);
    look(gate, start + 10s);
    EXPECT_EQ(gate.confirmed(), lsn{});
    ASSERT_TRUE(gate.deadline());
    EXPECT_LE(*gate.deadline(), start + 11s);
    look(gate, *gate.deadline());
    EXPECT_EQ(gate.confirmed(), lsn{110});
    EXPECT_EQ(gate.deadline(), std::nullopt);
}

TEST(HoldBack, NeverConfirmsAnAckThatIsYoungerThanTheDelay) {
    hold_back gate(64s);
    for (int ack = 0; ack < 1000; ++ack) {
        const auto now = start + ack * 250ms;
        look(gate, now);
        gate.acked(lsn{1000U + static_cast<unsigned>(ack)}, std::nullopt, {}, now);
        const auto old_enough = ack - 256;
        EXPECT_LE(gate.confirmed(),
                  old_enough < 0 ? lsn{} : lsn{1000U + static_cast<unsigned>(old_enough)});
    }
    EXPECT_GT(gate.confirmed(), lsn{1700});
}

/// The witness must name what the slot is told of, also where the sequences of before are gone.
TEST(HoldBack, NamesTheStreamsEndOnceMessagesAreLost) {
    hold_back gate(10s);
    const stored_message end{3, position{{7, 1}, at(100)}};
    gate.acked(lsn{110}, at(100), stored_message{5, position{{7, 1}, at(100)}}, start);
    gate.forget_messages(end);
    look(gate, start + 11s);
    EXPECT_EQ(gate.confirmed(), lsn{110});
    EXPECT_EQ(gate.confirmed_message(), end);
    gate.forget_messages({});
    EXPECT_EQ(gate.confirmed_message(), std::nullopt);
}

TEST(HoldBack, WaitsAgainForWhatASlotThatWentBackWasTold) {
    hold_back gate(10s);
    gate.begin_at(lsn{110}, {});
    EXPECT_EQ(gate.confirmed(), lsn{110});
    gate.begin_at(lsn{40}, {});
    gate.acked(lsn{60}, at(50), {}, start);
    EXPECT_EQ(gate.confirmed(), lsn{40});
    ASSERT_TRUE(gate.deadline());
    look(gate, *gate.deadline());
    EXPECT_EQ(gate.confirmed(), lsn{60});
}

/// What waits was acked for other messages than those that now come in their place.
TEST(HoldBack, ConfirmsNothingOfBeforeWhereTheSlotWentBack) {
    hold_back gate(10s);
    gate.begin_at(lsn{50}, {});
    gate.acked(lsn{110}, {}, {}, start);
    gate.begin_at(lsn{40}, {});
    const stored_message again{7, position{{7, 1}, at(100)}};
    gate.acked(lsn{110}, at(100), again, start + 9s);
    look(gate, start + 11s);
    EXPECT_EQ(gate.confirmed(), lsn{40});
    look(gate, start + 20s);
    EXPECT_EQ(gate.confirmed(), lsn{110});
    EXPECT_EQ(gate.confirmed_message(), again);
}

/// The witness names less often than is confirmed: such a slot has not gone back.
TEST(HoldBack, GoesOnWaitingWhereTheSlotStandsAsItWasTold) {
    hold_back gate(10s);
    gate.begin_at(lsn{50}, {});
    gate.acked(lsn{110}, at(100), {}, start);
    gate.begin_at(lsn{40}, lsn{40});
    look(gate, start + 11s);
    EXPECT_EQ(gate.confirmed(), lsn{110});
}

TEST(HoldBack, ForgetsWhatTheSlotSendsAgainButNotWhatIsConfirmed) {
    hold_back gate(10s);
    gate.acked(lsn{110}, at(100), {}, start);
    look(gate, start + 20s);
    gate.acked(lsn{210}, at(200), {}, start + 20s);
    gate.forget_held(std::nullopt);
    look(gate, start + 100s);
    EXPECT_EQ(gate.confirmed(), lsn{110});
}

TEST(HoldBack, KeepsTheLastEventWhereOnlyOtherTablesMove) {
    hold_back gate(0ms);
    gate.acked(lsn{110}, at(100), {}, start);
    gate.acked(lsn{500}, std::nullopt, {}, start);
    EXPECT_EQ(gate.confirmed(), lsn{500});
}

TEST(HoldBack, WaitsAgainForWhatAnotherRelayCanHaveWrittenInItsPlace) {
    hold_back gate(10s);
    gate.acked(lsn{110}, at(100), {}, start);
    gate.wait_again(start + 8s);
    look(gate, start + 17s);
    EXPECT_EQ(gate.confirmed(), lsn{});
    look(gate, start + 20s);
    EXPECT_EQ(gate.confirmed(), lsn{110});
}

TEST(HoldBack, WaitsAgainWhereAnotherRelayCanHaveHadTheSlotWhileTheBrokerWasAway) {
    for (const bool comes_back_first : {false, true}) {
        hold_back gate(10s);
        gate.acked(lsn{110}, at(100), {}, start);
        gate.freeze(start + 9s);
        gate.slot_lost();
        // It is had again before the broker is back, or only afterwards.
        gate.thaw(start + 9s, comes_back_first);
        look(gate, start + 11s);
        EXPECT_EQ(gate.confirmed(), lsn{}) << "the other one can have stored it a moment ago";
        look(gate, start + 20s);
        EXPECT_EQ(gate.confirmed(), lsn{110});
        gate.acked(lsn{120}, at(115), {}, start + 20s);
        gate.thaw(start + 29s, true);
        look(gate, start + 31s);
        EXPECT_EQ(gate.confirmed(), lsn{comes_back_first ? 120U : 110U});
    }
}

TEST(HoldBack, DoesNotCountTheTimeThatTheBrokerIsAway) {
    hold_back gate(10s);
    gate.acked(lsn{110}, at(100), {}, start);
    gate.freeze(start + 1s);
    EXPECT_EQ(gate.deadline(), std::nullopt);
    gate.freeze(start + 30s);
    look(gate, start + 60s);
    EXPECT_EQ(gate.confirmed(), lsn{});
    gate.thaw(start + 60s, true);
    look(gate, start + 68s);
    EXPECT_EQ(gate.confirmed(), lsn{});
    look(gate, start + 70s);
    EXPECT_EQ(gate.confirmed(), lsn{110});
}

TEST(HoldBack, StaysFrozenWhereAnotherHistoryBegins) {
    hold_back gate(10s);
    gate.acked(lsn{110}, at(100), {}, start);
    look(gate, start + 20s);
    gate.freeze(start + 20s);
    gate.start_over();
    EXPECT_EQ(gate.confirmed(), lsn{});
    gate.acked(lsn{90}, at(80), {}, start + 21s);
    look(gate, start + 60s);
    EXPECT_EQ(gate.confirmed(), lsn{});
}

TEST(HoldBack, WhatTheBrokerKeptGoesOnWaiting) {
    hold_back gate(10s);
    gate.acked(lsn{110}, at(100), {}, start);
    gate.acked(lsn{210}, at(200), {}, start + 5s);
    gate.forget_held(at(150));
    look(gate, start + 11s);
    EXPECT_EQ(gate.confirmed(), lsn{110});
    look(gate, start + 60s);
    EXPECT_EQ(gate.confirmed(), lsn{110});
    gate.acked(lsn{210}, at(200), {}, start + 60s);
    look(gate, start + 71s);
    EXPECT_EQ(gate.confirmed(), lsn{210});
}

TEST(HoldBack, ConfirmsByAnAnswerWhatWasDueWhenTheStreamWasAsked) {
    hold_back gate(10s);
    gate.acked(lsn{110}, at(100), {}, start);
    gate.acked(lsn{210}, at(200), {}, start + 5s);
    gate.asked(7, start + 11s);
    EXPECT_EQ(gate.asked_for(), 7U);
    EXPECT_EQ(gate.deadline(), std::nullopt) << "one question at a time";
    gate.answered();
    EXPECT_EQ(gate.confirmed(), lsn{110}) << "however late the answer is read";
    EXPECT_EQ(gate.asked_at(), std::nullopt);
    ASSERT_TRUE(gate.deadline());
    EXPECT_GE(*gate.deadline(), start + 15s);
}

TEST(HoldBack, ForgetsAQuestionWithTheConnection) {
    hold_back gate(10s);
    gate.acked(lsn{110}, at(100), {}, start);
    gate.asked(7, start + 11s);
    gate.freeze(start + 11s);
    gate.thaw(start + 11s, true);
    EXPECT_EQ(gate.asked_at(), std::nullopt);
    gate.answered();
    EXPECT_EQ(gate.confirmed(), lsn{});
    EXPECT_TRUE(gate.deadline()) << "it is asked again";
}

TEST(HoldBack, DoesNotAskAllTheTimeHoweverShortTheDelayIs) {
    hold_back gate(1ms);
    gate.acked(lsn{110}, at(100), {}, start);
    gate.asked(7, start + 2ms);
    gate.answered();
    gate.acked(lsn{210}, at(200), {}, start + 3ms);
    ASSERT_TRUE(gate.deadline());
    EXPECT_GE(*gate.deadline(), start + 50ms);
}

TEST(HoldBack, NeverMovesBackwards) {
    hold_back gate(0ms);
    gate.acked(lsn{500}, std::nullopt, {}, start);
    gate.acked(lsn{110}, std::nullopt, {}, start);
    EXPECT_EQ(gate.confirmed(), lsn{500});
}

}  // namespace
}  // namespace walrelay::relay
