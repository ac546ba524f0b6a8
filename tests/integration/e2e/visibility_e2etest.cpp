// Write-backs beside other sessions: they wait for the transaction that has written the row, and
// for no other.
#include "integration/e2e/relay_bench.hpp"
#include "support/eventually.hpp"

#include <thread>

namespace walrelay::test {
namespace {

constexpr const char* with_statuses = R"toml(
[[outbox]]
table = 'public.outbox_events'
subject = '%.{aggregate_type}.{event_type}'
pending = "status = 'pending'"
republish = { column = "status", value = "again" }
on_published = "status = 'published', published_at = now()"
on_dead_letter = "status = 'dead_letter'"
)toml";
constexpr const char* deleted_at_once =
    "[[outbox]]\ntable = 'public.outbox_events'\nsubject = '%.{aggregate_type}.{event_type}'\n"
    "delete_after = '0s'";

class Visibility : public testing::TestWithParam<const char*> {
protected:
    postgres_server postgres{{.settings = {"max_prepared_transactions = 5"}}};
    relay_bench bench{postgres, shared_nats(), GetParam()};

    /// Two transactions that go on until the test ends, as a report and as one that was forgotten.
    void begin_long_ones() {
        bench.execute("CREATE TABLE elsewhere (id int)");
        report_.execute("BEGIN; INSERT INTO elsewhere VALUES (1)");
        bench.execute("BEGIN; INSERT INTO elsewhere VALUES (2); PREPARE TRANSACTION '" +
                      bench.name() + "'");
    }
    void end_long_ones() {
        report_.execute("ROLLBACK");
        bench.execute("ROLLBACK PREPARED '" + bench.name() + "'");
    }

    std::string count(const std::string& where) {
        return bench.session().value_of("SELECT count(*) FROM outbox_events WHERE " + where);
    }
    [[nodiscard]] bool becomes(const std::string& where, const std::string& wanted) {
        return eventually(patience, [&] { return count(where) == wanted; });
    }

    /// From now on commits wait for standbys of this name. Nothing may end the test before they no
    /// longer do.
    void wait_for_standbys(const std::string& name) {
        postgres.reconfigure("synchronous_standby_names = '" + name + "'");
        EXPECT_TRUE(eventually(patience, [&] {
            return bench.session().value_of("SHOW synchronous_standby_names") == name;
        }));
    }
    [[nodiscard]] bool says(const std::string& words) {
        return eventually(patience,
                          [&] { return bench.relay().log().find(words) != std::string::npos; });
    }

private:
    postgres_session report_ = bench.session();
};

TEST_P(Visibility, DeletedRowWaitsForNoOtherTransaction) {
    bench.create_table();
    bench.set_outbox(with_statuses);
    bench.start();
    begin_long_ones();
    bench.execute("BEGIN; " + insert_events(1, 3) + "DELETE FROM outbox_events; COMMIT");
    bench.execute("BEGIN; " + insert_events(4, 6) +
                  "UPDATE outbox_events SET status = 'seen'; COMMIT");
    bench.execute(insert_events(7, 100));
    EXPECT_TRUE(becomes("status = 'published'", "94")) << bench.relay().log();
    EXPECT_TRUE(bench.confirmed_reaches(bench.wal_end())) << bench.relay().log();
    EXPECT_EQ(count("status = 'seen'"), "3");
    bench.stop();
    end_long_ones();
    EXPECT_TRUE(exactly_once_in_order(event_ids(1, 100), bench.events()));
}

TEST_P(Visibility, RowsThatWereDeletedBeforeARestartWaitForNoOtherTransaction) {
    bench.create_table();
    bench.set_outbox(deleted_at_once);
    bench.set_delivery("confirm_delay = '1h'");
    bench.start();
    bench.execute(insert_events(1, 50));
    ASSERT_TRUE(becomes("true", "0"));
    bench.kill_9();
    begin_long_ones();
    bench.set_delivery("");
    bench.start();
    EXPECT_TRUE(bench.confirmed_reaches(bench.wal_end())) << bench.relay().log();
    bench.stop();
    end_long_ones();
    EXPECT_TRUE(exactly_once_in_order(event_ids(1, 50), bench.events()));
}

TEST_P(Visibility, DeadLetterOfADeletedRowWaitsForNoOtherTransaction) {
    bench.create_table();
    bench.set_outbox(with_statuses);
    bench.start();
    begin_long_ones();
    bench.execute(
        "BEGIN; INSERT INTO outbox_events (id, aggregate_type, aggregate_id, event_type, "
        "event_data, metadata, status, version, created_at) VALUES (gen_random_uuid(), '', 'a', "
        "'e', '{}', '{}', 'pending', 7, now()); DELETE FROM outbox_events; COMMIT");
    bench.execute(insert_events(1, 10));
    EXPECT_TRUE(becomes("status = 'published'", "10")) << bench.relay().log();
    EXPECT_TRUE(bench.confirmed_reaches(bench.wal_end())) << bench.relay().log();
    EXPECT_EQ(bench.session().value_of("SELECT count(*) FROM walrelay.dead_letter"), "1");
    bench.stop();
    end_long_ones();
}

/// The commit is in the WAL, and its session waits for a standby that does not come: the rows are
/// published, and cannot be seen.
TEST_P(Visibility, RowsOfACommitThatWaitsForAStandbyAreWrittenBackWhenTheyAreSeen) {
    bench.create_table();
    bench.set_outbox(with_statuses);
    bench.start();
    bench.execute(insert_events(1, 1));
    EXPECT_TRUE(becomes("status = 'published'", "1"));
    wait_for_standbys("nobody");
    std::jthread waiting([&] { bench.execute(insert_events(2, 5)); });
    EXPECT_TRUE(bench.wait_for_messages(5));
    EXPECT_TRUE(says("are not visible after 5 s")) << bench.relay().log();
    EXPECT_EQ(count("status = 'published'"), "1");
    wait_for_standbys("");
    EXPECT_TRUE(becomes("status = 'published'", "5")) << bench.relay().log();
    EXPECT_TRUE(bench.confirmed_reaches(bench.wal_end())) << bench.relay().log();
    bench.stop();
    EXPECT_TRUE(exactly_once_in_order(event_ids(1, 5), bench.events()));
}

/// What the WAL leaves out of the UPDATE is in a row that nobody sees yet.
TEST_P(Visibility, RowThatIsPublishedAgainByTheTransactionThatInsertsItIsNoDeadLetter) {
    bench.create_table();
    bench.set_outbox(with_statuses);
    bench.start();
    wait_for_standbys("nobody");
    std::jthread waiting([&] {
        bench.execute("BEGIN; " + insert_events(1, 1) +
                      "UPDATE outbox_events SET event_data = jsonb_build_object('large', (SELECT "
                      "string_agg(gen_random_uuid()::text, '') FROM generate_series(1, 500))); "
                      "UPDATE outbox_events SET status = 'again'; COMMIT");
    });
    EXPECT_TRUE(says("are not visible after 5 s")) << bench.relay().log();
    wait_for_standbys("");
    EXPECT_TRUE(bench.wait_for_messages(2)) << bench.relay().log();
    EXPECT_TRUE(bench.confirmed_reaches(bench.wal_end())) << bench.relay().log();
    EXPECT_EQ(bench.relay().log().find("set aside"), std::string::npos) << bench.relay().log();
    bench.stop();
}

TEST_P(Visibility, ARetryThatFailsBeforeItsCommitIsSeenIsTheLetterAgain) {
    bench.create_table();
    bench.set_outbox("[[outbox]]\ntable = 'public.outbox_events'\nsubject = '%.{aggregate_type}'");
    bench.start();
    bench.execute(
        "INSERT INTO outbox_events (id, aggregate_type, aggregate_id, event_type, event_data, "
        "metadata, status, version, created_at) VALUES (gen_random_uuid(), '', 'a', 'e', '{}', "
        "'{}', 'pending', 7, now())");
    ASSERT_TRUE(says("is set aside in walrelay.dead_letter"));
    wait_for_standbys("nobody");
    auto retry = bench.begin({"dead-letter", "retry", "1"});
    EXPECT_TRUE(eventually(patience, [&] {
        return bench.session().value_of(
                   "SELECT count(*) FROM pg_stat_activity "
                   "WHERE (wait_event = 'SyncRep' OR wait_event_type = 'Lock') "
                   "AND (query LIKE '%INTO walrelay.dead_letter%' "
                   "OR query LIKE '%FROM walrelay.dead_letter%FOR UPDATE%')") == "1";
    })) << "the relay has it";
    wait_for_standbys("");
    EXPECT_EQ(retry.process().wait_exit(patience), 0) << retry.log();
    EXPECT_TRUE(says("the retry of dead letter 1")) << bench.relay().log();
    const auto letters = [&](const std::string& sql) {
        return bench.session().value_of("SELECT " + sql);
    };
    EXPECT_EQ(letters("retry_fate FROM walrelay.dead_letter WHERE id = 1"), "failed");
    EXPECT_EQ(letters("count(*) FROM walrelay.dead_letter WHERE retries >= 0"), "1");
    EXPECT_TRUE(bench.confirmed_reaches(bench.wal_end())) << bench.relay().log();
    bench.stop();
}

INSTANTIATE_TEST_SUITE_P(Plugins, Visibility, both_plugins(), plugin_name);

}  // namespace
}  // namespace walrelay::test
