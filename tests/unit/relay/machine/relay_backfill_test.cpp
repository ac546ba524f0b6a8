// What the relay machine does with rows that come before the slot's.
#include "unit/relay/machine/relay_script.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace walrelay::relay {
namespace {

using namespace std::chrono_literals;
using test::relay_script;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr lsn begins{0x800};

class RelayBackfill : public testing::Test {
protected:
    explicit RelayBackfill(std::chrono::milliseconds confirm_delay = 0ms, bool heals = false)
        : script(options(confirm_delay, heals)) {}

    static relay_options options(std::chrono::milliseconds confirm_delay, bool heals) {
        relay_options wanted;
        wanted.lane = {4, 1000, 5s};
        wanted.confirm_delay = confirm_delay;
        wanted.heals = heals;
        wanted.rules = "now";
        return wanted;
    }

    void connect(std::uint64_t sequence = 0) {
        script.start();
        script.broker_connects(sequence);
        script.postgres_connects_with_rows(begins, sequence);
    }

    relay_script script;
};

class RelayBackfillWithDelay : public RelayBackfill {
protected:
    RelayBackfillWithDelay() : RelayBackfill(60s) {}
};

class RelayBackfillThatHeals : public RelayBackfill {
protected:
    RelayBackfillThatHeals() : RelayBackfill(0ms, true) {}

    void meet_a_moved_slot() {
        script.start();
        script.broker_connects(0);
        script.postgres_connects_with(relay_script::origin, lsn{0x10});
        script.transaction(0x100, {"a"});
        script.acks(1);
        script.postgres_fails();
        script.passes(1s);
        script.postgres_connects_with(relay_script::origin, lsn{0x400});
        script.broker_connects(1, commit_position{lsn{0x100}, lsn{1}, 0});
    }
};

TEST_F(RelayBackfill, AdoptsTheSlotOnceEveryRowIsStored) {
    connect();
    EXPECT_THAT(script.old_row("a"), ElementsAre("publish a@0"));
    script.old_row("b");
    EXPECT_THAT(script.acks(1), ElementsAre("publish b@1"));
    EXPECT_THAT(script.rows_end(), IsEmpty());
    EXPECT_THAT(script.acks(1), ElementsAre("adopt_slot"));
    EXPECT_THAT(script.slot_is_adopted(), Contains("close_postgres"));
    EXPECT_THAT(script.passes(0ms), ElementsAre("connect_postgres"));
    script.postgres_connects_with(relay_script::origin, begins);
    EXPECT_THAT(script.transaction(0x900, {"c"}), Contains("publish c@2"));
}

TEST_F(RelayBackfill, AdoptsTheSlotAtOnceWhereNothingIsMissing) {
    connect();
    EXPECT_THAT(script.rows_end(), ElementsAre("adopt_slot"));
}

TEST_F(RelayBackfill, TellsPostgresNothingOfTheSlotMeanwhile) {
    connect();
    script.old_row("a");
    script.acks(1);
    EXPECT_THAT(script.passes(30s), Not(Contains(HasSubstr("status"))));
}

TEST_F(RelayBackfill, WantsNoMoreRowsThanTheWindowHolds) {
    connect();
    for (const auto* const id : {"a", "b", "c", "d"}) {
        ASSERT_TRUE(script.machine().wants_rows()) << id;
        script.old_row(id);
    }
    EXPECT_FALSE(script.machine().wants_rows());
    EXPECT_FALSE(script.machine().wants_frames());
    script.acks(1);
    EXPECT_TRUE(script.machine().wants_rows());
}

TEST_F(RelayBackfill, SendsAgainWhatABrokerThatWentAwayHasNot) {
    connect();
    script.old_row("a");
    script.acks(1);
    script.old_row("b");
    script.broker_fails();
    script.passes(1s);
    const auto done =
        script.broker_connects(1, commit_position{before_slot(begins), before_slot(begins), 0});
    EXPECT_THAT(done, ElementsAre("publish b@1"));
    script.rows_end();
    EXPECT_THAT(script.acks(1), ElementsAre("adopt_slot"));
}

/// All of the stream was read: that the broker remembers an id does not make it a message.
TEST_F(RelayBackfill, WaitsWhereTheBrokerRemembersTheIdOfAMessageThatIsGone) {
    connect(5);
    EXPECT_THAT(script.old_row("a"), ElementsAre("publish a@5"));
    EXPECT_THAT(script.reply({outcome_class::duplicate, 3, 0, {}}), ElementsAre("read_message 3"));
    EXPECT_THAT(script.message_is_read(asked_message{3}), ElementsAre("close_broker"));
    script.passes(1ms);
    script.asked = asked_message{3};
    EXPECT_THAT(script.broker_connects(5), ElementsAre("close_broker"));
    EXPECT_THAT(script.last_log(), HasSubstr("until its duplicate window"));
    script.passes(1s);
    script.asked.reset();
    EXPECT_THAT(script.broker_connects(5), ElementsAre("publish a@5"));
    script.rows_end();
    EXPECT_THAT(script.acks(1), ElementsAre("adopt_slot"));
}

TEST_F(RelayBackfill, AsksAnewWhereItBeginsAgainWhileAQuestionIsOpen) {
    connect(5);
    script.old_row("a");
    script.reply({outcome_class::duplicate, 3, 0, {}});
    script.broker_fails();
    script.passes(1s);
    script.broker_connects(6);
    script.passes(1s);
    script.postgres_connects_with_rows(begins, 6);
    script.broker_connects(6);
    EXPECT_THAT(script.old_row("a"), ElementsAre("publish a@6"));
    EXPECT_THAT(script.reply({outcome_class::duplicate, 3, 0, {}}), ElementsAre("read_message 3"));
}

TEST_F(RelayBackfill, SetsARowAsideWhoseIdAnotherMessageHas) {
    connect(5);
    script.old_row("a");
    script.reply({outcome_class::duplicate, 3, 0, {}});
    EXPECT_THAT(
        script.message_is_read(asked_message{3, position{{7, 1}, {lsn{0x100}, lsn{0x80}, 0}}, "a"}),
        Contains(HasSubstr("dead_letter")));
}

TEST_F(RelayBackfill, TakesItsOwnMessageOfAnEarlierConnectionForStored) {
    connect(5);
    script.old_row("a");
    script.reply({outcome_class::duplicate, 3, 0, {}});
    const commit_position own{before_slot(begins), before_slot(begins), 0};
    EXPECT_THAT(script.message_is_read(asked_message{3, position{relay_script::origin, own}, "a"}),
                IsEmpty());
    EXPECT_THAT(script.rows_end(), ElementsAre("adopt_slot"));
}

TEST_F(RelayBackfill, LooksAgainWhereTheStreamWasWrittenToSinceItWasCompared) {
    script.start();
    script.broker_connects(5);
    const auto done = script.postgres_connects_with_rows(begins, 6);
    EXPECT_THAT(done, ElementsAre("close_postgres", "close_broker", "connect_broker"));
    EXPECT_FALSE(script.machine().wants_rows());
    script.broker_connects(6);
    EXPECT_THAT(script.passes(1s), ElementsAre("connect_postgres"));
    script.postgres_connects_with_rows(begins, 6);
    EXPECT_TRUE(script.machine().wants_rows());
}

TEST_F(RelayBackfill, LooksAgainWhereTheTailIsOfAnotherTry) {
    connect();
    script.old_row("a");
    script.broker_fails();
    script.passes(1s);
    const auto done = script.broker_connects(1, commit_position{lsn{0x7f7}, lsn{1}, 0});
    EXPECT_THAT(done, Contains("close_postgres"));
    EXPECT_FALSE(script.machine().wants_rows());
    EXPECT_TRUE(script.machine().the_lane().empty());
}

TEST_F(RelayBackfill, LooksAgainWhereSomethingSentBeforeItArrivesLate) {
    connect();
    script.old_row("a");
    script.old_row("b");
    script.broker_fails();
    script.passes(1s);
    const auto done =
        script.broker_connects(2, commit_position{before_slot(begins), before_slot(begins), 0},
                               commit_position{lsn{0x700}, lsn{1}, 0});
    EXPECT_THAT(done, Contains("close_postgres"));
    EXPECT_FALSE(script.machine().wants_rows());
}

TEST_F(RelayBackfill, ForgetsItsRowsWithTheConnection) {
    connect();
    script.old_row("a");
    script.old_row("b");
    script.postgres_fails();
    EXPECT_TRUE(script.machine().the_lane().empty());
    script.broker_connects(1, commit_position{before_slot(begins), before_slot(begins), 0});
    EXPECT_THAT(script.passes(1s), ElementsAre("connect_postgres"));
    // Another slot, and a look at the stream that found "a" in it.
    script.postgres_connects_with_rows(lsn{0x1000}, 1);
    EXPECT_THAT(script.old_row("b"), ElementsAre("publish b@1"));
}

TEST_F(RelayBackfill, SetsPoisonAsideOnceAndGoesOn) {
    connect();
    EXPECT_THAT(script.old_row("bad", ""), ElementsAre("dead_letter 0/7FF.0"));
    EXPECT_THAT(script.old_row("good"), IsEmpty());
    EXPECT_THAT(script.dead_letter_is_stored(), ElementsAre("publish good@0"));
    script.rows_end();
    EXPECT_THAT(script.acks(1), ElementsAre("adopt_slot"));
}

TEST_F(RelayBackfill, SetsARefusedRowAside) {
    connect();
    script.old_row("a");
    script.acks(1);
    script.old_row("twin");
    EXPECT_THAT(script.reply({outcome_class::duplicate, 1, 0, {}}), ElementsAre("read_message 1"));
    const commit_position first{before_slot(begins), before_slot(begins), 0};
    const asked_message found{1, position{relay_script::origin, first}, "a"};
    EXPECT_THAT(script.message_is_read(found), ElementsAre("dead_letter 0/7FF.1"));
    script.dead_letter_is_stored();
    EXPECT_THAT(script.old_row("b"), ElementsAre("publish b@1"));
}

TEST_F(RelayBackfill, HaltsWhereTheStreamIsAheadOfTheDatabase) {
    script.start();
    script.broker_connects(3, commit_position{lsn{0x9000}, lsn{1}, 0});
    const auto done = script.postgres_connects_with_rows(begins, 3);
    EXPECT_THAT(done, Contains("finish 3"));
}

TEST_F(RelayBackfill, StopsInTheMiddleWithoutASlot) {
    connect();
    script.old_row("a");
    script.stops();
    script.acks(1);
    EXPECT_THAT(script.postgres_finishes(), Contains("finish 0"));
}

TEST_F(RelayBackfill, StopsWithoutASlotAndWithoutTheWitnessOfOne) {
    script.witness.writable = true;
    script.answers_marks = false;
    script.description = "walrelay slot=slot database=app system=7 timeline=1 rules=before.1";
    script.start();
    script.broker_connects(0);
    script.postgres_connects();
    script.postgres_fails();
    script.passes(1s);
    script.postgres_connects_with_rows(begins, 0);
    EXPECT_THAT(script.rows_end(), Contains(HasSubstr("store_witness")));
    script.witness_is_stored(error{errc::postgres_lost, "no connection", ""});
    EXPECT_THAT(script.stops(), IsEmpty()) << "a mark is on its way";
    script.passes(2s);
    EXPECT_GT(script.machine().deadline(), monotonic_time{} + 3s) << "and nothing else is due";
    script.stream_is_marked({});
    EXPECT_THAT(script.stream_is_marked({}), Contains("finish_postgres"));
    EXPECT_THAT(script.postgres_finishes(), Contains("finish 0"));
}

TEST_F(RelayBackfillWithDelay, WaitsWithTheSlotUntilTheBrokerIsSureToHaveKeptTheRows) {
    connect();
    script.old_row("a");
    script.rows_end();
    EXPECT_THAT(script.acks(1), IsEmpty());
    std::vector<std::string> done;
    for (int second = 0; second < 62 && done.empty(); ++second) {
        done = script.passes(1s);
    }
    EXPECT_THAT(done, ElementsAre("adopt_slot"));
}

TEST_F(RelayBackfillThatHeals, AsksForTheTablesWhereTheSlotWasMoved) {
    meet_a_moved_slot();
    EXPECT_THAT(script.passes(1s), Contains("connect_postgres for a gap"));
    script.postgres_connects_with_rows(begins, 1);
    EXPECT_THAT(script.old_row("b"), ElementsAre("publish b@1"));
    script.rows_end();
    script.acks(1);
    script.slot_is_adopted();
    EXPECT_THAT(script.passes(0ms), ElementsAre("connect_postgres"));
}

TEST_F(RelayBackfillThatHeals, LeavesAGapToTheRelayThatHasTheSlotMeanwhile) {
    meet_a_moved_slot();
    std::vector<std::string> done = script.passes(1s);
    EXPECT_THAT(done, Contains("connect_postgres for a gap"));
    for (std::uint32_t tries = 0; tries < slot_place::standby_after_tries; ++tries) {
        script.postgres_fails(errc::slot_in_use);
        done = script.passes(2s);
    }
    EXPECT_THAT(done, Contains("connect_postgres")) << "it takes over as it is then";
}

/// A server that decodes a large row notices late that a connection has ended: nobody else fills
/// the gap, and what shows it is there once only.
TEST_F(RelayBackfillThatHeals, KeepsAGapForItselfWhileItsOwnLastConnectionHoldsTheSlot) {
    meet_a_moved_slot();
    std::vector<std::string> done = script.passes(1s);
    for (std::uint32_t tries = 0; tries < 3 * slot_place::standby_after_tries; ++tries) {
        EXPECT_THAT(done, Contains("connect_postgres for a gap"));
        script.postgres_fails(errc::slot_not_released);
        done = script.passes(2s);
    }
}

}  // namespace
}  // namespace walrelay::relay
