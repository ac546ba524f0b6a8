// What walrelay prints as JSON is as docs/schema says: each command, and the log.
#include "integration/e2e/answering_relay.hpp"
#include "integration/e2e/relay_bench.hpp"
#include "support/eventually.hpp"
#include "support/json_schema.hpp"

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

namespace walrelay::test {
namespace {

using testing::HasSubstr;
using wrong = std::vector<std::string>;

constexpr const char* poison =
    "INSERT INTO outbox_events (id, aggregate_type, aggregate_id, event_type, event_data, status, "
    "version, created_at) SELECT gen_random_uuid(), '', 'a', 'e', '{}', 'pending', n, now() FROM "
    "generate_series(1, 3) AS n";

class Json : public e2e_test {
protected:
    void SetUp() override { bench.create_table(); }
    void TearDown() override {
        bench.execute(
            "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE slot_name "
            "= '" +
            bench.name() + "_at_before'");
    }

    /// Of `walrelay <words>`, which must be as the schema says.
    std::string json_of(const std::string& schema, const std::vector<std::string>& words,
                        int exit_code) {
        const auto run = bench.command(words);
        EXPECT_EQ(run.exit_code, exit_code) << run.output << run.errors;
        EXPECT_EQ(violations_of(schema, run.output), wrong{}) << run.output;
        EXPECT_EQ(std::ranges::count(run.output, '\n'), 1) << run.output;
        return run.output;
    }

    void relay_a_row() {
        bench.start();
        bench.execute(insert_event(1));
        ASSERT_TRUE(bench.wait_for_messages(1));
        ASSERT_TRUE(bench.confirmed_reaches(bench.wal_end()));
    }
};

TEST(JsonOfVersion, IsAsItsSchemaSays) {
    const temporary_folder folder("version");
    const auto run = run_to_end(
        {.program = WALRELAY_BINARY, .arguments = {"version", "--json"}, .folder = folder.path()},
        patience);
    EXPECT_EQ(run.exit_code, 0);
    EXPECT_EQ(violations_of("version", run.output), wrong{}) << run.output;
    EXPECT_THAT(run.output, HasSubstr(R"("plugins": ["wal2json", "pgoutput"])"));
}

TEST_P(Json, OfCheck) {
    const auto before = json_of("check", {"check", "--json"}, 0);
    EXPECT_THAT(before, HasSubstr(R"({"clean":true,"findings":[{"code":"stream_missing")"));
    EXPECT_THAT(before, HasSubstr(R"("code":"slot_missing","severity":"note")"));
    ASSERT_EQ(bench.command({"init"}).exit_code, 0);
    EXPECT_EQ(json_of("check", {"check", "--json"}, 0), "{\"clean\":true,\"findings\":[]}\n");
    bench.execute("ALTER TABLE outbox_events RENAME TO away");
    EXPECT_THAT(json_of("check", {"check", "--json"}, 1),
                AllOf(HasSubstr(R"({"clean":false,)"),
                      HasSubstr(R"("code":"table_missing","severity":"error")")));
}

TEST_P(Json, OfACheckThatReachesNoServer) {
    bench.set_conninfo("host=127.0.0.1 port=1 dbname=none user=nobody");
    EXPECT_THAT(json_of("check", {"check", "--json"}, 1),
                HasSubstr(R"("code":"postgres_unavailable","severity":"error")"));
}

TEST_P(Json, OfVerify) {
    relay_a_row();
    EXPECT_THAT(json_of("verify", {"verify", "--json"}, 0), HasSubstr("\"clean\":true"));
    bench.stop();
    bench.execute(insert_event(2));
    EXPECT_THAT(json_of("verify", {"verify", "--json"}, 1),
                AllOf(HasSubstr("\"clean\":false"), HasSubstr("\"undelivered\":{\"count\":1")));
}

TEST_P(Json, OfDeadLetters) {
    EXPECT_EQ(json_of("dead-letter-list", {"dead-letter", "list", "--json"}, 0),
              "{\"dead_letters\":[]}\n");
    bench.start();
    bench.execute(poison);
    const auto counted = [this] {
        return bench.session().value_of("SELECT count(*) FROM walrelay.dead_letter");
    };
    ASSERT_TRUE(bench.relay().wait_for_log("dead_letter_stored", patience));
    ASSERT_TRUE(eventually(patience, [&] { return counted() == "3"; }));
    const auto list = json_of("dead-letter-list", {"dead-letter", "list", "--json"}, 0);
    EXPECT_THAT(list, HasSubstr("{\"id\":1,"));
    json_of("dead-letter-show", {"dead-letter", "show", "1", "--json"}, 0);
    ASSERT_EQ(bench.command({"dead-letter", "retry", "1"}).exit_code, 0);
    json_of("dead-letter-list", {"dead-letter", "list", "--json"}, 0);
    json_of("dead-letter-show", {"dead-letter", "show", "1", "--json"}, 0);
}

TEST_P(Json, OfResumeAndOfRowsThatWereGivenUp) {
    relay_a_row();
    bench.stop();
    EXPECT_THAT(json_of("resume", {"resume", "--json"}, 0),
                HasSubstr(R"("halted":false,"decision":null)"));
    EXPECT_EQ(json_of("dead-letter-given-up", {"dead-letter", "list", "--given-up", "--json"}, 0),
              "{\"given_up\":[]}\n");
    bench.execute(insert_event(2));
    bench.execute("SELECT pg_replication_slot_advance('" + bench.name() +
                  "', pg_current_wal_lsn())");
    ASSERT_EQ(bench.command({"run"}).exit_code, 3);
    EXPECT_THAT(json_of("resume", {"resume", "--json"}, 1),
                AllOf(HasSubstr(R"("halted":true)"), HasSubstr(R"("decision":null)"),
                      HasSubstr(R"("missing":{"count":1)"), HasSubstr(event_id(2))));
    EXPECT_THAT(json_of("resume", {"resume", "--heal", "--json"}, 0),
                HasSubstr(R"("decision":"heal"})"));
    EXPECT_THAT(json_of("resume", {"resume", "--give-up", "--json"}, 0),
                HasSubstr(R"("decision":"give_up","missing":{"count":1)"));
    EXPECT_THAT(json_of("dead-letter-given-up", {"dead-letter", "list", "--given-up", "--json"}, 0),
                HasSubstr(event_id(2)));
}

TEST_P(Json, OfBookmarksAndReplays) {
    bench.start();
    ASSERT_EQ(bench.command({"bookmark", "create", "before"}).exit_code, 0);
    EXPECT_THAT(json_of("bookmark-list", {"bookmark", "list", "--json"}, 0),
                HasSubstr(R"("kind":"bookmark","name":"before")"));
    EXPECT_EQ(json_of("replay-list", {"replay", "list", "--json"}, 0), "{\"replays\":[]}\n");
    bench.execute(insert_events(1, 3));
    ASSERT_TRUE(bench.wait_for_messages(3));
    ASSERT_TRUE(bench.confirmed_reaches(bench.wal_end()));
    EXPECT_THAT(
        json_of("replay-plan", {"replay", "--from", "bookmark:before", "--json"}, 0),
        AllOf(HasSubstr(R"("plan":{"rows":3,)"), HasSubstr(R"("name":"public.outbox_events")")));
    ASSERT_EQ(bench.command({"replay", "--from", "bookmark:before", "--execute"}).exit_code, 0);
    ASSERT_TRUE(bench.wait_for_messages(6));
    EXPECT_THAT(json_of("replay-list", {"replay", "list", "--json"}, 0),
                HasSubstr(R"({"replays":[{"number":1,)"));
    EXPECT_THAT(json_of("replay-show", {"replay", "show", "1", "--json"}, 0),
                HasSubstr(R"("state":"done")"));
    EXPECT_EQ(bench.command({"bookmark", "drop", "before"}).exit_code, 0);
}

TEST_P(Json, OfStatus) {
    const auto without = json_of("status", {"status", "--json"}, 1);
    EXPECT_THAT(without, HasSubstr(R"("state":"no_answer")"));
    const answering_relay relay(bench, "relay");
    ASSERT_TRUE(relay.is("streaming", true, true));
    const auto first = relay.get("/status").body;
    EXPECT_EQ(violations_of("status", first), wrong{}) << first;
    bench.execute(insert_event(1));
    ASSERT_TRUE(relay.comes_to_say("/status", "\"messages_stored\":1,"));
    ASSERT_TRUE(relay.comes_to_say("/status", "\"slowest\":{\"seconds\""));
    const auto later = relay.get("/status").body;
    EXPECT_EQ(violations_of("status", later), wrong{}) << later;
    EXPECT_THAT(later, HasSubstr(R"("event":"streaming")"));
}

TEST_P(Json, OfTheLog) {
    bench.set_outbox(
        "format = 'json'\n[[outbox]]\ntable = 'public.outbox_events'\n"
        "subject = '%.{aggregate_type}.{event_type}'\n");
    relay_a_row();
    bench.execute(poison);
    ASSERT_TRUE(bench.relay().wait_for_log(R"("event":"caught_up")", patience));
    ASSERT_TRUE(bench.relay().wait_for_log(R"("event":"dead_letter_stored")", patience));
    bench.stop();
    const auto log = bench.relay().log();
    std::istringstream lines(log);
    for (std::string line; std::getline(lines, line);) {
        EXPECT_EQ(violations_of("log", line), wrong{}) << line;
    }
    EXPECT_THAT(log, HasSubstr(R"("event":"start","message":"walrelay )" WALRELAY_VERSION
                               " starts; configuration: "));
    EXPECT_THAT(log, AllOf(HasSubstr(R"("version":")" WALRELAY_VERSION R"(")"),
                           HasSubstr(R"("file":")" + bench.folder().string()),
                           HasSubstr(R"("slot":")" + bench.name() + R"(","stream":")"),
                           HasSubstr(R"("tables":"public.outbox_events","plugin":")" +
                                     bench.plugin() + R"("})")));
}

INSTANTIATE_TEST_SUITE_P(, Json, both_plugins(), plugin_name);

}  // namespace
}  // namespace walrelay::test
