// What stops or delays a relay is found by `check`, which tries what the relay does: each with what
// the relay says, the same cause in `check`, and a fix that is safe and works.
#include "integration/e2e/relay_bench.hpp"
#include "support/eventually.hpp"
#include "support/secret_file.hpp"

#include <gmock/gmock.h>

#include <fstream>

namespace walrelay::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// A row of `outbox_events` whose aggregate type, which is in the subject, is an SQL expression.
std::string insert_of_type(std::uint64_t number, const std::string& type) {
    return "INSERT INTO outbox_events (id, aggregate_id, aggregate_type, event_type, event_data, "
           "status, version, created_at) VALUES ('" +
           event_id(number) + "', 'a', " + type + ", 'placed', '{}', 'pending', " +
           std::to_string(number) + ", now())";
}

void allow_long_types(const relay_bench& bench) {
    bench.execute("ALTER TABLE outbox_events ALTER aggregate_type TYPE text");
}

class Check : public e2e_test {
protected:
    std::string findings() {
        const auto run = bench.command({"check"});
        EXPECT_EQ(run.exit_code, 1) << run.output << run.errors;
        EXPECT_THAT(run.output, Not(testing::AnyOf(HasSubstr("DROP"), HasSubstr("stream rm"),
                                                   HasSubstr("purge"), HasSubstr("pg_drop"))));
        return run.output;
    }
    void expect_clean() {
        const auto run = bench.command({"check"});
        EXPECT_EQ(run.exit_code, 0) << run.output << run.errors;
    }
    /// How many rows are in the table or have become dead letters.
    std::string count(const std::string& table) const {
        return bench.session().value_of("SELECT count(*) FROM " + table);
    }
    [[nodiscard]] stream_options stream_that_refuses() const {
        stream_options options;
        options.name = bench.stream_name();
        options.subjects = {bench.name() + ".>"};
        options.discard_new = true;
        return options;
    }
};

TEST_P(Check, NamesAGeneratedColumnThatThePluginDoesNotSend) {
    bench.execute(
        "CREATE TABLE outbox_events (id uuid PRIMARY KEY, aggregate_type text, event_type text, "
        "event_data jsonb, topic text GENERATED ALWAYS AS (lower(aggregate_type)) STORED)");
    bench.set_outbox("[[outbox]]\ntable = 'outbox_events'\nsubject = '%.{topic}'\n");
    const std::string row =
        "INSERT INTO outbox_events VALUES (gen_random_uuid(), 'ORDER', 'placed', '{}')";
    if (bench.plugin() == "wal2json") {
        expect_clean();
        bench.start();
        bench.execute(row);
        ASSERT_TRUE(bench.wait_for_messages(1)) << bench.relay().log();
        EXPECT_EQ(bench.messages().front().subject, bench.name() + ".order");
        return;
    }
    if (std::stoi(bench.session().value_of("SHOW server_version_num")) >= 180'000) {
        bench.execute("CREATE PUBLICATION " + bench.name() +
                      " FOR TABLE outbox_events WITH (publish = 'insert')");
        const auto publish =
            "ALTER PUBLICATION \"" + bench.name() + "\" SET (publish_generated_columns = stored);";
        EXPECT_THAT(findings(), HasSubstr(publish));
        bench.execute(publish);
        expect_clean();
        bench.start();
        bench.execute(row);
        ASSERT_TRUE(bench.wait_for_messages(1)) << bench.relay().log();
        return;
    }
    const auto named = AllOf(HasSubstr("every row would become a dead letter"),
                             HasSubstr("sends no generated columns (topic)"),
                             HasSubstr("postgres.plugin = \"wal2json\""));
    EXPECT_THAT(findings(), named);
    const auto run = bench.command({"run"});
    EXPECT_EQ(run.exit_code, 3);
    EXPECT_THAT(run.errors, named);
    // The same with a slot, and the fix that is told then.
    bench.execute("CREATE PUBLICATION " + bench.name() +
                  " FOR TABLE outbox_events WITH (publish = 'insert')");
    bench.execute("SELECT pg_create_logical_replication_slot('" + bench.name() + "', 'pgoutput')");
    bench.execute(row);
    EXPECT_THAT(findings(), AllOf(named, HasSubstr("walrelay init --switch-plugin")));
    bench.set_plugin("wal2json");
    EXPECT_EQ(bench.command({"init", "--switch-plugin"}).exit_code, 0);
    bench.start();
    ASSERT_TRUE(bench.wait_for_messages(1)) << bench.relay().log();
    EXPECT_EQ(bench.messages().front().subject, bench.name() + ".order");
}

TEST_P(Check, NamesAColumnThatThePublicationLeavesOut) {
    bench.create_table();
    if (bench.plugin() == "wal2json" ||
        std::stoi(bench.session().value_of("SHOW server_version_num")) < 150'000) {
        GTEST_SKIP() << "no column lists here";
    }
    bench.execute("CREATE PUBLICATION " + bench.name() +
                  " FOR TABLE outbox_events (id, event_type, event_data) WITH (publish = "
                  "'insert')");
    const auto run = bench.command({"check"});
    EXPECT_EQ(run.exit_code, 1);
    EXPECT_THAT(run.output, AllOf(HasSubstr("has a column list without"),
                                  HasSubstr("aggregate_type"), HasSubstr("ADD TABLE")));
    const auto table = R"("public"."outbox_events")";
    bench.execute("BEGIN; ALTER PUBLICATION " + bench.name() + " DROP TABLE " + table +
                  "; ALTER PUBLICATION " + bench.name() + " ADD TABLE " + table + "; COMMIT");
    expect_clean();
}

TEST_P(Check, NamesARoleThatMayNotCreateThePublication) {
    bench.create_table();
    const auto role = "relaying_of_" + bench.database();
    bench.execute("CREATE ROLE " + role + " LOGIN REPLICATION");
    bench.set_conninfo(bench.conninfo() + " user=" + role);
    bench.set_delivery("on_poison = 'halt'");
    const auto checked = bench.command({"check"});
    if (bench.plugin() == "wal2json") {
        EXPECT_THAT(checked.output, Not(HasSubstr("publication")));
        return;
    }
    EXPECT_EQ(checked.exit_code, 1);
    const auto run = bench.command({"run"});
    EXPECT_EQ(run.exit_code, 3);
    EXPECT_THAT(run.errors, AllOf(HasSubstr("publication " + bench.name() + " does not exist yet"),
                                  HasSubstr("does not let role " + role + " create it")));
    EXPECT_THAT(checked.output, AllOf(HasSubstr("publication " + bench.name()),
                                      HasSubstr("permission denied for database"),
                                      HasSubstr("CREATE PUBLICATION")));
    EXPECT_EQ(count("pg_publication"), "0") << "it was only tried";
    bench.execute("CREATE PUBLICATION " + bench.name() +
                  " FOR TABLE outbox_events WITH (publish = 'insert')");
    EXPECT_THAT(bench.command({"check"}).output,
                Not(HasSubstr("publication " + bench.name() + " does not exist")));
}

TEST_P(Check, NamesRightsOnDeadLettersThatAreMissing) {
    bench.create_table();
    allow_long_types(bench);
    ASSERT_EQ(bench.command({"init"}).exit_code, 0);
    const auto role = "relaying_of_" + bench.database();
    bench.execute("CREATE ROLE " + role + " LOGIN REPLICATION; GRANT USAGE ON SCHEMA walrelay TO " +
                  role +
                  "; GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA walrelay "
                  "TO " +
                  role + "; REVOKE INSERT ON walrelay.dead_letter FROM " + role);
    bench.set_conninfo(bench.conninfo() + " user=" + role);
    const auto named =
        AllOf(HasSubstr("walrelay.dead_letter"), HasSubstr("GRANT "), HasSubstr("INSERT"));
    EXPECT_THAT(findings(), named);
    bench.launch();
    // One whose subject would be too long.
    bench.execute(insert_event(1) + "; " + insert_event(2));
    bench.execute(insert_of_type(3, "repeat('x', 2000)"));
    EXPECT_EQ(bench.relay().process().wait_exit(patience), 3);
    EXPECT_THAT(bench.relay().log(), named);
    bench.execute("GRANT INSERT ON walrelay.dead_letter TO " + role);
    expect_clean();
    bench.start();
    EXPECT_TRUE(eventually(patience, [&] { return count("walrelay.dead_letter") == "1"; }))
        << bench.relay().log();
}

TEST_P(Check, NamesItselfAsASynchronousStandby) {
    postgres_server postgres;
    relay_bench own(postgres, shared_nats(), GetParam());
    own.create_table();
    ASSERT_EQ(own.command({"init"}).exit_code, 0);
    const auto name = [&](const std::string& standbys) {
        postgres.reconfigure("synchronous_standby_names = '" + standbys + "'");
        ASSERT_TRUE(eventually(patience, [&] {
            return own.session().value_of("SHOW synchronous_standby_names") == standbys;
        }));
    };
    name("ANY 1 (walrelay, replica)");
    const auto warned = own.command({"check"});
    EXPECT_EQ(warned.exit_code, 1) << warned.output;
    EXPECT_THAT(warned.output, HasSubstr("names walrelay's connection"));

    own.set_outbox(
        "[[outbox]]\ntable = 'outbox_events'\nsubject = '%.{event_type}'\n"
        "on_published = \"status = 'done'\"\n");
    name("walrelay");
    const auto refused = own.command({"check"});
    EXPECT_EQ(refused.exit_code, 1) << refused.output;
    EXPECT_THAT(refused.output, HasSubstr("the two wait for each other for ever"));
    own.launch();
    EXPECT_EQ(own.relay().process().wait_exit(patience), 3);
    EXPECT_THAT(own.relay().log(), HasSubstr("the two wait for each other for ever"));

    name("");
    EXPECT_THAT(own.command({"check"}).output, Not(HasSubstr("synchronous_standby_names")));
    own.start();
    own.execute(insert_event(1));
    EXPECT_TRUE(own.confirmed_reaches(own.wal_end()));
    own.stop();
}

TEST_P(Check, NamesAStreamThatRefusesMoreOfASubject) {
    bench.create_table();
    auto options = stream_that_refuses();
    options.max_messages_per_subject = 1;
    bench.broker().create(options);
    bench.start();
    bench.execute(insert_event(1) + "; " + insert_event(2));
    EXPECT_EQ(bench.relay().process().wait_exit(patience), 3);
    EXPECT_THAT(bench.relay().log(), AllOf(HasSubstr("does not take messages as it is set up"),
                                           HasSubstr("per subject"), HasSubstr("walrelay check")));
    EXPECT_THAT(findings(),
                AllOf(HasSubstr("discard_new_per_subject"), HasSubstr("--no-discard-per-subject")));
    bench.broker().free_subjects(bench.stream_name());
    bench.start();
    bench.expect_relayed(event_ids(1, 2));
}

TEST_P(Check, NamesAStreamThatIsFull) {
    bench.create_table();
    auto options = stream_that_refuses();
    options.max_messages = 1;
    bench.broker().create(options);
    const auto empty = bench.command({"check"});
    EXPECT_EQ(empty.exit_code, 0) << empty.output;
    EXPECT_THAT(empty.output, HasSubstr("max_msgs = 1, discard new"));
    bench.start();
    bench.execute(insert_event(1) + "; " + insert_event(2));
    ASSERT_TRUE(bench.relay().wait_for_log("maximum messages exceeded", patience));
    EXPECT_THAT(bench.relay().log(), HasSubstr("walrelay check"));
    EXPECT_THAT(findings(), AllOf(HasSubstr("is full (max_msgs = 1, discard new)"),
                                  HasSubstr("nats stream edit " + bench.name() + " --max-msgs=")));
    bench.broker().limit(bench.stream_name(), 10);
    bench.expect_relayed(event_ids(1, 2));
}

class CheckOfBroker : public testing::Test {
protected:
    void serve(const std::string& lines) {
        nats.stop();
        std::ofstream(nats.folder() / "nats.conf", std::ios::app) << lines << "\n";
        nats.start();
    }

    nats_server nats;
    relay_bench bench{shared_postgres(), nats, "pgoutput"};
};

TEST_F(CheckOfBroker, NamesASubjectToWhichItMayNotPublish) {
    bench.create_table();
    write_secret(bench.folder() / "password", "secret\n");
    ASSERT_EQ(bench.command({"init"}).exit_code, 0);
    bench.set_nats("user = 'relay'\npassword_file = '" + (bench.folder() / "password").string() +
                   "'\n");
    const auto allow = [&](const std::string& denied) {
        serve(
            "no_auth_user: operator\nauthorization { users: [ { user: operator, password: x }, "
            "{ user: relay, password: secret, permissions: { publish: { deny: \"" +
            denied + "\" } } } ] }");
    };
    allow(bench.name() + ".>");
    const auto checked = bench.command({"check"});
    EXPECT_EQ(checked.exit_code, 1) << checked.output;
    EXPECT_THAT(checked.output,
                AllOf(HasSubstr("may not publish"), HasSubstr(bench.name() + "."),
                      HasSubstr("Permissions Violation"), HasSubstr("allow the user")));
    bench.launch();
    bench.execute(insert_event(1));
    EXPECT_EQ(bench.relay().process().wait_exit(patience), 3);
    EXPECT_THAT(bench.relay().log(), HasSubstr("Permissions Violation"));
    allow("nothing.else");
    const auto again = bench.command({"check"});
    EXPECT_EQ(again.exit_code, 0) << again.output;
    bench.start();
    bench.expect_relayed({event_id(1)});
}

TEST_F(CheckOfBroker, GivesNobodyAMessage) {
    bench.create_table();
    ASSERT_EQ(bench.command({"init"}).exit_code, 0);
    ASSERT_EQ(bench.command({"check"}).exit_code, 0);
    EXPECT_EQ(bench.broker().state(bench.stream_name())->last_sequence, 0U);
    // Refused before the server has looked for who is to get it.
    EXPECT_THAT(nats.log(), HasSubstr("Reply \"_R_.walrelay_check"));
}

TEST_F(CheckOfBroker, NamesAStreamThatItMayNotCreate) {
    bench.create_table();
    write_secret(bench.folder() / "password", "secret\n");
    bench.set_nats("user = 'relay'\npassword_file = '" + (bench.folder() / "password").string() +
                   "'\n");
    serve(
        "no_auth_user: operator\nauthorization { users: [ { user: operator, password: x }, "
        "{ user: relay, password: secret, permissions: { publish: { deny: "
        "\"$JS.API.STREAM.CREATE.>\" } } } ] }");
    const auto checked = bench.command({"check"});
    EXPECT_EQ(checked.exit_code, 1) << checked.output;
    EXPECT_THAT(checked.output, AllOf(HasSubstr("may not create it"), HasSubstr("init --print")));
}

TEST_F(CheckOfBroker, NamesLinesThatAreTooShortForALongSubject) {
    bench.create_table();
    allow_long_types(bench);
    ASSERT_EQ(bench.command({"init"}).exit_code, 0);
    serve("max_control_line: 512");
    const auto checked = bench.command({"check"});
    EXPECT_EQ(checked.exit_code, 1) << checked.output;
    EXPECT_THAT(checked.output, AllOf(HasSubstr("max_control_line"), HasSubstr("4096")));
    bench.start();
    bench.execute(insert_event(1));
    ASSERT_TRUE(bench.wait_for_messages(1)) << bench.relay().log();
    const auto id = event_id(2);
    bench.execute(insert_of_type(2, "repeat('x', 900)"));
    EXPECT_EQ(bench.relay().process().wait_exit(patience), 3);
    EXPECT_THAT(bench.relay().log(),
                AllOf(HasSubstr("max_control_line"), HasSubstr("row id " + id), HasSubstr("4096")));
    serve("max_control_line: 4096");
    const auto again = bench.command({"check"});
    EXPECT_EQ(again.exit_code, 0) << again.output;
    bench.start();
    ASSERT_TRUE(bench.wait_for_messages(2)) << bench.relay().log();
    // The longest line that there is at all.
    const auto rest = bench.name() + "..placed";
    bench.execute(insert_of_type(3, "repeat('y', 1024 - length('" + rest + "'))"));
    bench.execute(insert_of_type(4, "repeat('y', 1025 - length('" + rest + "'))"));
    ASSERT_TRUE(bench.wait_for_messages(3)) << bench.relay().log();
    EXPECT_TRUE(eventually(patience, [&] {
        return bench.session().value_of("SELECT count(*) FROM walrelay.dead_letter") == "1";
    })) << bench.relay().log();
    bench.stop();
    EXPECT_EQ(bench.messages().back().subject.size(), 1024U);
}

TEST_F(CheckOfBroker, NamesLinesThatAreTooShortForItself) {
    bench.create_table();
    ASSERT_EQ(bench.command({"init"}).exit_code, 0);
    for (const auto* const bytes : {"64", "100", "150", "200"}) {
        serve(std::string("max_control_line: ") + bytes);
        const auto checked = bench.command({"check"});
        EXPECT_EQ(checked.exit_code, 1) << checked.output;
        EXPECT_THAT(checked.output, HasSubstr("max_control_line")) << bytes;
    }
    serve("max_control_line: 64");
    const auto run = bench.command({"run"});
    EXPECT_EQ(run.exit_code, 3);
    EXPECT_THAT(run.errors, AllOf(HasSubstr("max_control_line"), HasSubstr("4096")));
}

/// The server of a service that gives the right by membership cannot be had here. What can be had
/// is a role whose session has another one's rights: the catalog says no, and the server lets it
/// in.
TEST_P(Check, BelievesTheServerAndNotTheAttribute) {
    bench.create_table();
    const auto& own = bench.name();
    bench.execute("CREATE ROLE " + own + "_app; CREATE ROLE " + own +
                  " LOGIN REPLICATION IN ROLE " + own + "_app; ALTER ROLE " + own +
                  " SET role = '" + own + "_app'; ALTER DATABASE " + bench.database() +
                  " OWNER TO " + own + "_app; ALTER TABLE outbox_events OWNER TO " + own + "_app");
    bench.set_conninfo(bench.conninfo() + " user=" + own);
    expect_clean();
    bench.start();
    bench.execute(insert_event(1));
    ASSERT_TRUE(bench.wait_for_messages(1)) << bench.relay().log();
    bench.stop();
}

TEST_F(CheckOfBroker, AdvisesAsTheServiceDoesThings) {
    postgres_server postgres(postgres_options{.settings = {"wal_level = replica"}});
    relay_bench own(postgres, shared_nats(), "pgoutput");
    own.create_table();
    own.execute("CREATE ROLE rds_superuser; CREATE ROLE relay LOGIN");
    own.set_conninfo(own.conninfo() + " user=relay");
    const auto run = own.command({"check"});
    EXPECT_EQ(run.exit_code, 1);
    EXPECT_THAT(run.output, HasSubstr("rds.logical_replication = 1 in the DB parameter group"));
    EXPECT_THAT(run.output, HasSubstr("GRANT rds_replication TO \"relay\";"));
    EXPECT_THAT(run.output, Not(HasSubstr("ALTER SYSTEM")));
}

TEST_P(Check, SaysHowManyRowsANewSlotNeverSends) {
    bench.create_table();
    bench.execute(insert_events(1, 3));
    const auto named = HasSubstr("table public.outbox_events has 3 rows, which slot " +
                                 bench.name() + " will never send");
    EXPECT_THAT(findings(), named);
    const auto made = bench.command({"init"});
    EXPECT_EQ(made.exit_code, 0) << made.errors;
    EXPECT_THAT(made.errors, named);
    expect_clean();
    // Asked for too late: it would do nothing.
    bench.set_postgres("snapshot = 'all'\n");
    const auto late = AllOf(HasSubstr("was there before it could be taken"),
                            HasSubstr("walrelay replay --table"));
    EXPECT_THAT(bench.command({"check"}).output, late);
    const auto run = bench.command({"run"});
    EXPECT_EQ(run.exit_code, 3);
    EXPECT_THAT(run.errors, late);
    // One of the two ways out: nothing was relayed yet.
    EXPECT_EQ(bench.command({"drop", "--execute"}).exit_code, 0);
    bench.start();
    ASSERT_TRUE(bench.wait_for_messages(3)) << bench.relay().log();
    bench.stop();
    // With a slot that began with them it may stay set.
    bench.start();
    bench.stop();
    expect_clean();
}

TEST_P(Check, SaysThemAtAFirstStartAsWell) {
    bench.create_table();
    bench.execute(insert_events(1, 3));
    bench.start();
    EXPECT_THAT(bench.relay().log(),
                AllOf(HasSubstr("table public.outbox_events has 3 rows, which slot " +
                                bench.name() + " will never send"),
                      HasSubstr("set postgres.snapshot")));
    bench.stop();
}

INSTANTIATE_TEST_SUITE_P(, Check, both_plugins(), plugin_name);

}  // namespace
}  // namespace walrelay::test
