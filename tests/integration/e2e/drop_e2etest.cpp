// walrelay drop takes away what walrelay made for its slot, and nothing else.
#include "integration/e2e/relay_bench.hpp"
#include "support/json_schema.hpp"

#include <gmock/gmock.h>

namespace walrelay::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class Drop : public e2e_test {
protected:
    void SetUp() override {
        bench.create_table();
        ASSERT_EQ(bench.command({"init"}).exit_code, 0);
    }
    void TearDown() override {
        bench.execute(
            "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE "
            "database = current_database() AND NOT active");
    }

    /// What is left of walrelay in the database: slots, publications, schemas.
    std::string left() {
        return bench.session().value_of(
            "SELECT coalesce(string_agg(name, ' ' ORDER BY name), '') FROM ("
            "SELECT 'slot ' || slot_name AS name FROM pg_replication_slots WHERE database = "
            "current_database() UNION ALL SELECT 'publication ' || pubname FROM pg_publication "
            "UNION ALL SELECT 'schema ' || nspname FROM pg_namespace WHERE nspname = 'walrelay') "
            "AS them");
    }
};

TEST_P(Drop, WithoutExecuteOnlyShowsWhatItWouldDo) {
    const auto before = left();
    const auto plan = bench.command({"drop"});
    EXPECT_EQ(plan.exit_code, 0) << plan.errors;
    EXPECT_THAT(plan.output,
                AllOf(HasSubstr("drop     slot " + bench.name() + " (" + bench.plugin() + ")"),
                      HasSubstr("of WAL"), HasSubstr("keep     stream " + bench.name()),
                      HasSubstr("keep     schema walrelay"),
                      HasSubstr("nothing is dropped yet: --execute does it")));
    EXPECT_EQ(left(), before);
}

TEST_P(Drop, LeavesNothingWhereThatIsAskedFor) {
    bench.start();
    bench.execute(insert_event(1));
    ASSERT_TRUE(bench.wait_for_messages(1));
    ASSERT_EQ(bench.command({"bookmark", "create", "before"}).exit_code, 0);
    bench.stop();
    const auto done = bench.command({"drop", "--with-stream", "--with-schema", "--execute"});
    EXPECT_EQ(done.exit_code, 0) << done.output << done.errors;
    EXPECT_THAT(done.output,
                AllOf(HasSubstr("(with 1 message and all its consumers)"),
                      HasSubstr("dropped  kept position " + bench.name() + "_at_before"),
                      HasSubstr("dropped  stream"), HasSubstr("dropped  schema")));
    EXPECT_EQ(left(), "");
    EXPECT_FALSE(bench.broker().state(bench.stream_name()).has_value());
    const auto again = bench.command({"drop", "--with-stream", "--with-schema", "--execute"});
    EXPECT_EQ(again.exit_code, 0) << again.errors;
    EXPECT_THAT(again.output, HasSubstr("nothing of slot " + bench.name() + " is there"));
}

TEST_P(Drop, IsTakenBackByInit) {
    bench.start();
    bench.execute(insert_event(1));
    ASSERT_TRUE(bench.wait_for_messages(1));
    bench.stop();
    bench.execute("INSERT INTO walrelay.halt (slot, reason, fix) VALUES ('" + bench.name() +
                  "', 'r', 'f'), ('another', 'r', 'f')");
    ASSERT_EQ(bench.command({"drop", "--with-stream", "--execute"}).exit_code, 0);
    EXPECT_EQ(bench.session().value_of("SELECT string_agg(slot, ' ') FROM walrelay.halt"),
              "another");
    ASSERT_EQ(bench.command({"init"}).exit_code, 0);
    bench.start();
    bench.execute(insert_event(2));
    ASSERT_TRUE(bench.wait_for_messages(1));
}

TEST_P(Drop, RefusesWhileARelayRuns) {
    bench.start();
    const auto before = left();
    const auto refused = bench.command({"drop", "--execute"});
    EXPECT_EQ(refused.exit_code, 3);
    EXPECT_THAT(refused.errors, AllOf(HasSubstr("a relay runs; nothing was dropped"),
                                      HasSubstr("stop walrelay run")));
    EXPECT_EQ(left(), before);
    const auto as_json = bench.command({"drop", "--json"});
    EXPECT_EQ(as_json.exit_code, 3);
    EXPECT_EQ(as_json.output, "");
}

TEST_P(Drop, LeavesWhatItHasNotMadeAndNamesIt) {
    const auto by_hand = bench.name() + "_at_mine";
    bench.execute("SELECT pg_create_logical_replication_slot('" + by_hand + "', 'pgoutput')");
    bench.execute("CREATE TABLE walrelay.notes (n int)");
    bench.execute("DROP PUBLICATION IF EXISTS " + as_identifier(bench.name()));
    bench.execute("CREATE TABLE other (n int primary key)");
    bench.execute("CREATE PUBLICATION " + as_identifier(bench.name()) + " FOR TABLE other");
    const auto done = bench.command({"drop", "--with-schema", "--execute"});
    EXPECT_EQ(done.exit_code, 1) << done.errors;
    EXPECT_THAT(
        done.output,
        AllOf(HasSubstr("leave    kept position " + by_hand +
                        ": walrelay has no record of making it"),
              HasSubstr("if it is yours and not needed: SELECT pg_drop_replication_slot('" +
                        by_hand + "');"),
              HasSubstr("leave    publication " + bench.name() + ": it has table public.other"),
              HasSubstr("leave    schema walrelay: it holds what walrelay does not make: notes"),
              HasSubstr("dropped  slot " + bench.name() + "\n")));
    EXPECT_EQ(left(), "publication " + bench.name() + " schema walrelay slot " + by_hand);
}

TEST_P(Drop, DoesNotDeleteAStreamOfAnother) {
    bench.broker().remove(bench.stream_name());
    bench.broker().create({.name = bench.stream_name(), .subjects = {bench.name() + ".>"}});
    const auto done = bench.command({"drop", "--with-stream", "--execute"});
    EXPECT_EQ(done.exit_code, 1) << done.errors;
    EXPECT_THAT(done.output, HasSubstr("leave    stream " + bench.name() +
                                       ": nothing marks it as walrelay's\n         if it is yours "
                                       "and not needed: nats stream rm " +
                                       bench.name()));
    EXPECT_TRUE(bench.broker().state(bench.stream_name()).has_value());
}

/// As staging has it that was restored from production's dump, and names production's broker.
TEST_P(Drop, DoesNotDeleteTheStreamOfAnotherServer) {
    const auto mark = "walrelay slot=" + bench.name() + " database=" + bench.database();
    bench.broker().remove(bench.stream_name());
    bench.broker().create(bench.stream_name(), R"({"name":")" + bench.stream_name() +
                                                   R"(","subjects":[")" + bench.name() +
                                                   R"(.>"],"description":")" + mark +
                                                   " system=7713434131630205156\"}");
    const auto done = bench.command({"drop", "--with-stream", "--execute"});
    EXPECT_EQ(done.exit_code, 1) << done.errors;
    EXPECT_THAT(done.output,
                AllOf(HasSubstr("leave    stream " + bench.name() + ": it is marked as that of "),
                      HasSubstr("another server, with system identifier 7713434131630205156"),
                      HasSubstr("nats stream rm " + bench.name())));
    EXPECT_TRUE(bench.broker().state(bench.stream_name()).has_value());
}

TEST_P(Drop, LeavesAPublicationThatTheSlotOfAnotherRelayMayReadThrough) {
    const auto other = bench.name() + "_eu";
    bench.execute("SELECT pg_create_logical_replication_slot('" + other + "', 'pgoutput')");
    bench.execute("DROP PUBLICATION IF EXISTS " + as_identifier(bench.name()));
    bench.execute("CREATE PUBLICATION " + as_identifier(bench.name()) + " FOR TABLE outbox_events");
    const auto done = bench.command({"drop", "--execute"});
    EXPECT_EQ(done.exit_code, 0) << done.errors;
    EXPECT_THAT(done.output, HasSubstr("leave    publication " + bench.name() + ": slot " + other +
                                       " may read through it"));
    EXPECT_THAT(left(), HasSubstr("publication " + bench.name()));
}

TEST_P(Drop, LeavesAPublicationOfWholeSchemas) {
    if (bench.session().value_of("SELECT current_setting('server_version_num')::int < 150000") ==
        "t") {
        GTEST_SKIP() << "publications of schemas came with PostgreSQL 15";
    }
    bench.execute("DROP PUBLICATION IF EXISTS " + as_identifier(bench.name()));
    bench.execute("CREATE PUBLICATION " + as_identifier(bench.name()) +
                  " FOR TABLES IN SCHEMA public");
    const auto done = bench.command({"drop", "--execute"});
    EXPECT_EQ(done.exit_code, 0) << done.errors;
    EXPECT_THAT(done.output, HasSubstr("leave    publication " + bench.name() +
                                       ": it has all tables of schema public"));
    EXPECT_EQ(left(), "publication " + bench.name() + " schema walrelay");
}

TEST_P(Drop, IsJson) {
    for (const auto& words : std::vector<std::vector<std::string>>{
             {"drop", "--json"}, {"drop", "--with-stream", "--execute", "--json"}}) {
        const auto run = bench.command(words);
        EXPECT_EQ(run.exit_code, 0) << run.errors;
        EXPECT_EQ(violations_of("drop", run.output), std::vector<std::string>{}) << run.output;
        EXPECT_THAT(run.output,
                    HasSubstr(R"({"fate":"drop","kind":"slot","name":")" + bench.name() + '"'));
    }
    EXPECT_THAT(left(), Not(HasSubstr("slot ")));
}

INSTANTIATE_TEST_SUITE_P(, Drop, both_plugins(), plugin_name);

}  // namespace
}  // namespace walrelay::test
