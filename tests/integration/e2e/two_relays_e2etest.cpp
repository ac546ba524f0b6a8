// Two relays of one database: of two tables, and of the same one. Each has a slot, a publication, a
// stream and dead letters of its own.
#include "integration/e2e/relay_bench.hpp"
#include "support/eventually.hpp"

#include <gmock/gmock.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace walrelay::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// Its header is too large for any broker where the payload is.
constexpr const char* with_header =
    "[[outbox]]\ntable = 'public.outbox_events'\nsubject = '%.all'\n"
    "headers = { 'Large' = '{event_data}' }";
constexpr const char* plain = "[[outbox]]\ntable = 'public.outbox_events'\nsubject = '%.all'";

std::string insert_large(std::uint64_t number) {
    return "INSERT INTO outbox_events (id, aggregate_id, aggregate_type, event_type, event_data, "
           "status, version, created_at) VALUES ('" +
           event_id(number) +
           "', 'order-1', 'order', 'placed', jsonb_build_object('text', repeat('x', 70000)), "
           "'pending', " +
           std::to_string(number) + ", now())";
}

class TwoRelays : public e2e_test {
protected:
    void SetUp() override {
        bench.create_table();
        other.set_conninfo(bench.conninfo());
        bench.set_outbox(plain);
        other.set_outbox(with_header);
    }

    void settle() {
        const auto end = bench.wal_end();
        for (auto* const each : {&bench, &other}) {
            ASSERT_TRUE(eventually(patience, [&] { return each->confirmed_reaches(end); }));
        }
    }

    static std::vector<std::string> ids_of(relay_bench& of) {
        std::vector<std::string> ids;
        for (const auto& each : of.messages()) {
            ids.push_back(each.header("Nats-Msg-Id"));
        }
        return ids;
    }

    std::string letters(const std::string& what) {
        return bench.session().value_of("SELECT coalesce(string_agg(" + what +
                                        ", ',' ORDER BY id), '') FROM walrelay.dead_letter");
    }

    relay_bench other{shared_postgres(), shared_nats(), GetParam()};
};

TEST_P(TwoRelays, OfOneTableEachHaveTheirOwnLetters) {
    bench.start();
    other.start();
    bench.execute(insert_events(1, 2));
    bench.execute(insert_large(3));
    bench.execute(insert_events(4, 4));
    settle();
    EXPECT_THAT(ids_of(bench), ElementsAre(event_id(1), event_id(2), event_id(3), event_id(4)));
    EXPECT_THAT(ids_of(other), ElementsAre(event_id(1), event_id(2), event_id(4)));
    EXPECT_EQ(letters("slot"), other.name());

    EXPECT_THAT(bench.command({"dead-letter", "list"}).output, HasSubstr("no dead letters"));
    EXPECT_THAT(other.command({"dead-letter", "list"}).output, HasSubstr(event_id(3)));
    EXPECT_EQ(bench.command({"dead-letter", "show", "1"}).exit_code, 1);
    EXPECT_EQ(other.command({"dead-letter", "show", "1"}).exit_code, 0);
    EXPECT_THAT(bench.command({"dead-letter", "retry", "1"}).errors,
                HasSubstr("there is no dead letter 1"));
    EXPECT_THAT(bench.command({"dead-letter", "drop", "--all", "--yes"}).output,
                HasSubstr("dropped 0"));
    EXPECT_EQ(bench.command({"verify"}).exit_code, 0);
    EXPECT_EQ(other.command({"verify"}).exit_code, 0);

    other.stop();
    other.set_outbox(plain);
    other.start();
    EXPECT_EQ(other.command({"dead-letter", "retry", "--all"}).exit_code, 0);
    ASSERT_TRUE(other.wait_for_messages(4));
    settle();
    EXPECT_EQ(ids_of(other).back(), event_id(3) + ";retry-1-1");
    EXPECT_EQ(ids_of(bench).size(), 4U) << "nothing comes into the stream of the other one";
    for (auto* const each : {&bench, &other}) {
        const auto verified = each->command({"verify"});
        EXPECT_EQ(verified.exit_code, 0) << verified.output;
    }
}

/// The other one's letter is at the position of the row that this one has not confirmed.
TEST_P(TwoRelays, ALetterOfTheOtherOneIsNotPassedOver) {
    bench.start();
    other.start();
    bench.execute(insert_events(1, 1));
    settle();
    bench.stop();
    bench.execute(insert_large(2));
    bench.execute(insert_events(3, 3));
    const auto end = bench.wal_end();
    ASSERT_TRUE(eventually(patience, [&] { return other.confirmed_reaches(end); }));
    EXPECT_EQ(letters("slot"), other.name());
    const auto before = bench.command({"verify"});
    EXPECT_EQ(before.exit_code, 1) << before.output;
    bench.start();
    settle();
    EXPECT_THAT(ids_of(bench), ElementsAre(event_id(1), event_id(2), event_id(3)));
    const auto after = bench.command({"verify"});
    EXPECT_EQ(after.exit_code, 0) << after.output;
}

TEST_P(TwoRelays, BothSetTheSameRowAside) {
    bench.set_outbox(with_header);
    bench.start();
    other.start();
    bench.execute(insert_large(1));
    bench.execute(insert_events(2, 2));
    settle();
    EXPECT_EQ(letters("'x'"), "x,x");
    for (auto* const each : {&bench, &other}) {
        EXPECT_EQ(
            bench.session().value_of("SELECT count(*) FROM walrelay.dead_letter WHERE slot = " +
                                     as_literal(each->name())),
            "1");
        each->kill_9();
        each->start();
        EXPECT_EQ(each->command({"verify"}).exit_code, 0);
    }
    settle();
    EXPECT_EQ(letters("'x'"), "x,x") << "met again, it is the same letter";
    bench.stop();
    bench.set_outbox(plain);
    bench.start();
    EXPECT_EQ(bench.command({"dead-letter", "retry", "--all"}).exit_code, 0);
    ASSERT_TRUE(bench.wait_for_messages(2));
    settle();
    EXPECT_THAT(ids_of(other), ElementsAre(event_id(2)));
}

/// Healing, the startup check and status look at their own.
TEST_P(TwoRelays, ALostSlotIsHealedWhateverTheOtherOneHasSetAside) {
    bench.set_delivery("on_slot_loss = 'heal'");
    bench.start();
    other.start();
    bench.execute(insert_events(1, 2));
    settle();
    bench.stop();
    bench.execute(insert_large(3));
    bench.execute(insert_events(4, 4));
    const auto end = bench.wal_end();
    ASSERT_TRUE(eventually(patience, [&] { return other.confirmed_reaches(end); }));
    bench.execute("SELECT pg_drop_replication_slot(" + as_literal(bench.name()) + ")");
    bench.start();
    ASSERT_TRUE(bench.wait_for_messages(4));
    settle();
    EXPECT_EQ(bench.command({"verify"}).exit_code, 0);
    EXPECT_EQ(ids_of(other).size(), 3U);
}

TEST_P(TwoRelays, OfTwoTablesReplayAndVerifyTheirOwn) {
    bench.execute(create_outbox_events("second_outbox"));
    other.set_outbox("[[outbox]]\ntable = 'public.second_outbox'\nsubject = '%.all'");
    bench.start();
    other.start();
    bench.execute(insert_events(1, 500));
    bench.execute(insert_events(1001, 1500, "order-2", "second_outbox"));
    settle();
    const auto done =
        other.command({"replay", "--rows", "true", "--table", "public.second_outbox", "--execute"});
    EXPECT_EQ(done.exit_code, 0) << done.errors;
    settle();
    EXPECT_EQ(ids_of(bench).size(), 500U);
    EXPECT_EQ(ids_of(other).size(), 1000U);
    EXPECT_THAT(bench.command({"replay", "list"}).output, HasSubstr("no replays"));
    for (auto* const each : {&bench, &other}) {
        const auto verified = each->command({"verify"});
        EXPECT_EQ(verified.exit_code, 0) << verified.output;
    }
}

/// What 0.2.0 has made, and goes on writing while it leads.
class EarlierLetters : public e2e_test {
protected:
    void SetUp() override {
        bench.create_table();
        bench.execute(
            "CREATE SCHEMA walrelay; CREATE TABLE walrelay.dead_letter (id bigint GENERATED ALWAYS "
            "AS IDENTITY PRIMARY KEY, position text NOT NULL UNIQUE, source_schema text NOT NULL, "
            "source_table text NOT NULL, message_id text, subject text, headers json NOT NULL, "
            "event json, reason text NOT NULL, error_code int NOT NULL, attempts int NOT NULL, "
            "committed_at timestamptz NOT NULL, dead_at timestamptz NOT NULL DEFAULT now(), "
            "retries int NOT NULL DEFAULT 0, retried_at timestamptz)");
        bench.set_outbox(with_header);
    }
    /// As 0.2.0 does.
    void insert_letter(std::uint64_t number) const {
        bench.execute(
            "INSERT INTO walrelay.dead_letter (position, source_schema, source_table, message_id, "
            "headers, event, reason, error_code, attempts, committed_at) VALUES "
            "('1.1.00000000000000"
            "0" +
            std::to_string(number) + ".0000000000000001.0', 'public', 'outbox_events', '" +
            event_id(number) +
            "', '{}', '[]', 'large', 0, 0, now()) ON CONFLICT (position) DO NOTHING");
    }
    void settle() {
        const auto end = bench.wal_end();
        ASSERT_TRUE(eventually(patience, [&] { return bench.confirmed_reaches(end); }));
    }
};

TEST_P(EarlierLetters, AreTheSlotsWhereItIsTheOnlyOne) {
    bench.start();
    bench.execute(insert_events(1, 1));
    settle();
    insert_letter(7);
    EXPECT_THAT(bench.command({"dead-letter", "list"}).output, HasSubstr(event_id(7)));
    bench.execute(insert_large(2));
    settle();
    EXPECT_EQ(bench.session().value_of(
                  "SELECT slot FROM walrelay.dead_letter WHERE message_id = '" + event_id(2) + "'"),
              bench.name());
    insert_letter(8);
    EXPECT_THAT(bench.command({"dead-letter", "list"}).output, HasSubstr(event_id(8)));
    EXPECT_EQ(bench.command({"verify"}).exit_code, 0);
    const auto ready = bench.command({"init"});
    EXPECT_EQ(ready.exit_code, 0) << ready.errors;
}

TEST_P(EarlierLetters, ExcuseNothingWhereTheyMayBeOfAnotherSlot) {
    bench.start();
    settle();
    relay_bench other{shared_postgres(), shared_nats(), GetParam()};
    other.set_conninfo(bench.conninfo());
    other.set_outbox(with_header);
    other.start();
    bench.stop();
    insert_letter(7);
    bench.execute(insert_events(7, 7));
    bench.execute("SELECT pg_replication_slot_advance(" + as_literal(bench.name()) +
                  ", pg_current_wal_lsn())");
    const auto verified = bench.command({"verify"});
    EXPECT_EQ(verified.exit_code, 1) << verified.output;
    EXPECT_THAT(bench.command({"dead-letter", "list"}).output, HasSubstr(event_id(7)));
    bench.execute("UPDATE walrelay.dead_letter SET slot = " + as_literal(bench.name()));
    const auto named = bench.command({"verify"});
    EXPECT_EQ(named.exit_code, 0) << named.output;
}

INSTANTIATE_TEST_SUITE_P(Plugins, TwoRelays, both_plugins(), plugin_name);
INSTANTIATE_TEST_SUITE_P(Plugins, EarlierLetters, both_plugins(), plugin_name);

}  // namespace
}  // namespace walrelay::test
