// A halt that is taken back although the limits of the stream have removed messages of rows that
// are still in their table.
#include "integration/e2e/halted_slot.hpp"

#include <algorithm>

namespace walrelay::test {
namespace {

/// Rows stay in their table, and the stream keeps some of their messages.
class RemovedRows : public Halt {
protected:
    /// Rows 1 to 4 are published, and these messages removed.
    /// Halted for no reason.
    void halt_wrongly(const std::vector<std::uint64_t>& removed = {1, 2}) {
        bench.start();
        for (std::uint64_t row = 1; row <= 4; ++row) {
            bench.execute(insert_event(row));
        }
        ASSERT_TRUE(bench.confirms_messages(4));
        bench.stop();
        for (const auto each : removed) {
            remove_message(each);
        }
        ASSERT_EQ(bench.command({"resume", "--heal"}).exit_code, 0);
        bench.execute("UPDATE walrelay.halt SET reason = 'a false alarm', decision = NULL");
    }
    void remove_message(std::uint64_t sequence) {
        bench.broker().delete_message(bench.stream_name(), sequence);
    }
    void expect_to_go_on() {
        bench.start();
        bench.execute(insert_event(5));
        ASSERT_TRUE(eventually(patience, [&] { return is_stored(5); })) << bench.relay().log();
        EXPECT_TRUE(is_forgotten());
        bench.stop();
    }
    bool is_stored(std::uint64_t row) {
        const auto ids = ids_in_order();
        return std::ranges::find(ids, event_id(row)) != ids.end();
    }
};

TEST_P(RemovedRows, EndsWithPlainResumeWhereNothingButTheOldestMessagesIsGone) {
    halt_wrongly();
    const auto resumed = bench.command({"resume"});
    EXPECT_EQ(resumed.exit_code, 0) << resumed.output << resumed.errors;
    EXPECT_TRUE(says(resumed.output, "No row is missing."));
    EXPECT_TRUE(says(resumed.output,
                     "2 rows in no message are not counted: they are older than "
                     "what the stream holds, and 2 messages are gone"));
    expect_to_go_on();
}

TEST_P(RemovedRows, IsPassedByTheNextStartAsWell) {
    halt_wrongly();
    resume_blindly();
    expect_to_go_on();
    EXPECT_TRUE(says(bench.relay().log(), "2 rows in no message are not counted"));
}

TEST_P(RemovedRows, GivesUpNoRowThatLimitsHaveRemoved) {
    halt_wrongly();
    const auto given_up = bench.command({"resume", "--give-up"});
    EXPECT_EQ(given_up.exit_code, 0) << given_up.errors;
    EXPECT_TRUE(says(given_up.output, "Gave up 0 rows"));
}

TEST_P(RemovedRows, EndsWhereLimitsHaveRemovedAllMessages) {
    halt_wrongly();
    remove_message(3);
    remove_message(4);
    // As after some more transactions of others.
    bench.execute("UPDATE walrelay.witness SET snapshot = pg_current_snapshot()");
    const auto resumed = bench.command({"resume"});
    EXPECT_EQ(resumed.exit_code, 0) << resumed.output << resumed.errors;
    EXPECT_TRUE(says(resumed.output, "4 rows in no message are not counted"));
}

TEST_P(RemovedRows, EndsWhereMessagesAreReplacedThatAreKnownToHaveBeenStored) {
    bench.broker().create({.name = bench.stream_name(),
                           .subjects = {bench.name() + ".>"},
                           .max_messages_per_subject = 100});
    halt_wrongly({2, 3});
    bench.execute(
        "UPDATE walrelay.witness SET snapshot = (SELECT snapshot FROM walrelay.slot_start)");
    const auto refused = bench.command({"resume"});
    EXPECT_EQ(refused.exit_code, 1) << refused.output << refused.errors;
    EXPECT_TRUE(says(refused.output, event_id(2)));
    bench.execute("UPDATE walrelay.witness SET snapshot = pg_current_snapshot()");
    const auto resumed = bench.command({"resume"});
    EXPECT_EQ(resumed.exit_code, 0) << resumed.output << resumed.errors;
    EXPECT_TRUE(says(resumed.output,
                     "2 rows in no message are not counted: they are older than what the stream "
                     "holds, or known to have been stored, and 2 messages are gone from the "
                     "stream by its limits"));
}

TEST_P(RemovedRows, IsNotTakenBackWhileALaterRowIsMissing) {
    halt_wrongly();
    bench.execute(insert_event(5));
    advance_slot();
    const auto refused = bench.command({"resume"});
    EXPECT_EQ(refused.exit_code, 1) << refused.output << refused.errors;
    EXPECT_TRUE(says(refused.output, "1 row is in neither the stream nor the dead letters"));
    EXPECT_TRUE(says(refused.output, event_id(5)));
    EXPECT_TRUE(says(refused.output, "2 rows in no message are not counted"));
    remove_message(3);
    remove_message(4);
    const auto empty = bench.command({"resume"});
    EXPECT_EQ(empty.exit_code, 1) << empty.output << empty.errors;
    EXPECT_TRUE(says(empty.output, event_id(5)));
}

TEST_P(RemovedRows, IsNotTakenBackWhereAMessageIsGoneFromTheMiddle) {
    halt_wrongly();
    remove_message(4);
    const auto refused = bench.command({"resume"});
    EXPECT_EQ(refused.exit_code, 1) << refused.output << refused.errors;
    EXPECT_TRUE(says(refused.output, event_id(4)));
    EXPECT_TRUE(says(refused.output, "2 rows in no message are not counted"));
}

INSTANTIATE_TEST_SUITE_P(, RemovedRows, both_plugins(), plugin_name);

}  // namespace
}  // namespace walrelay::test
