// Rows whose status is written back after the ack: on_published, delete_after = "0s",
// on_dead_letter.
#include "integration/e2e/relay_bench.hpp"
#include "support/eventually.hpp"

namespace walrelay::test {
namespace {

constexpr const char* with_statuses = R"toml(
[[outbox]]
table = 'public.outbox_events'
subject = '%.{aggregate_type}.{event_type}'
pending = "status = 'pending'"
on_published = "status = 'published', published_at = now(), version = version + 1000"
on_dead_letter = "status = 'dead_letter', last_error = {error}, retry_count = {attempts} + 3"
)toml";

class WriteBack : public e2e_test {
protected:
    std::string value(const std::string& sql) { return bench.session().value_of(sql); }
    std::string count(const std::string& where) {
        return value("SELECT count(*) FROM outbox_events WHERE " + where);
    }
    [[nodiscard]] bool becomes(const std::string& where, const std::string& wanted) {
        return eventually(patience, [&] { return count(where) == wanted; });
    }

    /// An UPDATE waits while somebody holds the advisory lock 1.
    void make_holder() {
        bench.execute(
            "CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql AS "
            "$$ BEGIN PERFORM pg_advisory_xact_lock_shared(1); RETURN NULL; END $$;"
            "CREATE TRIGGER hold BEFORE UPDATE ON outbox_events EXECUTE FUNCTION hold()");
    }

    /// A row of which no subject can be made.
    void insert_poison() {
        bench.execute(
            "INSERT INTO outbox_events (id, aggregate_type, aggregate_id, event_type, event_data, "
            "status, version, created_at) VALUES ('00000000-0000-0000-0000-00000000dead', '', 'a', "
            "'e', '{}', 'pending', 7, now())");
    }
};

TEST_P(WriteBack, StatusFollowsTheAck) {
    bench.create_table();
    bench.set_outbox(with_statuses);
    bench.start();
    bench.execute(insert_events(1, 2500));
    ASSERT_TRUE(becomes("status = 'published' AND published_at IS NOT NULL", "2500"));
    ASSERT_TRUE(bench.confirmed_reaches(bench.wal_end()));
    bench.stop();
    EXPECT_TRUE(exactly_once_in_order(event_ids(1, 2500), bench.events()));
    EXPECT_EQ(count("version > 4000"), "0") << "a row was written back twice";
    EXPECT_EQ(bench.relay().log().find("warning"), std::string::npos) << bench.relay().log();
}

TEST_P(WriteBack, KillBetweenAckAndWriteBackLeavesNoPendingRow) {
    bench.create_table();
    make_holder();
    bench.set_outbox(with_statuses);
    bench.start();
    bench.execute(insert_events(1, 50));
    ASSERT_TRUE(becomes("status = 'published'", "50"));
    auto holder = bench.session();
    holder.execute("SELECT pg_advisory_lock(1)");
    bench.execute(insert_events(51, 100));
    ASSERT_TRUE(bench.wait_for_messages(100));
    bench.kill_9();
    EXPECT_EQ(count("status = 'published'"), "50");
    // The statement of the killed relay is not to run after all.
    bench.execute(
        "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity "
        "WHERE query LIKE 'UPDATE%' AND datname = current_database()");
    holder.execute("SELECT pg_advisory_unlock(1)");
    bench.start();
    ASSERT_TRUE(becomes("status = 'published'", "100"));
    ASSERT_TRUE(bench.confirmed_reaches(bench.wal_end()));
    bench.stop();
    EXPECT_EQ(count("version > 2000"), "0") << "a row was written back twice";
    EXPECT_TRUE(exactly_once_in_order(event_ids(1, 100), bench.events()));
}

TEST_P(WriteBack, RestartGoesOnHoweverManyRowsTheSlotSendsAgain) {
    // More than may wait to be written back at once: write_backs::awaited_rows.
    constexpr std::uint64_t rows = 17000;
    bench.create_table();
    bench.set_outbox(with_statuses);
    bench.set_delivery("confirm_delay = '1h'");
    bench.start();
    bench.execute(insert_events(1, rows));
    ASSERT_TRUE(becomes("status = 'published'", std::to_string(rows)));
    bench.kill_9();
    bench.start();
    bench.execute(insert_events(rows + 1, rows + 1));
    ASSERT_TRUE(bench.wait_for_messages(rows + 1));
    ASSERT_TRUE(becomes("status = 'published'", std::to_string(rows + 1)));
    bench.stop();
    EXPECT_TRUE(exactly_once_in_order(event_ids(1, rows + 1), bench.events()));
}

TEST_P(WriteBack, SlotIsNotMovedBeforeTheWriteBack) {
    bench.create_table();
    make_holder();
    bench.set_outbox(with_statuses);
    bench.start();
    auto holder = bench.session();
    holder.execute("SELECT pg_advisory_lock(1)");
    bench.execute(insert_events(1, 3));
    const auto behind = bench.wal_end();
    ASSERT_TRUE(bench.wait_for_messages(3));
    // A stop waits for the write-back in vain, and the slot stays where it was.
    ASSERT_EQ(bench.relay().stop(patience), 0);
    EXPECT_NE(bench.relay().log().find("3 rows not written back"), std::string::npos)
        << bench.relay().log();
    EXPECT_EQ(bench.slot("confirmed_flush_lsn < " + as_literal(behind) + "::pg_lsn"), "t");
    holder.execute("SELECT pg_advisory_unlock(1)");
    bench.start();
    ASSERT_TRUE(becomes("status = 'published'", "3"));
    ASSERT_TRUE(bench.confirmed_reaches(behind));
    bench.stop();
}

TEST_P(WriteBack, SaysWhoKeepsTheRowsWaiting) {
    const auto times = [&](const std::string& part) {
        const auto log = bench.relay().log();
        int count = 0;
        for (auto at = log.find(part); at != std::string::npos; at = log.find(part, at + 1)) {
            ++count;
        }
        return count;
    };
    bench.create_table();
    make_holder();
    bench.set_outbox(with_statuses);
    bench.start();
    auto holder = bench.session();
    holder.execute("SET application_name = 'a report'; SELECT pg_advisory_lock(1)");
    const auto process = holder.value_of("SELECT pg_backend_pid()");
    bench.execute(insert_events(1, 3));
    ASSERT_TRUE(eventually(patience, [&] { return times("no answer from PostgreSQL") == 1; }));
    EXPECT_EQ(times("of table public.outbox_events not written back"), 1) << bench.relay().log();
    EXPECT_EQ(times("process " + process + " of role"), 1) << bench.relay().log();
    EXPECT_EQ(times("(a report), idle"), 1) << bench.relay().log();
    holder.execute("SELECT pg_advisory_unlock(1)");
    ASSERT_TRUE(becomes("status = 'published'", "3"));
    ASSERT_TRUE(eventually(patience, [&] { return times("are written back again") == 1; }));
    EXPECT_EQ(times("no answer from PostgreSQL"), 1) << bench.relay().log();
    bench.stop();
}

TEST_P(WriteBack, WhatAConsumerHasWrittenStays) {
    bench.create_table();
    bench.set_outbox(with_statuses);
    bench.start();
    bench.execute("BEGIN; " + insert_events(1, 1) +
                  "UPDATE outbox_events SET status = 'done'; COMMIT");
    bench.execute(insert_events(2, 2));
    ASSERT_TRUE(becomes("status = 'published'", "1"));
    EXPECT_EQ(count("status = 'done' AND published_at IS NULL"), "1");
    bench.stop();
}

TEST_P(WriteBack, DeletesAtOnce) {
    bench.create_table();
    bench.set_outbox(
        "[[outbox]]\ntable = 'public.outbox_events'\n"
        "subject = '%.{aggregate_type}.{event_type}'\ndelete_after = '0s'");
    bench.start();
    bench.execute(insert_events(1, 1500));
    insert_poison();
    ASSERT_TRUE(becomes("aggregate_type <> ''", "0"));
    ASSERT_TRUE(bench.confirmed_reaches(bench.wal_end()));
    bench.stop();
    EXPECT_TRUE(exactly_once_in_order(event_ids(1, 1500), bench.events()));
    EXPECT_EQ(count("true"), "1") << "a dead letter is kept";
}

TEST_P(WriteBack, DeadLetterIsNeitherDeletedNorPublishedWhenItIsReadAgain) {
    bench.create_table();
    bench.set_outbox(
        "[[outbox]]\ntable = 'public.outbox_events'\n"
        "subject = '%.{aggregate_type}.{event_type}'\ndelete_after = '0s'");
    bench.set_delivery("confirm_delay = '1h'");
    bench.start();
    insert_poison();
    bench.execute(insert_events(1, 1));
    ASSERT_TRUE(becomes("aggregate_type <> ''", "0"));
    bench.kill_9();
    bench.set_delivery("");
    bench.start();
    ASSERT_TRUE(bench.confirmed_reaches(bench.wal_end()));
    bench.stop();
    EXPECT_EQ(count("true"), "1");
}

TEST_P(WriteBack, DeadLettersSaySoInTheirRowsWhereTheyComeTogether) {
    bench.create_table();
    bench.execute("ALTER TABLE outbox_events ALTER last_error TYPE varchar(40)");
    bench.set_outbox(with_statuses);
    bench.start();
    bench.execute(
        "INSERT INTO outbox_events (id, aggregate_type, aggregate_id, event_type, event_data, "
        "status, version, created_at) SELECT gen_random_uuid(), '', 'a', 'e', '{}', 'pending', 7, "
        "now() FROM generate_series(1, 200)");
    ASSERT_TRUE(becomes("status = 'dead_letter' AND retry_count = 3", "200"));
    EXPECT_EQ(value("SELECT count(*) FROM walrelay.dead_letter"), "200");
    ASSERT_TRUE(bench.confirmed_reaches(bench.wal_end()));
    bench.stop();
}

TEST_P(WriteBack, DeadLetterSaysSoInItsRow) {
    bench.create_table();
    bench.execute("ALTER TABLE outbox_events ALTER last_error TYPE varchar(40)");
    bench.set_outbox(with_statuses);
    bench.start();
    insert_poison();
    ASSERT_TRUE(becomes("status = 'dead_letter' AND retry_count = 3", "1"));
    EXPECT_TRUE(value("SELECT last_error FROM outbox_events").starts_with("table public.outbox"));
    EXPECT_EQ(value("SELECT count(*) FROM walrelay.dead_letter"), "1");

    // Mended and retried, it is published like every other row.
    bench.execute(
        "UPDATE walrelay.dead_letter SET event = replace(event::text, '\"name\":\"aggregate_"
        "type\",\"type\":1043,\"value\":\"\"', '\"name\":\"aggregate_type\",\"type\":1043,"
        "\"value\":\"order\"')::json");
    ASSERT_EQ(bench.command({"dead-letter", "retry", "--all"}).exit_code, 0);
    ASSERT_TRUE(becomes("status = 'published'", "1"));
    bench.stop();
}

TEST_P(WriteBack, RefusedStatementHalts) {
    bench.create_table();
    bench.set_outbox(with_statuses);
    bench.start();
    bench.execute(
        "ALTER TABLE outbox_events ADD CONSTRAINT never CHECK (status <> 'published') NOT VALID");
    bench.execute(insert_events(1, 1));
    const auto code = bench.relay().process().wait_exit(patience);
    ASSERT_EQ(code, 3) << bench.relay().log();
    const auto log = bench.relay().log();
    for (const auto* part : {"outbox.on_published of table public.outbox_events", "UPDATE", "never",
                             "walrelay check"}) {
        EXPECT_NE(log.find(part), std::string::npos) << part << "\n" << log;
    }
    bench.execute("ALTER TABLE outbox_events DROP CONSTRAINT never");
    bench.start();
    ASSERT_TRUE(becomes("status = 'published'", "1"));
    bench.stop();
    EXPECT_TRUE(exactly_once_in_order(event_ids(1, 1), bench.events()));
}

TEST_P(WriteBack, CheckTriesTheStatements) {
    bench.create_table();
    bench.set_outbox(R"toml(
[[outbox]]
table = 'public.outbox_events'
subject = '%.x'
on_published = "status = 'published', publishd_at = now()"
on_dead_letter = "last_error = {error}, retry_count = {attempts}"
)toml");
    const auto looked = bench.command({"check"});
    EXPECT_EQ(looked.exit_code, 1);
    EXPECT_NE(looked.output.find("outbox.on_published of table public.outbox_events"),
              std::string::npos)
        << looked.output;
    EXPECT_NE(looked.output.find("publishd_at"), std::string::npos) << looked.output;
    EXPECT_EQ(looked.output.find("outbox.on_dead_letter"), std::string::npos) << looked.output;
}

INSTANTIATE_TEST_SUITE_P(Plugins, WriteBack, both_plugins(), plugin_name);

}  // namespace
}  // namespace walrelay::test
