// A stream that has lost its end, as after a power cut: the broker's store is put back.
#include "integration/e2e/witness_bench.hpp"

#include <cstdint>
#include <string>

namespace walrelay::test {
namespace {

using testing::HasSubstr;

class CutStream : public Witness {
protected:
    void cut() {
        bench.start();
        relay(1, 20);
        nats.remember_store();
        relay(21, 40);
        bench.stop();
        nats.stop();
        nats.restore_store();
        nats.start();
        ASSERT_EQ(bench.broker().message_count(bench.stream_name()), 20U);
    }
    void insert_large(std::uint64_t version) {
        bench.execute(
            "INSERT INTO outbox_events (id, aggregate_id, aggregate_type, event_type, event_data,"
            " status, version, created_at) VALUES (gen_random_uuid(), 'a', 'order', 'placed',"
            " jsonb_build_object('x', repeat('x', 100000)), 'pending', " +
            std::to_string(version) + ", now())");
    }
};

TEST_P(CutStream, HaltsTheNextStart) {
    cut();
    expect_halts("has lost messages");
    EXPECT_THAT(kept("reason"), HasSubstr("everything up to sequence 40"));
    EXPECT_EQ(bench.broker().message_count(bench.stream_name()), 20U);
    const auto checked = bench.command({"check", "--json"});
    EXPECT_EQ(checked.exit_code, 1);
    EXPECT_THAT(checked.output, HasSubstr("\"stream_lost\""));
    expect_heals(41);
}

TEST_P(CutStream, IsNoticedBeforeThousandsOfNewRowsFillIt) {
    constexpr std::uint64_t rows = 3040;
    cut();
    insert(41, rows);
    expect_halts("has lost messages");
    EXPECT_EQ(bench.broker().message_count(bench.stream_name()), 20U);
    expect_heals(rows + 1);
}

/// A look at the tables finds nothing, and the next start would halt again.
TEST_P(CutStream, IsNotTakenBackWhereTheRowsAreGoneFromTheTable) {
    cut();
    expect_halts("has lost messages");
    bench.execute("DELETE FROM outbox_events WHERE version BETWEEN 21 AND 40");
    const auto plain = bench.command({"resume"});
    EXPECT_EQ(plain.exit_code, 1) << plain.output << plain.errors;
    EXPECT_THAT(plain.output, HasSubstr("has lost messages"));
    EXPECT_THAT(plain.output, HasSubstr("walrelay resume --heal"));
    EXPECT_THAT(plain.output, HasSubstr("walrelay resume --give-up"));
    EXPECT_EQ(kept("decision IS NULL"), "t");
    ask_to_heal();
    bench.start();
    insert(41, 45);
    ASSERT_TRUE(bench.wait_for_messages(25)) << bench.relay().log();
}

/// A row that was written and deleted while the relay was away: only the slot still has it.
TEST_P(CutStream, IsNotHealedAtThePriceOfWhatOnlyTheSlotHas) {
    cut();
    insert(41, 45);
    bench.execute("DELETE FROM outbox_events WHERE version = 43");
    expect_halts("has lost messages");
    EXPECT_EQ(bench.command({"resume", "--heal"}).exit_code, 0);
    const auto refused = bench.command({"run"});
    EXPECT_EQ(refused.exit_code, 3) << refused.errors;
    EXPECT_THAT(refused.errors, HasSubstr("still holds 1 row that is in no table any more"));
    EXPECT_THAT(refused.errors, HasSubstr("walrelay resume --give-up"));
    EXPECT_EQ(bench.broker().message_count(bench.stream_name()), 20U);
    EXPECT_EQ(bench.command({"resume", "--give-up"}).exit_code, 0);
    bench.start();
    ASSERT_TRUE(bench.wait_for_messages(25)) << bench.relay().log();
    bench.stop();
    EXPECT_EQ(bench.events().back().id, event_id(45));
    EXPECT_EQ(bench.events().at(22).id, event_id(43));
}

/// From the slot it becomes a dead letter; whether a table has it, its id tells.
TEST_P(CutStream, IsNotHealedAtThePriceOfARowThatIsTooLarge) {
    bench.set_delivery("max_row_bytes = '64KiB'");
    cut();
    insert_large(99);
    bench.execute("DELETE FROM outbox_events WHERE version = 99");
    expect_halts("has lost messages");
    EXPECT_EQ(bench.command({"resume", "--heal"}).exit_code, 0);
    const auto refused = bench.command({"run"});
    EXPECT_EQ(refused.exit_code, 3) << refused.errors;
    EXPECT_THAT(refused.errors, HasSubstr("still holds 1 row that is in no table any more"));
    EXPECT_EQ(bench.command({"resume", "--give-up"}).exit_code, 0);
    bench.start();
    insert(41, 45);
    ASSERT_TRUE(bench.wait_for_messages(25)) << bench.relay().log();
    // With the 20 that were given up.
    EXPECT_EQ(bench.session().value_of("SELECT count(*) FROM walrelay.dead_letter"), "21");
}

TEST_P(CutStream, IsHealedWhereATableHasTheRowThatIsTooLarge) {
    bench.set_delivery("max_row_bytes = '64KiB'");
    cut();
    insert_large(99);
    expect_halts("has lost messages");
    ask_to_heal();
    bench.start();
    insert(41, 45);
    ASSERT_TRUE(bench.wait_for_messages(45)) << bench.relay().log();
    EXPECT_EQ(bench.session().value_of("SELECT count(*) FROM walrelay.dead_letter"), "1");
}

/// No subject can be made of it, so that the slot brings a dead letter.
TEST_P(CutStream, CanBeDecidedOnWhereTheSlotHoldsARowThatCannotBePublished) {
    cut();
    insert(41, 42);
    bench.execute(
        "INSERT INTO outbox_events (id, aggregate_id, aggregate_type, event_type, event_data,"
        " status, version, created_at) VALUES (gen_random_uuid(), 'a', '', 'placed', '{}',"
        " 'pending', 99, now())");
    expect_halts("has lost messages");
    const auto plain = bench.command({"resume"});
    EXPECT_EQ(plain.exit_code, 1) << plain.errors;
    EXPECT_THAT(plain.output, HasSubstr("20 rows"));
    EXPECT_EQ(bench.command({"resume", "--give-up"}).exit_code, 0);
    bench.start();
    ASSERT_TRUE(bench.wait_for_messages(22)) << bench.relay().log();
    // With the 20 that were given up.
    EXPECT_EQ(bench.session().value_of("SELECT count(*) FROM walrelay.dead_letter"), "21");
}

TEST_P(CutStream, IsHealedAtOnceWhereTheConfigurationSaysSo) {
    cut();
    insert(41, 60);
    bench.set_delivery("on_slot_loss = 'heal'");
    bench.start();
    expect_goes_on(61);
}

INSTANTIATE_TEST_SUITE_P(, CutStream, both_plugins(), plugin_name);

}  // namespace
}  // namespace walrelay::test
