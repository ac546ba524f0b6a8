// What the relay machine says of itself.
#include "unit/relay/machine/relay_script.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace walrelay::relay {
namespace {

using namespace std::chrono_literals;
using test::relay_script;

/// When the transactions of test::begin_frame were committed.
constexpr wall_time committed{std::chrono::sys_days{std::chrono::year{2000} / 1 / 1}};

class RelayStatus : public testing::Test {
protected:
    void connect() {
        script.start();
        script.broker_connects(0);
        script.postgres_connects();
        catches_up();
    }
    /// The server has nothing that was not sent.
    void catches_up() { script.frame(test::keepalive_frame(lsn{700})); }
    [[nodiscard]] relay_status status(std::chrono::microseconds after = 0us) const {
        return machine.status({{}, committed + after});
    }
    void is(relay_state state, bool leader) const {
        EXPECT_STREQ(to_string(status().state), to_string(state));
        EXPECT_EQ(status().is_leader, leader);
    }

    relay_script script;
    relay_machine& machine = script.machine();
};

TEST_F(RelayStatus, StartsUntilBothServersAreThere) {
    script.start();
    is(relay_state::starting, false);
    script.broker_connects(0);
    is(relay_state::starting, false);
    script.postgres_connects();
    is(relay_state::catching_up, true);
    catches_up();
    is(relay_state::streaming, true);
}

TEST_F(RelayStatus, CatchesUpUntilAllIsStoredThatWasCommittedBefore) {
    script.start();
    script.broker_connects(0);
    script.wal_end = lsn{1600};
    script.postgres_connects();
    EXPECT_FALSE(status().lag) << "what the slot has can be of any age";
    script.transaction(800, {"a"});
    is(relay_state::catching_up, true);
    script.acks(1);
    is(relay_state::catching_up, true);
    EXPECT_FALSE(status(1s).lag);
    script.transaction(1600, {"b"});
    is(relay_state::catching_up, true);
    script.acks(1);
    is(relay_state::streaming, true);
    EXPECT_EQ(status(1s).lag, 0us);
}

TEST_F(RelayStatus, CatchesUpAfterAnOutageInWhichTheWindowWasFull) {
    connect();
    script.transaction(800, {"a", "b", "c", "d"});
    script.broker_fails();
    EXPECT_EQ(status(3s).lag, 3s);
    script.passes(1s);
    script.broker_connects(0);
    script.acks(1);  // alone, until the tail is proved
    script.acks(3);
    ASSERT_TRUE(machine.the_lane().empty());
    is(relay_state::catching_up, true);
    script.frame(test::commit_frame(lsn{800}, lsn{801}));  // there was no room for it
    is(relay_state::catching_up, true);
    script.frame(test::keepalive_frame(lsn{2400}));
    is(relay_state::streaming, true);
}

TEST_F(RelayStatus, DoesNotKnowTheLagWhereNothingTellsIt) {
    EXPECT_FALSE(status().lag) << "before the start";
    script.start();
    script.broker_connects(0);
    EXPECT_FALSE(status().lag) << "before PostgreSQL";
    script.postgres_connects();
    catches_up();
    EXPECT_EQ(status().lag, 0us);
    script.postgres_fails(errc::postgres_unavailable);
    EXPECT_FALSE(status().lag) << "without PostgreSQL";
    script.passes(1s);
    script.postgres_fails(errc::slot_in_use);
    EXPECT_FALSE(status().lag) << "standing by";
    script.passes(1s);
    script.postgres_fails(errc::postgres_unsuitable);
    is(relay_state::halted, false);
    EXPECT_FALSE(status().lag) << "halted";
}

TEST_F(RelayStatus, WaitsForTheBrokerAsTheLeaderThatItIs) {
    connect();
    script.broker_fails();
    is(relay_state::waiting_broker, true);
    EXPECT_FALSE(status().reason.empty());
    EXPECT_FALSE(status().broker_connected);
    EXPECT_EQ(machine.counts().broker_losses[static_cast<std::size_t>(lost_reason::ended)], 1U);
    script.passes(1s);
    script.broker_connects(0);
    is(relay_state::streaming, true);
    EXPECT_TRUE(status().reason.empty());
}

TEST_F(RelayStatus, WaitsForPostgresWhereOnlyThatKeepsTheStreamFromBeingMade) {
    const auto lost = [](const auto& losses, lost_reason why) {
        return losses[static_cast<std::size_t>(why)];
    };
    script.start();
    script.broker_fails(errc::broker_unavailable);
    is(relay_state::waiting_broker, false);
    script.passes(1s);
    script.broker_fails(errc::postgres_unavailable);
    is(relay_state::waiting_postgres, false);
    EXPECT_FALSE(status().reason.empty());
    const auto counts = machine.counts();
    EXPECT_EQ(lost(counts.broker_losses, lost_reason::unavailable), 1U) << "the first one";
    EXPECT_EQ(lost(counts.postgres_losses, lost_reason::unavailable), 1U);
    script.passes(5s);
    script.broker_fails(errc::broker_unavailable);
    is(relay_state::waiting_broker, false);
    script.passes(5s);
    script.broker_connects(0);
    script.postgres_connects();
    catches_up();
    is(relay_state::streaming, true);
}

TEST_F(RelayStatus, WaitsForABrokerThatTakesConnectionsUntilItTakesAMessage) {
    connect();
    script.transaction(800, {"a"});
    script.reply({outcome_class::transient, 0, 10077, "maximum messages exceeded"});
    is(relay_state::waiting_broker, true);
    const auto why = status().reason;
    script.passes(1s);
    script.broker_connects(0);
    is(relay_state::waiting_broker, true);
    EXPECT_EQ(status().reason, why);
    EXPECT_TRUE(status().broker_connected);
    script.acks(1);
    is(relay_state::streaming, true);
}

TEST_F(RelayStatus, WaitsForPostgresWithoutTheSlot) {
    connect();
    script.postgres_fails(errc::postgres_unavailable);
    is(relay_state::waiting_postgres, false);
    EXPECT_EQ(machine.counts().postgres_losses[static_cast<std::size_t>(lost_reason::unavailable)],
              1U);
}

TEST_F(RelayStatus, StandsByWhileAnotherConsumerHoldsTheSlot) {
    script.start();
    script.broker_connects(0);
    for (int tries = 0; tries < 4; ++tries) {
        script.postgres_fails(errc::slot_in_use);
        script.passes(1s);
    }
    is(relay_state::standby, false);
    script.postgres_fails(errc::postgres_unavailable);
    is(relay_state::waiting_postgres, false);
    script.passes(30s);
    script.postgres_fails(errc::slot_in_use);
    is(relay_state::standby, false);
    script.passes(1s);
    script.postgres_connects();
    script.broker_connects(0);
    catches_up();
    is(relay_state::streaming, true);
}

TEST_F(RelayStatus, PublishesASnapshot) {
    script.start();
    script.broker_connects(0);
    script.postgres_connects_with_rows(lsn{800}, 0);
    is(relay_state::snapshot, true);
}

TEST_F(RelayStatus, HasHaltedWhereAnOperatorIsNeeded) {
    connect();
    script.postgres_fails(errc::postgres_unsuitable);
    is(relay_state::halted, false);
    EXPECT_FALSE(status().reason.empty());
}

TEST_F(RelayStatus, DrainsWhenItIsAskedToStop) {
    connect();
    script.transaction(800, {"a"});
    script.stops();
    EXPECT_EQ(status().state, relay_state::draining);
}

TEST_F(RelayStatus, TellsHowFarBehindTheOldestRowIs) {
    connect();
    EXPECT_EQ(status(1h).lag, 0us);
    script.transaction(800, {"a", "b"});
    EXPECT_EQ(status(3s).lag, 3s);
    EXPECT_EQ(status(3s).state, relay_state::streaming);
    EXPECT_EQ(status(11s).state, relay_state::catching_up);
    EXPECT_EQ(status(3s).window_messages, 2U);
    script.acks(2);
    EXPECT_EQ(status(1h).lag, 0us);
    EXPECT_EQ(status(1h).state, relay_state::streaming);
}

TEST_F(RelayStatus, TellsHowFarBehindADeadLetterIsThatIsNotStoredYet) {
    connect();
    script.frame(test::begin_frame(lsn{800}));
    script.frame(test::insert_frame(16384, {"a", std::nullopt, "{}"}));
    EXPECT_EQ(status(3s).lag, 3s);
    script.dead_letter_is_stored();
    EXPECT_EQ(status(3s).lag, 0s);
    EXPECT_EQ(machine.counts().tables.at(0).dead_letters,
              (std::array<std::uint64_t, letter_reason_count>{1, 0}));
}

TEST_F(RelayStatus, TellsHowLongTheOldestPublishHasWaited) {
    connect();
    script.transaction(800, {"a"});
    EXPECT_EQ(machine.status({monotonic_time{4s}, committed}).oldest_unacked, 4s);
    script.acks(1);
    EXPECT_EQ(machine.status({monotonic_time{9s}, committed}).oldest_unacked, 0s);
}

/// Each try ends with delivery.ack_timeout at the latest: the alert asks for longer than that.
TEST_F(RelayStatus, TellsHowLongAPublishHasWaitedOverConnectionsThatEnd) {
    connect();
    script.transaction(800, {"a"});
    script.broker_fails();
    EXPECT_EQ(machine.status({monotonic_time{4s}, committed}).oldest_unacked, 4s);
    script.passes(1s);
    script.broker_connects(0);
    EXPECT_EQ(machine.status({monotonic_time{40s}, committed}).oldest_unacked, 40s);
}

TEST_F(RelayStatus, CountsRowsTransactionsAndMessages) {
    connect();
    script.transaction(800, {"a", "b"});
    script.acks(2);
    script.transaction(1600, {"c"});
    const auto counts = machine.counts();
    EXPECT_EQ(counts.tables.at(0).rows_received, 3U);
    EXPECT_EQ(counts.transactions_received, 2U);
    EXPECT_EQ(counts.messages_stored, 2U);
    EXPECT_GT(counts.wal_received_bytes, 100U);
    EXPECT_EQ(counts.skipped_already_stored, 0U);
}

TEST_F(RelayStatus, CountsRowsThatTheStreamHasAlready) {
    connect();
    script.transaction(800, {"a"});
    script.acks(1);
    script.postgres_fails();
    script.passes(1s);
    script.postgres_connects();
    script.transaction(800, {"a"});
    EXPECT_EQ(machine.counts().tables.at(0).rows_received, 2U);
    EXPECT_EQ(machine.counts().skipped_already_stored, 1U);
    EXPECT_EQ(machine.counts().messages_stored, 1U);
}

TEST_F(RelayStatus, SaysThatAFullWindowKeepsItFromReading) {
    connect();
    script.transaction(800, {"a", "b", "c", "d"});
    EXPECT_TRUE(status().reading_paused);
    script.acks(1);
    EXPECT_FALSE(status().reading_paused);
}

}  // namespace
}  // namespace walrelay::relay
