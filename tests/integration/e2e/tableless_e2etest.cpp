// Events that writers put into the WAL alone, with pg_logical_emit_message: no table at all.
#include "integration/e2e/relay_bench.hpp"
#include "support/eventually.hpp"

namespace walrelay::test {
namespace {

class Tableless : public e2e_test {
protected:
    Tableless() {
        bench.set_outbox(
            "[[outbox]]\nmessage_prefix = \"orders\"\n"
            "subject = \"%.{aggregate_type}.{event_type}\"\n"
            "headers = { \"Correlation-Id\" = \"{correlation_id}\" }\n");
    }

    void emit(const std::string& content, const std::string& prefix = "orders") {
        (void)writer_.query("SELECT pg_logical_emit_message(true, $1, $2)", {prefix, content});
    }
    void emit_event(const std::string& id, const std::string& data = "{}") {
        emit(R"({"id":")" + id +
             R"(","aggregate_type":"user","event_type":"user.created","event_data":)" + data + "}");
    }
    std::string letters(const std::string& what) {
        return writer_.value_of("SELECT coalesce(string_agg(" + what +
                                ", ' | ' ORDER BY id), '') FROM walrelay.dead_letter");
    }
    void expect_ids(const std::vector<std::string>& wanted) {
        ASSERT_TRUE(bench.wait_for_messages(wanted.size()));
        std::vector<std::string> found;
        for (const auto& each : bench.messages()) {
            found.push_back(each.header("Nats-Msg-Id"));
        }
        EXPECT_EQ(found, wanted);
    }

    postgres_session writer_ = bench.session();
};

TEST_P(Tableless, EventsAreRelayedInTheOrderOfCommit) {
    bench.start();
    emit_event("a", R"({ "b" : 1,  "a":[ 1e2 ] })");
    writer_.execute("BEGIN");
    emit_event("b");
    emit(R"({"id":"other"})", "nobody");
    emit(R"({"id":7,"aggregate_type":"user","event_type":"x","correlation_id":"c-1"})");
    writer_.execute("COMMIT");
    writer_.execute("BEGIN");
    emit_event("undone");
    writer_.execute("ROLLBACK");
    expect_ids({"a", "b", "7"});
    const auto sent = bench.messages();
    EXPECT_EQ(sent[0].subject, bench.name() + ".user.user.created");
    EXPECT_EQ(sent[0].body, R"({"id":"a","aggregate_type":"user","event_type":"user.created",)"
                            R"("event_data":{ "b" : 1,  "a":[ 1e2 ] }})");
    EXPECT_EQ(sent[0].header("Correlation-Id"), "");
    EXPECT_EQ(sent[2].header("Correlation-Id"), "c-1");
    bench.stop();
}

TEST_P(Tableless, NothingIsTwiceAfterACrash) {
    bench.start();
    emit_event("a");
    ASSERT_TRUE(bench.wait_for_messages(1));
    bench.kill_9();
    emit_event("b");
    bench.start();
    expect_ids({"a", "b"});
    bench.stop();
}

/// It cannot be read any more that it is the stream's last message: its place in the WAL tells.
TEST_P(Tableless, TheStreamsLastMessageMayBeTooLargeByNow) {
    bench.set_delivery("confirm_delay = \"1h\"\n");
    bench.start();
    emit_event("a", "\"" + std::string(100'000, 'x') + "\"");
    ASSERT_TRUE(bench.wait_for_messages(1));
    ASSERT_TRUE(bench.wait_until_marked());
    bench.kill_9();
    bench.set_delivery("max_row_bytes = \"64KiB\"\n");
    bench.start();
    emit_event("b");
    expect_ids({"a", "b"});
    EXPECT_EQ(writer_.value_of("SELECT to_regclass('walrelay.dead_letter') IS NULL"), "t");
    bench.stop();
}

TEST_P(Tableless, WhatCannotBeReadBecomesADeadLetter) {
    bench.start();
    emit("no JSON");
    emit("[1]");
    emit(R"({"aggregate_type":"user","event_type":"x"})");
    writer_.execute("SELECT pg_logical_emit_message(true, 'orders', '\\xff00'::bytea)");
    emit_event("good");
    expect_ids({"good"});
    EXPECT_EQ(letters("source_schema || '.' || source_table"),
              "pg_logical_message.orders | pg_logical_message.orders | "
              "pg_logical_message.orders | pg_logical_message.orders");
    EXPECT_EQ(letters("event -> 0 ->> 'value'").substr(0, 20), "no JSON | [1] | user");
    EXPECT_TRUE(bench.relay().process().running());
    bench.stop();
}

TEST_P(Tableless, ADeadLetterIsRetried) {
    bench.start();
    emit(R"({"id":"a","aggregate_type":"user"})");
    ASSERT_TRUE(eventually(patience, [&] {
        return writer_.value_of("SELECT to_regclass('walrelay.dead_letter') IS NOT NULL") == "t" &&
               !letters("id::text").empty();
    }));
    bench.stop();
    bench.set_outbox("[[outbox]]\nmessage_prefix = \"orders\"\nsubject = \"%.{aggregate_type}\"\n");
    bench.start();
    ASSERT_EQ(bench.command({"dead-letter", "retry", "--all"}).exit_code, 0);
    expect_ids({"a;retry-1-1"});
    EXPECT_EQ(bench.messages()[0].body, R"({"id":"a","aggregate_type":"user","event_type":null})");
    bench.stop();
}

TEST_P(Tableless, StandsBesideATable) {
    bench.create_table();
    bench.set_outbox(
        "[[outbox]]\nmessage_prefix = \"orders\"\n"
        "subject = \"%.{aggregate_type}.{event_type}\"\n"
        "[[outbox]]\ntable = \"outbox_events\"\n"
        "subject = \"%.{aggregate_type}.{event_type}\"\n");
    bench.start();
    emit_event("a");
    writer_.execute(insert_events(1, 1));
    emit_event("b");
    ASSERT_TRUE(bench.wait_for_messages(3));
    EXPECT_EQ(bench.messages()[0].header("Nats-Msg-Id"), "a");
    EXPECT_EQ(bench.messages()[2].header("Nats-Msg-Id"), "b");
    bench.stop();
    const auto verified = bench.command({"verify"});
    EXPECT_EQ(verified.exit_code, 0) << verified.output << verified.errors;
    EXPECT_NE(verified.output.find("prefix orders are in no table"), std::string::npos)
        << verified.output;
}

/// Healing is from tables, and gives the slot up.
TEST_P(Tableless, IsNotHealedAtThePriceOfWhatTheSlotHolds) {
    bench.start();
    emit_event("a");
    ASSERT_TRUE(bench.confirms_messages(1));
    bench.stop();
    emit_event("b");
    ASSERT_EQ(bench.command({"resume", "--heal"}).exit_code, 0);
    const auto refused = bench.command({"run"});
    EXPECT_EQ(refused.exit_code, 3) << refused.errors;
    EXPECT_NE(refused.errors.find("brings logical messages"), std::string::npos) << refused.errors;
    const auto given_up = bench.command({"resume", "--give-up"});
    EXPECT_EQ(given_up.exit_code, 0) << given_up.errors;
    bench.start();
    expect_ids({"a", "b"});
    bench.stop();
}

TEST_P(Tableless, VerifyAndInitNeedNoTable) {
    const auto init = bench.command({"init"});
    EXPECT_EQ(init.exit_code, 0) << init.errors;
    bench.start();
    emit_event("a");
    expect_ids({"a"});
    bench.stop();
    const auto verified = bench.command({"verify"});
    EXPECT_EQ(verified.exit_code, 0) << verified.output << verified.errors;
    EXPECT_NE(verified.output.find("cannot be told"), std::string::npos) << verified.output;
    EXPECT_NE(bench.command({"verify", "--json"}).output.find(R"("not_compared":["orders"])"),
              std::string::npos);
    const auto open = bench.command({"check"});
    EXPECT_EQ(open.exit_code, 1);
    EXPECT_NE(open.output.find("every role of the database may call pg_logical_emit_message"),
              std::string::npos)
        << open.output;
    bench.execute(
        "REVOKE EXECUTE ON FUNCTION pg_logical_emit_message(boolean, text, text), "
        "pg_logical_emit_message(boolean, text, bytea) FROM PUBLIC");
    EXPECT_EQ(bench.command({"check"}).exit_code, 0);
}

INSTANTIATE_TEST_SUITE_P(, Tableless, both_plugins(), plugin_name);

}  // namespace
}  // namespace walrelay::test
