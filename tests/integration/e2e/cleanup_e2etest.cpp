// Rows that are deleted some time after their messages were stored, and those that must stay.
#include "integration/e2e/background_writer.hpp"
#include "integration/e2e/relay_bench.hpp"
#include "support/eventually.hpp"

namespace walrelay::test {
namespace {

constexpr const char* one_second = "delete_after = '1s'\n";

std::string outbox(const std::string& more, const std::string& table = "outbox_events") {
    return "[[outbox]]\ntable = '" + table + "'\nsubject = '%.{aggregate_type}.{event_type}'\n" +
           more;
}

class Cleanup : public e2e_test {
protected:
    void SetUp() override { bench.create_table(); }

    [[nodiscard]] std::string count(const std::string& where = "true",
                                    const std::string& table = "outbox_events") const {
        return bench.session().value_of("SELECT count(*) FROM " + table + " WHERE " + where);
    }
    /// Rows that satisfy `where` go away, and no others do meanwhile.
    [[nodiscard]] testing::AssertionResult leaves_only(const std::string& kept,
                                                       const std::string& n) {
        const auto gone = eventually(patience, [&] { return count("NOT (" + kept + ")") == "0"; });
        if (!gone) {
            return testing::AssertionFailure()
                   << count("NOT (" + kept + ")") << " rows are still there";
        }
        const auto left = count();
        return left == n ? testing::AssertionSuccess()
                         : testing::AssertionFailure() << left << " rows are left";
    }
};

TEST_P(Cleanup, RowsGoWhenTheirMessagesAreOldEnough) {
    bench.set_outbox(outbox("delete_after = '3s'\n"));
    bench.start();
    const auto begun = std::chrono::steady_clock::now();
    bench.execute(insert_events(1, 50));
    ASSERT_TRUE(bench.wait_for_messages(50));
    ASSERT_TRUE(eventually(patience, [&] { return count() != "50"; }));
    EXPECT_GE(std::chrono::steady_clock::now() - begun, 3s) << "too early";
    EXPECT_TRUE(leaves_only("false", "0"));
    bench.stop();
    EXPECT_NE(bench.relay().log().find(" rows of public.outbox_events, published"),
              std::string::npos);
}

TEST_P(Cleanup, WhatTheStreamDoesNotHaveStays) {
    bench.execute(insert_events(1, 10));  // before the slot
    bench.set_outbox(outbox(one_second));
    bench.start();
    bench.execute(insert_events(11, 30));
    // Poison: no subject can be made.
    bench.execute(
        "INSERT INTO outbox_events SELECT (e).* FROM (SELECT jsonb_populate_record(e, "
        "'{\"id\": \"00000000-0000-4000-8000-000000009999\", \"aggregate_type\": \"\", "
        "\"version\": 99}') AS e FROM outbox_events AS e WHERE version = 11) AS x");
    bench.execute(insert_events(31, 40));
    ASSERT_TRUE(bench.wait_for_messages(30));
    EXPECT_TRUE(leaves_only("version <= 10 OR version = 99", "11"));
    EXPECT_TRUE(throughout(2s, [&] { return count() == "11"; }));
    EXPECT_EQ(count("true", "walrelay.dead_letter"), "1");
}

TEST_P(Cleanup, ADeadLetterOfAnotherTableHoldsNoRow) {
    bench.execute("CREATE TABLE others (LIKE outbox_events INCLUDING ALL)");
    bench.set_outbox(outbox(one_second) + outbox("", "others"));
    bench.start();
    bench.execute("BEGIN; " + insert_events(1, 1) +
                  "; INSERT INTO others SELECT (e).* FROM (SELECT jsonb_populate_record(e, "
                  "'{\"aggregate_type\": \"\"}') AS e FROM outbox_events AS e) AS x; COMMIT");
    ASSERT_TRUE(bench.wait_for_messages(1));
    EXPECT_TRUE(leaves_only("false", "0"));
    EXPECT_EQ(count("source_table = 'others'", "walrelay.dead_letter"), "1");
}

TEST_P(Cleanup, PendingRowsStayUntilTheyAreNot) {
    bench.set_outbox(outbox(std::string(one_second) + "pending = \"status = 'pending'\"\n"));
    bench.start();
    bench.execute(insert_events(1, 20));
    ASSERT_TRUE(bench.wait_for_messages(20));
    bench.execute("UPDATE outbox_events SET status = 'published' WHERE version > 5");
    EXPECT_TRUE(leaves_only("version <= 5", "5"));
    bench.execute("UPDATE outbox_events SET status = 'published'");
    EXPECT_TRUE(leaves_only("false", "0"));
}

TEST_P(Cleanup, KilledInTheMiddleItGoesOn) {
    constexpr std::uint64_t rows = 20'000;
    bench.execute(insert_events(1, 10));
    bench.set_outbox(outbox(one_second));
    bench.start();
    bench.execute(insert_events(11, rows));
    ASSERT_TRUE(bench.wait_for_messages(rows - 10));
    ASSERT_TRUE(eventually(patience, [&] { return count() != std::to_string(rows); }));
    bench.kill_9();
    EXPECT_NE(count(), "10") << "all was done before";
    bench.start();
    bench.execute(insert_events(rows + 1, rows + 100));
    EXPECT_TRUE(leaves_only("version <= 10", "10"));
    bench.stop();
    EXPECT_EQ(bench.messages().size(), rows + 90);
}

TEST_P(Cleanup, GoesOnAfterTheBrokerWasRestartedUnderAMessageThatWasNotDue) {
    bench.set_outbox(outbox("delete_after = '4s'\n"));
    bench.start();
    bench.execute(insert_events(1, 20));
    ASSERT_TRUE(bench.wait_for_messages(20));
    shared_nats().stop();
    shared_nats().start();
    EXPECT_TRUE(leaves_only("false", "0")) << bench.relay().log();
}

/// Its id is that of a row that was never published.
TEST_P(Cleanup, AMessageOfAnotherMessageIdDeletesNothing) {
    bench.execute(
        "CREATE TABLE orders (id bigint PRIMARY KEY, reference bigint UNIQUE, aggregate_type text "
        "DEFAULT 'order', event_type text DEFAULT 'made', event_data text DEFAULT '{}'); INSERT "
        "INTO orders VALUES (2, 90), (4, 91)");
    bench.set_outbox(outbox("message_id = '{reference}'\n", "orders"));
    bench.start();
    bench.execute("INSERT INTO orders VALUES (1, 2), (3, 4)");
    ASSERT_TRUE(bench.confirms_messages(2));
    bench.stop();
    const auto by_id = std::string(one_second) + "message_id = '{id}'\n";
    bench.set_outbox(outbox(by_id, "orders"));
    bench.start();
    bench.execute("INSERT INTO orders VALUES (10, 10), (11, 11)");
    ASSERT_TRUE(eventually(patience, [&] { return count("id >= 10", "orders") == "0"; }))
        << bench.relay().log();
    EXPECT_EQ(count("true", "orders"), "4");
    EXPECT_NE(bench.relay().log().find("by another message_id"), std::string::npos);
    // The place is kept, and what it was told.
    bench.stop();
    bench.start();
    bench.execute("INSERT INTO orders VALUES (12, 12)");
    ASSERT_TRUE(eventually(patience, [&] { return count("id >= 10", "orders") == "0"; }));
    EXPECT_EQ(count("true", "orders"), "4");
}

/// Nobody who cleans has seen that there was another one.
TEST_P(Cleanup, AMessageIdThatWasTakenBackDeletesNothingOfMeanwhile) {
    bench.execute(
        "CREATE TABLE orders (id bigint PRIMARY KEY, reference bigint UNIQUE, aggregate_type text "
        "DEFAULT 'order', event_type text DEFAULT 'made', event_data text DEFAULT '{}'); INSERT "
        "INTO orders VALUES (2, 90), (4, 91)");
    const std::string by_id = "message_id = '{id}'\n";
    bench.set_outbox(outbox(one_second + by_id, "orders"));
    bench.start();
    bench.execute("INSERT INTO orders VALUES (10, 10)");
    ASSERT_TRUE(eventually(patience, [&] { return count("id >= 10", "orders") == "0"; }))
        << bench.relay().log();
    bench.stop();
    bench.set_outbox(outbox("message_id = '{reference}'\n", "orders"));
    bench.start();
    bench.execute("INSERT INTO orders VALUES (1, 2), (3, 4)");
    ASSERT_TRUE(bench.confirms_messages(3));
    bench.stop();
    bench.set_outbox(outbox(one_second + by_id, "orders"));
    bench.start();
    bench.execute("INSERT INTO orders VALUES (11, 11), (12, 12)");
    ASSERT_TRUE(eventually(patience, [&] { return count("id >= 10", "orders") == "0"; }))
        << bench.relay().log();
    EXPECT_EQ(count("true", "orders"), "4") << "2 and 4 were never published";
    EXPECT_NE(bench.relay().log().find("by another message_id"), std::string::npos);
}

/// Blanks of char(n), and characters that no header may have, are encoded in a message id.
TEST_P(Cleanup, IdsOfEveryTypeAreFoundAgain) {
    struct key {
        const char* table;
        const char* type;
        std::vector<std::string> values;
        std::size_t left;
    };
    const std::vector<key> keys = {
        {"padded", "char(8)", {"'ab'", "'abcdefgh'", "'a b'"}, 0},
        {"flags", "boolean", {"true", "false"}, 0},
        {"texts", "text", {"' a'", "E'a\\nb'", "'100%'", "'x '"}, 2},
        {"moments", "timestamptz", {"'2024-05-01 12:00:00.5+02'"}, 0},
        {"amounts", "numeric", {"1.50", "17"}, 0},
    };
    std::string sections;
    for (const auto& each : keys) {
        bench.execute("CREATE TABLE " + std::string(each.table) + " (id " + each.type +
                      " PRIMARY KEY, aggregate_type text DEFAULT '" + each.table +
                      "', event_type text DEFAULT 'made', event_data text DEFAULT '{}')");
        sections += outbox(std::string(one_second) + "message_id = '" + each.table + "-{id}'\n",
                           each.table);
    }
    bench.set_outbox(sections);
    // Never published, and its id would be that of 'x '.
    bench.execute("INSERT INTO texts (id) VALUES ('x%20')");
    bench.start();
    std::uint64_t rows = 0;
    for (const auto& each : keys) {
        for (const auto& value : each.values) {
            bench.execute("INSERT INTO " + std::string(each.table) + " (id) VALUES (" + value +
                          ")");
            ++rows;
        }
    }
    ASSERT_TRUE(bench.wait_for_messages(rows)) << bench.relay().log();
    for (const auto& each : keys) {
        EXPECT_TRUE(eventually(
            patience, [&] { return count("true", each.table) == std::to_string(each.left); }))
            << each.table << ": " << count("true", each.table) << bench.relay().log();
    }
    EXPECT_TRUE(
        bench.relay().wait_for_log("which is the encoded form of another id as well", patience));
}

TEST_P(Cleanup, IdsOfAnArrayAreRefusedAtTheStart) {
    bench.execute(
        "ALTER TABLE outbox_events DROP CONSTRAINT outbox_events_pkey, "
        "ALTER id TYPE text[] USING ARRAY[id::text]");
    bench.set_outbox(outbox(one_second));
    const auto checked = bench.command({"check"});
    EXPECT_EQ(checked.exit_code, 1);
    EXPECT_NE(checked.output.find("PostgreSQL refuses outbox.delete_after"), std::string::npos)
        << checked.output;
    EXPECT_EQ(bench.command({"run"}).exit_code, 3);
}

TEST_P(Cleanup, LockedRowsAreLeftForLaterAndHoldNobodyUp) {
    bench.set_outbox(outbox(one_second));
    bench.start();
    auto holder = bench.session();
    bench.execute(insert_events(1, 10));
    holder.execute("BEGIN; SELECT * FROM outbox_events WHERE version = 3 FOR UPDATE");
    ASSERT_TRUE(bench.wait_for_messages(10));
    ASSERT_TRUE(bench.relay().wait_for_log("clean-up of public.outbox_events waits", patience));
    bench.execute(insert_events(11, 20));
    ASSERT_TRUE(bench.wait_for_messages(20));
    holder.execute("COMMIT");
    EXPECT_TRUE(leaves_only("false", "0"));
}

TEST_P(Cleanup, MissingRightIsNamedAndTheRelayGoesOn) {
    bench.set_outbox(outbox(one_second));
    bench.execute(
        "CREATE FUNCTION no() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE "
        "insufficient_privilege; END $$; CREATE TRIGGER no BEFORE DELETE ON outbox_events "
        "FOR EACH ROW EXECUTE FUNCTION no()");
    bench.start();
    bench.execute(insert_events(1, 10));
    ASSERT_TRUE(bench.relay().wait_for_log("GRANT SELECT, DELETE ON", patience));
    bench.execute(insert_events(11, 20));
    ASSERT_TRUE(bench.wait_for_messages(20));
    bench.execute("DROP TRIGGER no ON outbox_events");
    EXPECT_TRUE(leaves_only("false", "0"));
}

TEST_P(Cleanup, ForgedMessagesDeleteNothing) {
    bench.broker().create({.name = bench.stream_name(),
                           .subjects = {bench.name() + ".>"},
                           .duplicate_window = std::chrono::milliseconds(100)});
    bench.execute(insert_events(1, 3));  // before the slot: never published
    bench.start();
    bench.execute(insert_events(11, 15));
    bench.execute(insert_events(16, 20));
    ASSERT_TRUE(bench.wait_for_messages(10));
    ASSERT_TRUE(bench.confirmed_reaches(bench.wal_end()));
    bench.stop();
    const auto real = bench.messages();
    const auto first = real.front().header("Walrelay-Position");
    const auto last = real.back().header("Walrelay-Position");
    const auto history = first.substr(0, first.find('.', first.find('.') + 1));
    const auto forge = [&](std::uint64_t number, const std::string& position) {
        return bench.broker().publish(
            bench.name() + ".order.placed", "{}",
            {{"Nats-Msg-Id", event_id(number)}, {"Walrelay-Position", position}});
    };
    EXPECT_EQ(forge(1, first), 11U);
    EXPECT_EQ(forge(2, history + ".00FFFFFFFFFFFFFF" + last.substr(history.size() + 17)), 12U);
    EXPECT_EQ(forge(3, "1" + first), 13U);
    // The tail is walrelay's own again.
    ASSERT_TRUE(eventually(patience, [&] { return forge(20, last) == 14; }));
    bench.set_outbox(outbox(one_second));
    bench.start();
    EXPECT_TRUE(leaves_only("version <= 3", "3"));
    ASSERT_TRUE(bench.relay().wait_for_log("may not be walrelay's own", patience));
    EXPECT_TRUE(throughout(3s, [&] { return count() == "3"; }));
}

INSTANTIATE_TEST_SUITE_P(Plugins, Cleanup, both_plugins(), plugin_name);

/// Tables whose ids are numbers, and that share a stream.
class CleanupOfNumbers : public e2e_test {
protected:
    void create(const std::string& table) {
        bench.execute("CREATE TABLE " + table +
                      " (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, key text UNIQUE, "
                      "event_type text NOT NULL DEFAULT 'made', payload text NOT NULL DEFAULT "
                      "'{}')");
    }
    void insert(const std::string& table, int rows) {
        bench.execute("INSERT INTO " + table + " (payload) SELECT '{}' FROM generate_series(1, " +
                      std::to_string(rows) + ")");
    }
    static std::string entry(const std::string& table, const std::string& more) {
        return "[[outbox]]\ntable = '" + table + "'\nsubject = '%." + table + "'\n" + more;
    }
    [[nodiscard]] bool has(const std::string& table, const std::string& rows) {
        return bench.session().value_of("SELECT count(*) FROM " + table) == rows;
    }
    [[nodiscard]] bool becomes(const std::string& table, const std::string& rows) {
        return eventually(patience, [&] { return has(table, rows); });
    }
};

TEST_P(CleanupOfNumbers, EachTableHasItsOwnTime) {
    create("quick");
    create("slow");
    bench.set_outbox(entry("quick", "message_id = 'quick-{id}'\ndelete_after = '1s'\n") +
                     entry("slow", "message_id = 'slow-{id}'\ndelete_after = '4s'\n"));
    bench.start();
    insert("slow", 30);
    insert("quick", 20);
    ASSERT_TRUE(bench.wait_for_messages(50));
    EXPECT_TRUE(becomes("quick", "0"));
    EXPECT_EQ(bench.session().value_of("SELECT count(*) FROM slow"), "30");
    EXPECT_TRUE(becomes("slow", "0"));
}

TEST_P(CleanupOfNumbers, MessagesThatCouldBeAnotherTablesDeleteNothing) {
    create("first");
    insert("first", 10);  // before the slot, and with the ids of the other's messages
    create("second");
    bench.set_outbox(entry("first", one_second) + entry("second", "") +
                     entry("third", std::string("message_id = 'third-{id}'\n") + one_second));
    create("third");
    bench.start();
    insert("second", 10);
    insert("third", 10);
    ASSERT_TRUE(bench.wait_for_messages(20));
    EXPECT_TRUE(becomes("third", "0"));
    EXPECT_TRUE(throughout(2s, [&] { return has("first", "10") && has("second", "10"); }));
}

TEST_P(CleanupOfNumbers, TheSecondColumnCountsWhereTheFirstIsNull) {
    bench.execute(
        "CREATE TABLE mails (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), n int, key "
        "text, event_type text DEFAULT 'made', payload text DEFAULT '{}')");
    bench.set_outbox(entry("mails", std::string("message_id = '{key|id}'\n") + one_second));
    bench.execute("INSERT INTO mails (n, key) VALUES (1, 'a'), (2, NULL)");  // before the slot
    bench.start();
    bench.execute("INSERT INTO mails (n, key) VALUES (3, 'b'), (4, NULL), (5, 'x y')");
    ASSERT_TRUE(bench.wait_for_messages(3));
    EXPECT_TRUE(becomes("mails", "2"));
    EXPECT_EQ(bench.session().value_of("SELECT string_agg(n::text, ' ' ORDER BY n) FROM mails"),
              "1 2");
}

/// A table with a partition for each of two past months, and one for now.
class CleanupOfPartitions : public e2e_test {
protected:
    void SetUp() override {
        bench.execute(R"(
CREATE TABLE outbox (id uuid NOT NULL DEFAULT gen_random_uuid(), created_at timestamptz NOT NULL,
                     event_type text NOT NULL DEFAULT 'made', payload text NOT NULL DEFAULT '{}',
                     PRIMARY KEY (id, created_at)) PARTITION BY RANGE (created_at);
CREATE TABLE "Old" PARTITION OF outbox FOR VALUES FROM ('2020-01-01') TO ('2020-02-01');
CREATE TABLE later PARTITION OF outbox FOR VALUES FROM ('2020-02-01') TO ('2020-03-01');
CREATE TABLE current PARTITION OF outbox FOR VALUES FROM ('2020-03-01') TO (MAXVALUE))");
    }
    void use(const std::string& more) {
        bench.set_outbox("[[outbox]]\ntable = 'outbox'\nsubject = '%.{event_type}'\n" + more);
    }
    void insert(const std::string& created_at, const std::string& type = "made") {
        bench.execute("INSERT INTO outbox (created_at, event_type) SELECT " +
                      as_literal(created_at) + ", " + as_literal(type) +
                      " FROM generate_series(1, 10)");
    }
    [[nodiscard]] std::string partitions() const {
        return bench.session().value_of(
            "SELECT string_agg(inhrelid::regclass::text, ' ' ORDER BY inhrelid) FROM pg_inherits "
            "WHERE inhparent = 'outbox'::regclass");
    }
};

TEST_P(CleanupOfPartitions, OnlyThoseThatAreOverAndInTheStreamAreDetached) {
    use("");
    bench.start();
    insert("2020-01-10");
    insert("2020-02-10");
    insert("2020-02-11", "");  // no subject: dead letters
    insert("2020-03-10");
    ASSERT_TRUE(bench.wait_for_messages(30));
    ASSERT_TRUE(bench.confirmed_reaches(bench.wal_end()));
    bench.stop();
    use(one_second);
    bench.start();
    ASSERT_TRUE(bench.relay().wait_for_log("detached partition public.Old", patience))
        << bench.relay().log();
    ASSERT_TRUE(bench.relay().wait_for_log("partition public.later stays", patience));
    EXPECT_EQ(partitions(), "later current");
    EXPECT_NE(bench.relay().log().find(R"(DROP TABLE "public"."Old";)"), std::string::npos);
    EXPECT_EQ(bench.session().value_of("SELECT count(*) FROM \"Old\""), "10");
    insert("2020-03-11");
    EXPECT_TRUE(bench.wait_for_messages(40));
    bench.stop();
}

TEST_P(CleanupOfPartitions, PendingRowsAndRowsOfBeforeTheSlotHoldTheirs) {
    insert("2020-01-10");
    use("");
    bench.start();
    insert("2020-02-10", "open");
    ASSERT_TRUE(bench.wait_for_messages(10));
    bench.stop();
    use(std::string(one_second) + "pending = \"event_type = 'open'\"\n");
    bench.start();
    ASSERT_TRUE(bench.relay().wait_for_log("partition public.Old stays", patience));
    ASSERT_TRUE(bench.relay().wait_for_log("partition public.later stays", patience));
    EXPECT_EQ(partitions(), "\"Old\" later current");
}

/// The ids of its rows are those of messages, and of other rows.
TEST_P(CleanupOfPartitions, MessagesOfAnotherMessageIdStandForNoRow) {
    bench.execute("ALTER TABLE outbox ADD reference uuid");
    bench.execute(
        "INSERT INTO outbox (id, created_at, reference) SELECT md5('old' || n)::uuid, "
        "'2020-01-10', gen_random_uuid() FROM generate_series(1, 10) AS n");
    use("message_id = '{reference}'\n");
    bench.start();
    bench.execute(
        "INSERT INTO outbox (created_at, reference) SELECT '2020-03-10', md5('old' || n)::uuid "
        "FROM generate_series(1, 10) AS n");
    ASSERT_TRUE(bench.confirms_messages(10));
    bench.stop();
    use(std::string(one_second) + "message_id = '{id}'\n");
    bench.start();
    ASSERT_TRUE(bench.relay().wait_for_log("partition public.Old stays", patience))
        << bench.relay().log();
    EXPECT_TRUE(bench.relay().wait_for_log("by another message_id", patience))
        << bench.relay().log();
    EXPECT_NE(partitions().find("\"Old\""), std::string::npos);
    bench.stop();
}

INSTANTIATE_TEST_SUITE_P(Plugins, CleanupOfPartitions, both_plugins(), plugin_name);

INSTANTIATE_TEST_SUITE_P(Plugins, CleanupOfNumbers, both_plugins(), plugin_name);

}  // namespace
}  // namespace walrelay::test
