// `check` and `run` on set-ups that cannot work: both say what is wrong and the command that fixes
// it, and the command does fix it. `init` creates what is missing.
#include "integration/e2e/relay_bench.hpp"
#include "support/eventually.hpp"
#include "support/temporary_folder.hpp"

#include <fstream>

namespace walrelay::test {
namespace {

testing::AssertionResult says(const std::string& text, const std::vector<std::string>& parts) {
    for (const auto& part : parts) {
        if (text.find(part) == std::string::npos) {
            return testing::AssertionFailure() << "not said: " << part << "\nbut:\n" << text;
        }
    }
    return testing::AssertionSuccess();
}

/// What walrelay makes, as far as it is there.
std::string what_is_made(relay_bench& bench) {
    const auto in_database = bench.session().value_of(
        "SELECT concat_ws(' | ', (SELECT string_agg(slot_name, ' ' ORDER BY slot_name)"
        " FROM pg_replication_slots WHERE database = current_database()),"
        " (SELECT string_agg(pubname, ' ' ORDER BY pubname) FROM pg_publication),"
        " (SELECT string_agg(relname, ' ' ORDER BY relname) FROM pg_class"
        " WHERE relnamespace = to_regnamespace('walrelay') AND relkind = 'r'"
        " AND relname <> 'halt'))");  // a refusal can be kept
    return in_database + (bench.broker().state(bench.name()) ? " | stream" : "");
}

/// `check` finds it and `run` stops with it, in the same words; neither leaves anything behind.
void expect_refused(relay_bench& bench, const std::vector<std::string>& parts) {
    const auto before = what_is_made(bench);
    const auto check = bench.command({"check"});
    EXPECT_EQ(check.exit_code, 1) << check.output << check.errors;
    EXPECT_TRUE(says(check.output, parts));
    const auto run = bench.command({"run"});
    EXPECT_EQ(run.exit_code, 3) << run.errors;
    EXPECT_TRUE(says(run.errors, parts));
    EXPECT_EQ(what_is_made(bench), before) << "by run";
    EXPECT_EQ(bench.command({"init"}).exit_code, 3);
    EXPECT_EQ(what_is_made(bench), before) << "by init";
}

void expect_clean(relay_bench& bench) {
    const auto check = bench.command({"check"});
    EXPECT_EQ(check.exit_code, 0) << check.output << check.errors;
}

/// What is wrong on the side of PostgreSQL, each on a server of its own.
class SetupOfServer : public testing::TestWithParam<const char*> {};

TEST_P(SetupOfServer, WalLevelMustBeLogical) {
    postgres_server postgres({.settings = {"wal_level = replica"}});
    relay_bench bench(postgres, shared_nats(), GetParam());
    bench.create_table();
    expect_refused(bench, {"wal_level", "ALTER SYSTEM SET wal_level = logical"});

    // The last setting in the file wins, but ALTER SYSTEM wins over the file.
    postgres.session().execute("ALTER SYSTEM SET wal_level = logical");
    postgres.stop(postgres_stop::fast);
    postgres.start();
    expect_clean(bench);
}

TEST(SetupOfPlugin, Wal2jsonMustBeAllowed) {
    postgres_server postgres;
    auto session = postgres.session();
    if (session.query("SELECT FROM pg_settings WHERE name = 'output_plugin_libraries'").empty()) {
        GTEST_SKIP() << "this server allows every output plugin";
    }
    postgres.reconfigure("output_plugin_libraries = 'pgoutput, test_decoding'");
    const auto allowed = [&] {
        return postgres.session().value_of("SHOW output_plugin_libraries");
    };
    ASSERT_TRUE(
        eventually(patience, [&] { return allowed().find("wal2json") == std::string::npos; }));
    relay_bench bench(postgres, shared_nats(), "wal2json");
    bench.create_table();
    const std::string remedy =
        "ALTER SYSTEM SET output_plugin_libraries = pgoutput, test_decoding, wal2json";
    expect_refused(bench, {"wal2json", remedy});

    session.execute(remedy);
    session.execute("SELECT pg_reload_conf()");
    ASSERT_TRUE(
        eventually(patience, [&] { return allowed().find("wal2json") != std::string::npos; }));
    expect_clean(bench);
    bench.start();
    bench.execute(insert_event(1));
    bench.expect_relayed({event_id(1)});
}

TEST(SetupOfPlugin, AutoTakesPgoutputWhereWal2jsonIsNotAllowed) {
    postgres_server postgres;
    if (postgres.session()
            .query("SELECT FROM pg_settings WHERE name = 'output_plugin_libraries'")
            .empty()) {
        GTEST_SKIP() << "this server allows every output plugin";
    }
    postgres.reconfigure("output_plugin_libraries = 'pgoutput'");
    ASSERT_TRUE(eventually(patience, [&] {
        return postgres.session().value_of("SHOW output_plugin_libraries") == "pgoutput";
    }));
    relay_bench bench(postgres, shared_nats(), "auto");
    bench.create_table();
    bench.start();
    EXPECT_EQ(bench.slot("plugin"), "pgoutput");
    bench.execute(insert_event(1));
    bench.expect_relayed({event_id(1)});
}

TEST(SetupOfPlugin, AutoKeepsThePluginOfAnExistingSlot) {
    relay_bench bench(shared_postgres(), shared_nats(), "auto");
    bench.create_table();
    bench.execute("CREATE PUBLICATION " + bench.name() +
                  " FOR TABLE outbox_events WITH (publish = 'insert')");
    bench.execute("SELECT pg_create_logical_replication_slot('" + bench.name() + "', 'pgoutput')");
    bench.execute(insert_event(1));
    bench.start();
    bench.execute(insert_event(2));
    bench.expect_relayed(event_ids(1, 2));
}

class Setup : public e2e_test {};

TEST_P(Setup, CleanSetUpHasNoFindings) {
    bench.create_table();
    expect_clean(bench);
    EXPECT_EQ(bench.command({"init"}).exit_code, 0);
    expect_clean(bench);
    const auto json = bench.command({"check", "--json"});
    EXPECT_EQ(json.exit_code, 0) << json.errors;
    EXPECT_EQ(
        bench.session().query("SELECT jsonb_typeof($1::jsonb)", {json.output}).front().front(),
        "object");
}

TEST_P(Setup, StreamMustNotEndBeyondTheWal) {
    bench.create_table();
    bench.start();
    bench.execute(insert_event(1));
    ASSERT_TRUE(bench.wait_for_messages(1));
    bench.stop();
    expect_clean(bench);
    const auto first = bench.messages().front();
    auto position = first.headers.at("Walrelay-Position");
    const auto commit = position.find('.', position.find('.') + 1) + 1;
    position.replace(commit, 8, "00FFFFFF");
    bench.broker().publish(first.subject, "{}", {{"Walrelay-Position", position}});
    const auto checked = bench.command({"check"});
    EXPECT_EQ(checked.exit_code, 1) << checked.output << checked.errors;
    EXPECT_NE(checked.output.find("lies beyond the WAL of the server"), std::string::npos)
        << checked.output;
}

TEST_P(Setup, SaysThatRowsWillBeComparedWhereTheTablesHaveChanged) {
    bench.create_table();
    bench.execute("CREATE TABLE more (LIKE outbox_events INCLUDING ALL)");
    bench.set_delivery("confirm_delay = '1h'");
    bench.start();
    bench.execute(insert_event(1));
    ASSERT_TRUE(bench.wait_for_messages(1));
    bench.stop();
    if (bench.plugin() == "pgoutput") {
        bench.execute("ALTER PUBLICATION " + bench.name() + " ADD TABLE more");
    }
    bench.set_outbox(
        "[[outbox]]\ntable = 'outbox_events'\nsubject = '%.x'\n"
        "[[outbox]]\ntable = 'more'\nsubject = '%.y'");
    const auto checked = bench.command({"check"});
    EXPECT_NE(checked.output.find("because the configured tables have changed"), std::string::npos)
        << checked.output;
}

TEST_P(Setup, RoleMustHaveReplication) {
    bench.create_table();
    const auto role = bench.name() + " Role";
    bench.execute("CREATE ROLE " + as_identifier(role) +
                  " LOGIN; GRANT SELECT ON outbox_events TO " + as_identifier(role) +
                  "; GRANT CREATE ON DATABASE " + bench.database() + " TO " + as_identifier(role) +
                  "; ALTER TABLE outbox_events OWNER TO " + as_identifier(role));
    bench.set_conninfo("postgresql://" + bench.name() + "%20Role@127.0.0.1:" +
                       std::to_string(shared_postgres().port()) + "/" + bench.database());
    const auto remedy = "ALTER ROLE " + as_identifier(role) + " REPLICATION";
    expect_refused(bench, {"REPLICATION", remedy});

    bench.execute(remedy);
    expect_clean(bench);
    bench.start();
    bench.execute(insert_event(1));
    bench.expect_relayed({event_id(1)});
}

TEST_P(Setup, TableMustExist) {
    expect_refused(bench, {"public.outbox_events", "does not exist"});
    bench.create_table();
    expect_clean(bench);
}

TEST_P(Setup, ViewIsNotATable) {
    bench.execute(create_outbox_events("real_table") +
                  "CREATE VIEW outbox_events AS SELECT * FROM real_table");
    expect_refused(bench, {"public.outbox_events", "not a table"});
}

TEST_P(Setup, ColumnOfTheSubjectMustExist) {
    bench.execute("CREATE TABLE outbox_events (id int PRIMARY KEY, payload jsonb)");
    expect_refused(bench, {"aggregate_type", "public.outbox_events"});
}

TEST_P(Setup, SlotOfAnotherDatabaseIsNotTaken) {
    bench.create_table();
    const auto other = shared_postgres().fresh_database();
    shared_postgres().session(other).execute("SELECT pg_create_logical_replication_slot('" +
                                             bench.name() + "', '" + bench.plugin() + "')");
    expect_refused(bench, {"slot " + bench.name(), other});
    EXPECT_EQ(bench.command({"check"}).output.find("pg_drop_replication_slot"), std::string::npos)
        << "somebody else's";
    shared_postgres().session(other).execute("SELECT pg_drop_replication_slot('" + bench.name() +
                                             "')");
    expect_clean(bench);
}

TEST_P(Setup, StreamMustCoverTheSubject) {
    bench.create_table();
    bench.broker().create({.name = bench.name(), .subjects = {"other_" + bench.name() + ".>"}});
    expect_refused(bench, {"stream " + bench.name(), bench.name() + ".*.>"});
}

TEST_P(Setup, StreamMustCoverEverySubject) {
    bench.create_table();
    bench.broker().create({.name = bench.name(), .subjects = {bench.name() + ".order.*"}});
    expect_refused(bench, {"stream " + bench.name(), bench.name() + ".*.>",
                           "nats stream edit " + bench.name() + " --subjects="});
}

TEST_P(Setup, StreamMustKeepItsMessages) {
    bench.create_table();
    bench.broker().create(
        {.name = bench.name(), .subjects = {bench.name() + ".>"}, .keeps = retention::work_queue});
    expect_refused(bench, {"stream " + bench.name(), "limits", "name another stream"});
    EXPECT_EQ(bench.command({"check"}).output.find("nats stream rm"), std::string::npos);
}

TEST_P(Setup, MissingSlotIsNotCreatedWhereTheStreamShowsAnEarlierRun) {
    bench.create_table();
    bench.start();
    bench.execute(insert_event(1));
    ASSERT_TRUE(bench.wait_for_messages(1));
    bench.stop();
    bench.execute("SELECT pg_drop_replication_slot('" + bench.name() + "')");
    expect_refused(bench, {"slot " + bench.name(), "walrelay init --new-slot"});
    EXPECT_FALSE(bench.slot("slot_name").has_value());
}

TEST_P(Setup, StreamOfAnotherDatabaseIsNotTaken) {
    bench.create_table();
    bench.start();
    const auto mark = "walrelay slot=" + bench.name() + " database=" + bench.database();
    ASSERT_TRUE(eventually(patience, [&] {
        return bench.broker().state(bench.name())->description.starts_with(mark);
    }));
    bench.stop();
    const auto first_database = bench.database();
    const auto other = shared_postgres().fresh_database();
    shared_postgres().session(other).execute(create_outbox_events());
    bench.set_conninfo(shared_postgres().conninfo(other));
    expect_refused(bench, {"stream " + bench.name() + " is that of slot " + bench.name() +
                               " of database " + first_database,
                           "nats stream edit " + bench.name() + " --description \"walrelay slot=" +
                               bench.name() + " database=" + other});
}

TEST_P(Setup, PrintShowsWhatInitWouldDoAndChangesNothing) {
    bench.create_table();
    const auto shown = bench.command({"init", "--print"});
    EXPECT_EQ(shown.exit_code, 0) << shown.errors;
    EXPECT_TRUE(says(shown.output, {"pg_create_logical_replication_slot", bench.plugin(),
                                    "\"" + bench.name() + ".>\"", "limits"}));
    if (bench.plugin() == "pgoutput") {
        EXPECT_TRUE(says(shown.output, {"CREATE PUBLICATION"}));
    }
    EXPECT_FALSE(bench.slot("slot_name").has_value());
    EXPECT_FALSE(bench.broker().state(bench.name()).has_value());
    EXPECT_EQ(bench.session().value_of("SELECT count(*) FROM pg_publication"), "0");
}

TEST_P(Setup, WhatPrintShowsIsSqlAndMakesWhatInitMakes) {
    bench.create_table();
    const auto all = bench.command({"init", "--print"});
    const auto sql = bench.command({"init", "--print=sql"});
    ASSERT_EQ(sql.exit_code, 0) << sql.errors;
    EXPECT_TRUE(all.output.starts_with(sql.output)) << all.output;
    const auto stream = bench.command({"init", "--print=stream"}).output;
    EXPECT_TRUE(stream.starts_with("{") && stream.ends_with("}\n")) << stream;
    // The slot has to be made in a transaction of its own.
    const auto slot = all.output.find("SELECT lsn FROM pg_create_logical");
    ASSERT_NE(slot, std::string::npos) << all.output;
    const auto behind = all.output.find(";\n", slot) + 2;
    bench.session().execute(all.output.substr(0, slot));
    bench.session().execute(all.output.substr(slot, behind - slot));
    bench.session().execute(all.output.substr(behind));
    const auto init = bench.command({"init"});
    EXPECT_EQ(init.exit_code, 0) << init.errors;
    for (const std::string made : {"created slot", "created publication", "walrelay.control",
                                   "walrelay.dead_letter", "walrelay.halt"}) {
        EXPECT_FALSE(says(init.errors, {made})) << init.errors;
    }
}

TEST_P(Setup, InitCreatesEverythingAndIsHarmlessTwice) {
    bench.create_table();
    const auto first = bench.command({"init"});
    EXPECT_EQ(first.exit_code, 0) << first.errors;
    EXPECT_EQ(bench.slot("plugin"), bench.plugin());
    const auto stream = bench.broker().state(bench.name());
    ASSERT_TRUE(stream.has_value());
    EXPECT_EQ(stream->subjects, std::vector<std::string>{bench.name() + ".>"});
    EXPECT_EQ(stream->keeps, retention::limits);
    EXPECT_TRUE(stream->file_storage);
    const auto position = bench.slot("confirmed_flush_lsn");
    bench.execute(insert_event(1));

    const auto second = bench.command({"init"});
    EXPECT_EQ(second.exit_code, 0) << second.errors;
    EXPECT_EQ(bench.slot("confirmed_flush_lsn"), position);
    bench.start();
    bench.execute(insert_event(2));
    bench.expect_relayed(event_ids(1, 2));
}

TEST_P(Setup, InitMakesNoSlotAfterAnEarlierRun) {
    bench.create_table();
    bench.start();
    bench.execute(insert_events(1, 3));
    ASSERT_TRUE(bench.wait_for_messages(3));
    bench.stop();
    bench.execute("SELECT pg_drop_replication_slot('" + bench.name() + "')");
    bench.execute("DROP PUBLICATION IF EXISTS " + as_identifier(bench.name()));

    const auto refused = bench.command({"init"});
    EXPECT_EQ(refused.exit_code, 3) << refused.errors;
    EXPECT_TRUE(says(refused.errors, {"shows an earlier run", "init --new-slot"}));
    EXPECT_FALSE(bench.slot("slot_name").has_value());
    EXPECT_EQ(bench.session().value_of("SELECT count(*) FROM pg_publication"), "0");

    EXPECT_EQ(bench.command({"init", "--new-slot"}).exit_code, 0);
    EXPECT_EQ(bench.slot("plugin"), bench.plugin());
}

TEST_P(Setup, RoleThatMayNotPublishTheTableLeavesNothingBehind) {
    if (bench.plugin() != "pgoutput") {
        GTEST_SKIP() << "needs no publication";
    }
    bench.create_table();
    const auto role = "publishes_nothing_of_" + bench.database();
    bench.execute("CREATE ROLE " + role + " LOGIN REPLICATION");
    bench.set_conninfo(bench.conninfo() + " user=" + role);
    for (const auto* const each : {"run", "init"}) {
        const auto refused = bench.command({each});
        EXPECT_EQ(refused.exit_code, 3) << refused.errors;
        EXPECT_TRUE(says(refused.errors, {"publication", role}));
        EXPECT_EQ(what_is_made(bench), "") << each;
    }
}

TEST_P(Setup, FailoverNeedsAServerThatHasIt) {
    bench.create_table();
    if (std::stoi(bench.session().value_of("SHOW server_version_num")) >= 170'000) {
        GTEST_SKIP() << "this server has failover slots";
    }
    bench.set_postgres("failover = 'true'");
    expect_refused(bench, {"postgres.failover", "needs PostgreSQL 17"});
}

TEST_P(Setup, InitMakesNoTableOfDeadLettersWherePoisonHalts) {
    bench.create_table();
    bench.set_delivery("on_poison = 'halt'");
    EXPECT_EQ(bench.command({"init", "--print"}).output.find("walrelay.dead_letter ("),
              std::string::npos);
    ASSERT_EQ(bench.command({"init"}).exit_code, 0);
    EXPECT_EQ(bench.session().value_of("SELECT count(*) FROM pg_class WHERE relname = "
                                       "'dead_letter'"),
              "0");
}

TEST_P(Setup, WhatPrintShowsIsWhatInitDoes) {
    bench.create_table();
    const auto shown = bench.command({"init", "--print"}).output;
    temporary_folder folder("printed");
    const auto file = folder.path() / "init.sql";
    std::ofstream(file) << shown.substr(0, shown.find("\n# "));
    run_to_success({.program = postgres_binary_folder() / "psql",
                    .arguments = {"--no-psqlrc", "--set=ON_ERROR_STOP=1", "--file=" + file.string(),
                                  shared_postgres().conninfo(bench.database())},
                    .folder = folder.path()},
                   30s);
    bench.execute(insert_event(1));
    bench.start();
    bench.execute(insert_event(2));
    bench.expect_relayed(event_ids(1, 2));
}

TEST(SetupOfPublication, PublicationYoungerThanTheSlotIsRefused) {
    relay_bench bench(shared_postgres(), shared_nats(), "pgoutput");
    bench.create_table();
    bench.execute("SELECT pg_create_logical_replication_slot('" + bench.name() + "', 'pgoutput')");
    bench.execute(insert_event(1));
    bench.execute("CREATE PUBLICATION " + bench.name() + " FOR TABLE outbox_events");
    expect_refused(bench, {"publication " + bench.name(), "pg_drop_replication_slot"});
}

TEST(SetupOfPublication, PublicationWithoutTheTableIsRefused) {
    relay_bench bench(shared_postgres(), shared_nats(), "pgoutput");
    bench.create_table();
    bench.execute("CREATE PUBLICATION " + bench.name());
    expect_refused(bench, {"publication " + bench.name(), "ADD TABLE"});
    bench.execute("ALTER PUBLICATION " + bench.name() + " ADD TABLE outbox_events");
    expect_clean(bench);
}

TEST(SetupOfPublication, PublicationWithoutInsertsIsRefused) {
    relay_bench bench(shared_postgres(), shared_nats(), "pgoutput");
    bench.create_table();
    bench.execute("CREATE PUBLICATION " + bench.name() +
                  " FOR TABLE outbox_events WITH (publish = 'update')");
    expect_refused(bench, {"publication " + bench.name(), "SET (publish = 'insert')"});
}

INSTANTIATE_TEST_SUITE_P(, SetupOfServer, both_plugins(), plugin_name);
INSTANTIATE_TEST_SUITE_P(, Setup, both_plugins(), plugin_name);

}  // namespace
}  // namespace walrelay::test
