// walrelay verify: what it finds between a real table and a real stream, and what it leaves alone.
#include "integration/e2e/relay_bench.hpp"
#include "support/eventually.hpp"

namespace walrelay::test {
namespace {

class Verify : public e2e_test {
protected:
    /// Ten rows in the stream, and the relay running.
    void relay_ten_rows() {
        bench.create_table();
        bench.start();
        bench.execute(insert_events(1, 10));
        ASSERT_TRUE(bench.wait_for_messages(10));
    }

    finished_run verify(std::vector<std::string> words = {}) {
        words.insert(words.begin(), "verify");
        return bench.command(words);
    }

    /// Of the JSON report: the text at a path such as "findings,missing,count".
    std::string json_at(const finished_run& run, const std::string& path) {
        return *bench.session().query("SELECT $1::jsonb #>> $2::text[]",
                                      {run.output, "{" + path + "}"})[0][0];
    }

    /// Exit code 1, and nothing but `count` findings of this kind.
    void expect_only(const std::string& kind, const std::string& count) {
        const auto found = verify({"--json"});
        EXPECT_EQ(found.exit_code, 1) << found.output << found.errors;
        for (const std::string each :
             {"missing", "undelivered", "twice", "out_of_order", "foreign", "orphaned"}) {
            EXPECT_EQ(json_at(found, "findings," + each + ",count"), each == kind ? count : "0")
                << found.output;
        }
    }

    stored_message message(std::size_t index) { return bench.messages().at(index); }

    std::string position_of(std::size_t index) {
        return message(index).header("Walrelay-Position");
    }

    std::uint64_t publish(const std::string& id, const std::string& position) {
        return bench.broker().publish(bench.name() + ".order.placed", "{}",
                                      {{"Nats-Msg-Id", id}, {"Walrelay-Position", position}});
    }

    /// A position of the database's history, with the LSN as 16 digits.
    std::string position_at(const std::string& digits, const std::string& ordinal) {
        const auto some = position_of(0);
        const auto timeline = some.find('.');
        return some.substr(0, some.find('.', timeline + 1)) + "." + digits + "." + ordinal;
    }
    /// One that is behind all others, within the WAL.
    std::string last_position(const std::string& ordinal) {
        if (last_place_.empty()) {
            last_place_ = bench.session().value_of(
                "SELECT lpad(split_part(l, '/', 1), 8, '0') || lpad(split_part(l, '/', 2), 8, '0') "
                "FROM cast(pg_current_wal_flush_lsn() AS text) AS l");
            bench.execute("CREATE TABLE moves_the_end_of_the_wal ()");
        }
        return position_at(last_place_, ordinal);
    }

private:
    std::string last_place_;
};

TEST_P(Verify, FindsNothingWhereEveryRowIsInTheStreamOnce) {
    relay_ten_rows();
    const auto clean = verify();
    EXPECT_EQ(clean.exit_code, 0) << clean.output << clean.errors;
    EXPECT_NE(clean.output.find("10 rows with 10 messages"), std::string::npos) << clean.output;
    const auto json = verify({"--json"});
    EXPECT_EQ(json.exit_code, 0) << json.output << json.errors;
    EXPECT_EQ(json_at(json, "clean"), "true");
    EXPECT_EQ(json_at(json, "rows"), "10");
    EXPECT_EQ(json_at(json, "messages"), "10");
}

TEST_P(Verify, FindsRowsAndMessagesWhileBothGrow) {
    relay_ten_rows();
    bench.execute(insert_events(11, 5000));
    const auto clean = verify();
    EXPECT_EQ(clean.exit_code, 0) << clean.output << clean.errors;
    EXPECT_NE(clean.output.find("5000 rows"), std::string::npos) << clean.output;
}

TEST_P(Verify, NamesARowWhoseMessageIsGone) {
    relay_ten_rows();
    bench.broker().delete_message(bench.stream_name(), 4);
    const auto found = verify();
    EXPECT_EQ(found.exit_code, 1) << found.output << found.errors;
    EXPECT_NE(found.output.find("missing      1 "), std::string::npos) << found.output;
    EXPECT_NE(found.output.find("table public.outbox_events, id " + event_id(4)), std::string::npos)
        << found.output;
    expect_only("missing", "1");
}

TEST_P(Verify, DoesNotCallARowMissingThatTheSlotStillHas) {
    relay_ten_rows();
    bench.stop();
    bench.execute(insert_events(11, 13));
    const auto found = verify();
    EXPECT_EQ(found.exit_code, 1) << found.output << found.errors;
    EXPECT_NE(found.output.find("undelivered  3 "), std::string::npos) << found.output;
    EXPECT_NE(found.output.find("start walrelay run, then verify again"), std::string::npos)
        << found.output;
    bench.start();
    EXPECT_TRUE(bench.wait_for_messages(13));
    EXPECT_EQ(verify().exit_code, 0);
}

TEST_P(Verify, FindsAMessageThatIsThereTwice) {
    bench.broker().create({.name = bench.stream_name(),
                           .subjects = {bench.name() + ".>"},
                           .duplicate_window = std::chrono::milliseconds(100)});
    relay_ten_rows();
    bench.stop();
    const auto position = last_position("0");
    ASSERT_TRUE(eventually(patience, [&] { return publish(event_id(7), position) == 11; }));
    expect_only("twice", "1");
    EXPECT_NE(verify().output.find("id " + event_id(7) + ", sequence 11"), std::string::npos);
}

TEST_P(Verify, FindsAMessageThatAStrangerWrote) {
    relay_ten_rows();
    bench.stop();
    (void)bench.broker().publish(bench.name() + ".order.placed", "{}", {{"Nats-Msg-Id", "x"}});
    expect_only("foreign", "1");
}

TEST_P(Verify, FindsAMessageThatStandsBehindALaterOne) {
    relay_ten_rows();
    bench.stop();
    (void)publish("later", last_position("2"));
    (void)publish("earlier", last_position("1"));
    expect_only("out_of_order", "1");
    EXPECT_NE(verify().output.find("id earlier, sequence 12"), std::string::npos);
}

TEST_P(Verify, FindsMessagesThatTheDatabaseNeverHadAsOrphans) {
    relay_ten_rows();
    bench.stop();
    (void)publish("orphan", position_at("00FFFFFFFFFFFFFF", "0"));
    (void)publish("another", position_at("00FFFFFFFFFFFFFF", "1"));
    expect_only("orphaned", "2");
    const auto text = verify().output;
    EXPECT_NE(
        text.find("orphaned     2 messages are of a history that this database does not have: "
                  "sequences 11 to 12"),
        std::string::npos)
        << text;
    EXPECT_EQ(json_at(verify({"--json"}), "last_orphan"), "12");
}

TEST_P(Verify, CountsADeadLetterAsDelivered) {
    relay_ten_rows();
    const auto made = bench.command({"init"});
    ASSERT_EQ(made.exit_code, 0) << made.errors;
    bench.execute(
        "INSERT INTO walrelay.dead_letter (position, source_schema, source_table, message_id,"
        " headers, reason, error_code, attempts, committed_at) VALUES ('1.1.0000000000000001.0',"
        " 'public', 'outbox_events', " +
        as_literal(event_id(4)) + ", '{}', 'too large', 0, 0, now())");
    bench.broker().delete_message(bench.stream_name(), 4);
    const auto clean = verify({"--json"});
    EXPECT_EQ(clean.exit_code, 0) << clean.output << clean.errors;
    EXPECT_EQ(json_at(clean, "dead_lettered"), "1");
}

TEST_P(Verify, TakesARowThatWasPublishedAgainForNoDuplicate) {
    relay_ten_rows();
    bench.stop();
    (void)publish(event_id(3) + ";replay-1", last_position("0"));
    const auto clean = verify({"--json"});
    EXPECT_EQ(clean.exit_code, 0) << clean.output << clean.errors;
    EXPECT_EQ(json_at(clean, "republished"), "1");
    bench.broker().delete_message(bench.stream_name(), 3);
    EXPECT_EQ(verify().exit_code, 0);
}

TEST_P(Verify, OnlyCountsMessagesWhoseRowWasDeleted) {
    relay_ten_rows();
    bench.execute("DELETE FROM outbox_events WHERE version <= 6");
    const auto clean = verify({"--json"});
    EXPECT_EQ(clean.exit_code, 0) << clean.output << clean.errors;
    EXPECT_EQ(json_at(clean, "without_row"), "6");
}

TEST_P(Verify, LeavesOutTheRowsThatNobodyAsksFor) {
    bench.create_table();
    bench.execute(insert_events(1, 5));
    bench.start();
    bench.execute(insert_events(6, 10));
    ASSERT_TRUE(bench.wait_for_messages(5));
    expect_only("missing", "5");
    EXPECT_EQ(verify({"--where", "version > 5"}).exit_code, 0);
}

TEST_P(Verify, CountsAMessageOfAPollerWithARowsIdAsThatRow) {
    bench.create_table();
    bench.broker().create({.name = bench.stream_name(), .subjects = {bench.name() + ".>"}});
    bench.execute(insert_events(1, 5));
    for (std::uint64_t number = 1; number <= 5; ++number) {
        (void)bench.broker().publish(bench.name() + ".order.placed", "{}",
                                     {{"Nats-Msg-Id", event_id(number)}});
    }
    bench.start();
    bench.execute(insert_events(6, 10));
    ASSERT_TRUE(bench.wait_for_messages(10));
    const auto clean = verify({"--json"});
    EXPECT_EQ(clean.exit_code, 0) << clean.output << clean.errors;
    EXPECT_EQ(json_at(clean, "by_others"), "5");
    const auto text = verify().output;
    EXPECT_NE(text.find("5 messages with the Nats-Msg-Id of a row were not written by walrelay"),
              std::string::npos)
        << text;
}

/// A transaction of the test itself, whose number the server knows by the savepoint it is in.
class open_transaction {
public:
    open_transaction(const relay_bench& bench, std::uint64_t number) : session_(bench.session()) {
        session_.execute("BEGIN; SAVEPOINT nested; " + insert_events(number, number) +
                         "; RELEASE nested");
        xid_ = session_.value_of("SELECT pg_current_xact_id()::xid");
    }
    [[nodiscard]] const std::string& xid() const { return xid_; }
    void commit() { session_.execute("COMMIT"); }
    void roll_back() { session_.execute("ROLLBACK"); }

private:
    postgres_session session_;
    std::string xid_;
};

/// The making of the slot. The probe of the plugin waits as well, but through another connection.
bool waits_for(const relay_bench& bench, const open_transaction& one) {
    auto watch = bench.session();
    return eventually(patience, [&] {
        return !watch
                    .query(
                        "SELECT FROM pg_locks JOIN pg_stat_replication USING (pid)"
                        " WHERE NOT granted AND transactionid = $1::xid",
                        {one.xid()})
                    .empty();
    });
}

/// The snapshot of such a slot has a greater xmin than xmax.
TEST_P(Verify, SinceSlotIsKnownBehindTransactionsThatWereRolledBack) {
    bench.create_table();
    open_transaction first(bench, 1);
    bench.launch();
    ASSERT_TRUE(waits_for(bench, first));
    open_transaction second(bench, 2);
    second.roll_back();
    first.roll_back();
    ASSERT_TRUE(bench.relay().wait_for_log("streaming from slot", patience)) << bench.relay().log();
    EXPECT_EQ(bench.session().value_of("SELECT count(*) FROM walrelay.slot_start"), "1")
        << bench.relay().log();
    bench.execute(insert_events(3, 3));
    ASSERT_TRUE(bench.wait_for_messages(1));
    EXPECT_EQ(verify({"--since-slot"}).exit_code, 0);
    bench.stop();
}

TEST_P(Verify, SinceSlotLeavesOutExactlyWhatWasThereBefore) {
    bench.create_table();
    bench.broker().create({.name = bench.stream_name(), .subjects = {bench.name() + ".>"}});
    bench.execute(insert_events(1, 5));
    (void)bench.broker().publish(bench.name() + ".order.placed", "{}",
                                 {{"Nats-Msg-Id", "of a row that was deleted"}});
    // Making a slot waits twice for all transactions that run: what begins in between and ends
    // later is the first that it brings.
    open_transaction first(bench, 6);
    bench.launch();
    ASSERT_TRUE(waits_for(bench, first));
    open_transaction second(bench, 7);
    first.commit();
    ASSERT_TRUE(waits_for(bench, second));
    open_transaction third(bench, 8);
    second.commit();
    ASSERT_TRUE(eventually(patience, [&] { return bench.streaming(); })) << bench.relay().log();
    bench.execute(insert_events(9, 10));
    third.commit();
    ASSERT_TRUE(bench.wait_for_messages(4)) << "the poller's, 8, 9 and 10";

    const auto all = verify({"--json"});
    EXPECT_EQ(all.exit_code, 1) << all.output << all.errors;
    EXPECT_EQ(json_at(all, "findings,missing,count"), "7");
    EXPECT_EQ(json_at(all, "findings,foreign,count"), "1");
    const auto since = verify({"--json", "--since-slot"});
    EXPECT_EQ(since.exit_code, 0) << since.output << since.errors;
    EXPECT_EQ(json_at(since, "rows"), "3");
    EXPECT_EQ(json_at(since, "earlier"), "1");
    const auto some = verify({"--json", "--since-slot", "--where", "version <> 9"});
    EXPECT_EQ(json_at(some, "rows"), "2");

    for (const auto& each : bench.broker().read(bench.stream_name())) {
        if (each.header("Nats-Msg-Id") == event_id(8)) {
            bench.broker().delete_message(bench.stream_name(), each.sequence);
        }
    }
    const auto missing = verify({"--since-slot"});
    EXPECT_EQ(missing.exit_code, 1);
    EXPECT_NE(missing.output.find("missing      1 "), std::string::npos) << missing.output;
    EXPECT_NE(missing.output.find(event_id(8)), std::string::npos) << missing.output;
}

/// Rows from before the slot were published with it where they were still to be sent.
TEST_P(Verify, ExpectsTheRowsThatASnapshotOfPendingOnesHasPublished) {
    bench.create_table();
    bench.execute(insert_events(1, 3));
    bench.execute("UPDATE outbox_events SET status = 'published' WHERE version = 1");
    bench.set_postgres("snapshot = 'pending'");
    bench.set_outbox(
        "[[outbox]]\ntable = 'public.outbox_events'\nsubject = '%.all'\n"
        "pending = \"status = 'pending'\"");
    bench.start();
    ASSERT_TRUE(bench.wait_for_messages(2));
    EXPECT_EQ(verify({"--since-slot"}).exit_code, 0);
    bench.broker().delete_message(bench.stream_name(), 1);
    const auto missing = verify({"--since-slot"});
    EXPECT_EQ(missing.exit_code, 1);
    EXPECT_NE(missing.output.find("missing      1 "), std::string::npos) << missing.output;
}

TEST_P(Verify, SaysWhereItIsNotKnownWhatWasThereBeforeTheSlot) {
    relay_ten_rows();
    bench.execute("DELETE FROM walrelay.slot_start");
    const auto refused = verify({"--since-slot"});
    EXPECT_EQ(refused.exit_code, 3) << refused.output;
    EXPECT_NE(refused.errors.find("walrelay verify --where"), std::string::npos) << refused.errors;
}

TEST_P(Verify, MakesIdsAsTheRelayMakesThem) {
    bench.set_outbox(R"(
[[outbox]]
table = "public.odd"
subject = "%.x"
message_id = "{raw}/{at}/{amount}/{note}/{flag}"
body = "payload"
)");
    bench.execute(
        "CREATE TABLE odd (raw bytea, at timestamptz, amount float8, note text, flag bool,"
        " payload text)");
    bench.start();
    bench.execute(
        "INSERT INTO odd VALUES ('\\x00ff', '2024-02-29 12:00:00.5+05', 0.1, E' Nats-\\n% ', true,"
        " 'x'), ('\\x01', 'infinity', 1e300, U&'a;b\\00e4', false, 'y')");
    ASSERT_TRUE(bench.wait_for_messages(2));
    const auto clean = verify({"--json"});
    EXPECT_EQ(clean.exit_code, 0) << clean.output << clean.errors;
    EXPECT_EQ(json_at(clean, "without_row"), "0");
}

TEST_P(Verify, RefusesAStreamThatForgetsWhatWasConsumed) {
    bench.create_table();
    bench.broker().create({.name = bench.stream_name(),
                           .subjects = {bench.name() + ".>"},
                           .keeps = retention::work_queue});
    const auto refused = verify();
    EXPECT_EQ(refused.exit_code, 3) << refused.output << refused.errors;
    EXPECT_NE(refused.errors.find("limits retention"), std::string::npos) << refused.errors;
}

TEST_P(Verify, LeavesNoConsumerBehind) {
    relay_ten_rows();
    ASSERT_EQ(verify().exit_code, 0);
    EXPECT_EQ(bench.broker().state(bench.stream_name())->consumers, 0);
}

INSTANTIATE_TEST_SUITE_P(, Verify, both_plugins(), plugin_name);

}  // namespace
}  // namespace walrelay::test
