// What keeps a row from being lost or doubled: dead letters, the slot held back, a slot that
// somebody moved, other writers of the stream.
#include "integration/e2e/relay_bench.hpp"
#include "support/eventually.hpp"

#include <algorithm>
#include <csignal>
#include <map>

namespace walrelay::test {
namespace {

class Guarantee : public e2e_test {
protected:
    /// A row of which no subject can be made; its version is the number.
    static std::string insert_poison(std::uint64_t first, std::uint64_t last) {
        return "INSERT INTO outbox_events (id, aggregate_type, aggregate_id, event_type, "
               "event_data, metadata, status, version, created_at) SELECT gen_random_uuid(), '', "
               "'a', 'e', '{}', '{}', 'new', n, now() FROM generate_series(" +
               std::to_string(first) + ", " + std::to_string(last) + ") n";
    }

    std::vector<std::vector<std::optional<std::string>>> dead_letters() {
        return bench.session().query(
            "SELECT source_schema || '.' || source_table, reason, event::text "
            "FROM walrelay.dead_letter ORDER BY id");
    }
};

TEST_P(Guarantee, PoisonIsSetAsideAndPublishedWhenItIsRetried) {
    bench.create_table();
    bench.start();
    bench.execute(insert_event(1));
    bench.execute(insert_poison(7, 7));
    bench.execute(insert_event(2));
    ASSERT_TRUE(bench.confirmed_reaches(bench.wal_end()));
    const auto letters = dead_letters();
    ASSERT_EQ(letters.size(), 1U);
    EXPECT_EQ(letters[0][0], "public.outbox_events");
    EXPECT_NE(letters[0][1]->find("\"aggregate_type\" is empty"), std::string::npos);
    EXPECT_NE(bench.relay().log().find("walrelay dead-letter list"), std::string::npos);
    bench.stop();
    EXPECT_TRUE(exactly_once_in_order(event_ids(1, 2), bench.events()));

    // A subject that can do without the column fixes it.
    bench.set_outbox("[[outbox]]\ntable = 'outbox_events'\nsubject = '%.x'");
    bench.start();
    const auto retry = bench.command({"dead-letter", "retry", "--all"});
    EXPECT_EQ(retry.exit_code, 0) << retry.errors;
    ASSERT_TRUE(bench.wait_for_messages(3));
    bench.stop();
    const auto messages = bench.messages();
    EXPECT_TRUE(messages.back().headers.at("Nats-Msg-Id").ends_with(";retry-1-1"));
    EXPECT_NE(messages.back().body.find("\"version\":7"), std::string::npos)
        << messages.back().body;
    EXPECT_EQ(dead_letters().size(), 1U);
}

TEST_P(Guarantee, DeadLetterWhoseRowComesAgainIsNotPublishedBesides) {
    bench.create_table();
    bench.set_delivery("confirm_delay = '1h'");
    bench.start();
    bench.execute(insert_poison(7, 7));
    ASSERT_TRUE(eventually(patience, [&] {
        return bench.relay().log().find("walrelay dead-letter list") != std::string::npos;
    }));
    bench.kill_9();

    // The slot sends the row again, and now a subject can be made of it.
    bench.set_outbox("[[outbox]]\ntable = 'outbox_events'\nsubject = '%.x'");
    bench.start();
    bench.execute(insert_event(1));
    ASSERT_TRUE(bench.wait_for_messages(1));
    bench.stop();
    EXPECT_TRUE(exactly_once_in_order(event_ids(1, 1), bench.events()));
    EXPECT_EQ(dead_letters().size(), 1U);
}

TEST_P(Guarantee, RowsWhoseIdIsTakenCostNoConnection) {
    const auto times = [](const std::string& text, const std::string& part) {
        int count = 0;
        for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
            ++count;
        }
        return count;
    };
    bench.create_table();
    bench.set_outbox(
        "[[outbox]]\ntable = 'outbox_events'\nsubject = '%.x'\nmessage_id = '{version}'");
    bench.start();
    bench.execute(insert_events(1, 2));
    ASSERT_TRUE(bench.wait_for_messages(2));
    bench.execute(
        "BEGIN; INSERT INTO outbox_events (id, aggregate_type, aggregate_id, event_type, "
        "event_data, metadata, status, version, created_at) SELECT gen_random_uuid(), "
        "'t', 'a', 'e', '{}', '{}', 'new', 1, now() FROM generate_series(1, 12);" +
        insert_events(3, 40) + "; COMMIT");
    ASSERT_TRUE(bench.confirmed_reaches(bench.wal_end()));
    EXPECT_EQ(dead_letters().size(), 12U);
    bench.stop();
    std::vector<std::string> ids;
    for (int version = 1; version <= 40; ++version) {
        ids.push_back(std::to_string(version));
    }
    EXPECT_TRUE(exactly_once_in_order(ids, bench.events()));
    const auto log = bench.relay().log();
    EXPECT_EQ(times(log, "connected to the broker"), 1) << log;
    EXPECT_EQ(times(log, "streaming from slot"), 1) << log;
}

TEST_P(Guarantee, PoisonByTheThousandHoldsNothingUp) {
    bench.create_table();
    bench.start();
    bench.execute("BEGIN;" + insert_events(1, 500) + ";" + insert_poison(1001, 6000) + ";" +
                  insert_events(501, 1000) + ";COMMIT");
    ASSERT_TRUE(bench.confirmed_reaches(bench.wal_end()));
    EXPECT_EQ(dead_letters().size(), 5000U);
    const auto transactions =
        bench.session().query("SELECT count(DISTINCT xmin::text) <= 100 FROM walrelay.dead_letter");
    EXPECT_EQ(transactions[0][0], "t") << "they are stored together";
    bench.stop();
    const auto log = bench.relay().log();
    EXPECT_LT(std::count(log.begin(), log.end(), '\n'), 100) << log;
    EXPECT_NE(log.find("set aside in walrelay.dead_letter besides: "), std::string::npos) << log;
    // Their ordinals have gaps where the dead letters are, so only the ids are compared.
    std::vector<std::string> ids;
    for (const auto& event : bench.events()) {
        ids.push_back(event.id);
    }
    EXPECT_EQ(ids, event_ids(1, 1000));
}

TEST_P(Guarantee, SecondRowWithATakenIdIsSetAside) {
    bench.create_table();
    bench.set_outbox(
        "[[outbox]]\ntable = 'outbox_events'\nsubject = '%.x'\nmessage_id = '{aggregate_id}'");
    bench.start();
    bench.execute(insert_event(1, "one") + ";" + insert_event(2, "two"));
    bench.execute(insert_event(3, "one"));
    bench.execute(insert_event(4, "four"));
    ASSERT_TRUE(bench.confirmed_reaches(bench.wal_end()));
    const auto letters = dead_letters();
    ASSERT_EQ(letters.size(), 1U);
    EXPECT_NE(letters[0][1]->find("already has this Nats-Msg-Id"), std::string::npos);
    EXPECT_NE(letters[0][2]->find(event_id(3)), std::string::npos);
    bench.stop();
    EXPECT_EQ(bench.messages().size(), 3U);
}

TEST_P(Guarantee, SlotIsHeldBackWithoutHarmToAnything) {
    bench.create_table();
    bench.set_delivery("confirm_delay = '1h'");
    bench.start();
    const auto before = bench.wal_end();
    bench.execute(insert_events(1, 100));
    ASSERT_TRUE(bench.wait_for_messages(100));
    bench.stop();
    EXPECT_EQ(bench.slot("confirmed_flush_lsn <= " + as_literal(before) + "::pg_lsn"), "t");

    bench.start();
    bench.execute(insert_events(101, 200));
    ASSERT_TRUE(bench.wait_for_messages(200));
    bench.expect_relayed(event_ids(1, 200));
}

TEST_P(Guarantee, SlotThatSomebodyAdvancedStopsTheRelay) {
    bench.create_table();
    bench.start();
    bench.execute(insert_event(1));
    ASSERT_TRUE(bench.confirmed_reaches(bench.wal_end()));
    bench.relay().process().signal(SIGSTOP);
    (void)bench.slot("pg_terminate_backend(active_pid)");
    ASSERT_TRUE(eventually(patience, [&] { return bench.slot("active") == "f"; }));
    bench.execute(insert_event(2));
    bench.execute("SELECT pg_replication_slot_advance(" + as_literal(bench.name()) +
                  ", pg_current_wal_lsn())");
    bench.relay().process().signal(SIGCONT);
    EXPECT_EQ(bench.relay().process().wait_exit(patience), 3);
    EXPECT_NE(bench.relay().log().find("stands at LSN"), std::string::npos);
    EXPECT_NE(bench.relay().log().find("walrelay verify"), std::string::npos);
}

TEST_P(Guarantee, RowsThatASlotSkippedWhileNoRelayRanAreMissed) {
    bench.create_table();
    bench.start();
    bench.execute(insert_events(1, 5));
    ASSERT_TRUE(bench.wait_for_messages(5));
    bench.stop();
    bench.execute(insert_event(6));
    bench.execute("SELECT pg_replication_slot_advance(" + as_literal(bench.name()) +
                  ", pg_current_wal_lsn())");
    const auto refused = bench.command({"run"});
    EXPECT_EQ(refused.exit_code, 3);
    EXPECT_NE(refused.errors.find(event_id(6)), std::string::npos) << refused.errors;
    EXPECT_NE(refused.errors.find("walrelay resume --heal"), std::string::npos);
    EXPECT_NE(refused.errors.find("walrelay resume --give-up"), std::string::npos);

    bench.set_delivery("on_slot_loss = 'heal'");
    bench.start();
    bench.execute(insert_event(7));
    ASSERT_TRUE(bench.wait_for_messages(7));
    bench.stop();
    // The healed row comes behind what the slot brought while it was looked for.
    std::vector<std::string> ids;
    for (const auto& event : bench.events()) {
        ids.push_back(event.id);
    }
    std::sort(ids.begin(), ids.end());
    EXPECT_EQ(ids, event_ids(1, 7));
}

TEST_P(Guarantee, NobodyIsMissedWhoseMessageIsOnlyLate) {
    bench.create_table();
    bench.start();
    bench.execute(insert_events(1, 5));
    ASSERT_TRUE(bench.wait_for_messages(5));
    auto slow = bench.session();
    slow.execute("BEGIN");
    slow.execute(insert_event(6));
    bench.stop();
    bench.execute(insert_events(7, 9));
    bench.execute("DELETE FROM outbox_events WHERE id = " + as_literal(event_id(3)));
    bench.execute(insert_poison(10, 10));
    bench.start();
    slow.execute("COMMIT");
    bench.execute(insert_event(11));
    ASSERT_TRUE(bench.wait_for_messages(10));
    bench.stop();
    // The dead letter has a row and no message.
    bench.start();
    bench.execute(insert_event(12));
    ASSERT_TRUE(bench.wait_for_messages(11));
    bench.stop();
}

TEST_P(Guarantee, BesideOtherWritersEachAggregateKeepsItsOrder) {
    constexpr std::uint64_t rows = 600;
    bench.create_table();
    bench.set_nats("sole_writer = false");
    bench.start();
    for (std::uint64_t first = 1; first <= rows; first += 3) {
        bench.execute("BEGIN;" + insert_event(first, "a") + ";" + insert_event(first + 1, "b") +
                      ";" + insert_event(first + 2, "c") + ";COMMIT");
        if (first % 30 == 1) {
            (void)bench.broker().publish(bench.name() + ".stranger", "not ours");
        }
        if (first == 301) {
            bench.kill_9();
            bench.start();
        }
    }
    ASSERT_TRUE(bench.confirmed_reaches(bench.wal_end()));
    bench.stop();
    std::map<std::string, std::vector<std::string>> by_aggregate;
    for (const auto& message : bench.messages()) {
        if (message.headers.contains("Walrelay-Position")) {
            const auto& id = message.headers.at("Nats-Msg-Id");
            by_aggregate[message.body.substr(message.body.find("aggregate_id"), 17)].push_back(id);
        }
    }
    ASSERT_EQ(by_aggregate.size(), 3U);
    std::uint64_t first = 1;
    for (const auto& [aggregate, ids] : by_aggregate) {
        std::vector<std::string> expected;
        for (auto number = first; number <= rows; number += 3) {
            expected.push_back(event_id(number));
        }
        EXPECT_EQ(ids, expected) << aggregate;
        ++first;
    }
}

TEST_P(Guarantee, StrangersMessagesAreSurvivedWhereTheRelayShouldBeTheOnlyWriter) {
    constexpr std::uint64_t rows = 3000;
    bench.create_table();
    bench.start();
    for (std::uint64_t first = 1; first <= rows; first += 100) {
        bench.execute(insert_events(first, first + 99));
        (void)bench.broker().publish(bench.name() + ".stranger", "not ours");
    }
    ASSERT_TRUE(bench.confirmed_reaches(bench.wal_end()));
    bench.stop();
    std::map<std::string, int> seen;
    for (const auto& message : bench.messages()) {
        if (message.headers.contains("Walrelay-Position")) {
            ++seen[message.headers.at("Nats-Msg-Id")];
        }
    }
    EXPECT_EQ(seen.size(), rows);
    for (const auto& [id, times] : seen) {
        EXPECT_EQ(times, 1) << id;
    }
}

class SynchronousStandby : public testing::TestWithParam<const char*> {};

TEST_P(SynchronousStandby, IsNotWaitedForWhereItIsWalrelayItself) {
    postgres_server postgres;
    relay_bench bench(postgres, shared_nats(), GetParam());
    bench.create_table();
    bench.start();
    bench.execute(insert_event(1));
    ASSERT_TRUE(bench.confirmed_reaches(bench.wal_end()));
    for (const auto* const names : {"'walrelay'", "'ANY 1 (another, \"walrelay\")'", "'*'"}) {
        postgres.reconfigure(std::string("synchronous_standby_names = ") + names);
        ASSERT_TRUE(eventually(patience, [&] {
            return bench.session().value_of("SHOW synchronous_standby_names") ==
                   std::string(names).substr(1, std::string(names).size() - 2);
        }));
        // An ordinary commit of the application waits for walrelay, as it was asked to.
        auto writer = bench.session();
        writer.execute("SET synchronous_commit = local");
        writer.execute(
            "INSERT INTO outbox_events (id, aggregate_type, aggregate_id, event_type, event_data, "
            "metadata, status, version, created_at) VALUES (gen_random_uuid(), '', 'a', 'e', '{}', "
            "'{}', 'new', 7, now())");
        ASSERT_TRUE(bench.confirmed_reaches(bench.wal_end())) << names << bench.relay().log();
    }
    EXPECT_EQ(bench.session().value_of("SELECT count(*) FROM walrelay.dead_letter"), "3");
    bench.stop();
}

INSTANTIATE_TEST_SUITE_P(Plugins, SynchronousStandby, both_plugins(), plugin_name);

INSTANTIATE_TEST_SUITE_P(, Guarantee, both_plugins(), plugin_name);

}  // namespace
}  // namespace walrelay::test
