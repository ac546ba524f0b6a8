// The program as its users call it: flags, environment, file, and what it says when they are wrong.
#include "integration/e2e/relay_bench.hpp"
#include "support/eventually.hpp"

#include <fstream>

namespace walrelay::test {
namespace {

class CommandLine : public testing::Test {
protected:
    finished_run run(const std::vector<std::string>& arguments,
                     const std::map<std::string, std::string>& environment = {}) {
        return run_to_end({.program = WALRELAY_BINARY,
                           .arguments = arguments,
                           .folder = folder_.path(),
                           .environment = environment,
                           .name = "command" + std::to_string(++runs_)},
                          patience);
    }

    std::string write_file(const std::string& text) {
        const auto file = folder_.path() / "settings.toml";
        std::ofstream(file) << text;
        return file.string();
    }

    [[nodiscard]] const std::filesystem::path& folder() const { return folder_.path(); }

    static bool contains(const std::string& text, const std::string& part) {
        return text.find(part) != std::string::npos;
    }

private:
    temporary_folder folder_{"command"};
    int runs_ = 0;
};

TEST_F(CommandLine, VersionIsOneLine) {
    const auto version = run({"version"});
    EXPECT_EQ(version.exit_code, 0);
    EXPECT_EQ(version.output, "walrelay " WALRELAY_VERSION "\n");
    EXPECT_EQ(version.errors, "");
}

TEST_F(CommandLine, VersionAsJsonSaysWhatWasBuiltAndWhatItCanDo) {
    const auto version = run({"version", "--json"});
    EXPECT_EQ(version.exit_code, 0) << version.errors;
    EXPECT_THAT(version.output,
                testing::MatchesRegex("\\{\"version\": \"" WALRELAY_VERSION
                                      "\", \"commit\": (\"[0-9a-f]+(-changed)?\"|null), "
                                      "\"features\": \\{.*\\}\\}\n"));
    EXPECT_TRUE(contains(version.output, R"("plugins": ["wal2json", "pgoutput"])"));
    EXPECT_TRUE(contains(version.output, R"("bodies": ["event", "payload", "cloudevents", )"));
}

TEST_F(CommandLine, HelpNamesEveryCommandAndExitsWithZero) {
    const auto help = run({"--help"});
    EXPECT_EQ(help.exit_code, 0);
    for (const std::string command :
         {"run", "init", "check", "verify", "bookmark", "dead-letter", "config", "version"}) {
        EXPECT_TRUE(contains(help.output, command)) << help.output;
    }
}

TEST_F(CommandLine, WrongUsageExitsWithTwo) {
    EXPECT_EQ(run({}).exit_code, 2);
    EXPECT_EQ(run({"fly"}).exit_code, 2);
    const auto unknown = run({"run", "--tabel", "x"});
    EXPECT_EQ(unknown.exit_code, 2);
    EXPECT_TRUE(contains(unknown.errors, "--tabel")) << unknown.errors;
}

TEST_F(CommandLine, MissingFileIsNamed) {
    const auto missing = run({"check", "--config", "not-there.toml"});
    EXPECT_EQ(missing.exit_code, 2);
    EXPECT_TRUE(contains(missing.errors, "not-there.toml")) << missing.errors;
}

TEST_F(CommandLine, EveryErrorOfTheConfigurationIsSaidAtOnceWithKeyAndLine) {
    const auto file = write_file(R"([postgres]
conninfo = "host=127.0.0.1"
slott = "x"
[nats]
replicas = "three"
[delivery]
ack_timeout = "5 parsecs"
[[outbox]]
table = "a.b.c.d"
body = "xml"
)");
    for (const std::string command : {"run", "check", "init"}) {
        const auto wrong = run({command, "--config", file});
        EXPECT_EQ(wrong.exit_code, 2);
        for (const std::string part :
             {":3", "slott", ":5", "replicas", ":7", "ack_timeout", "5 parsecs", ":9", "a.b.c.d",
              ":10", "body", "cloudevents"}) {
            EXPECT_TRUE(contains(wrong.errors, part)) << part << " in:\n" << wrong.errors;
        }
    }
}

TEST_F(CommandLine, AnAddressToAnswerAtIsNoNameOfAHost) {
    const auto file = write_file(R"([postgres]
conninfo = "host=127.0.0.1"
[[outbox]]
table = "outbox_events"
)");
    const auto refused =
        run({"run", "--config", file}, {{"WALRELAY_HTTP_LISTEN", "localhost:8460"}});
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_TRUE(contains(refused.errors, "http.listen")) << refused.errors;
}

TEST_F(CommandLine, BadConnectionStringIsAnErrorOfTheConfiguration) {
    for (const std::string command : {"run", "check", "init"}) {
        const auto bad = run({command, "--postgres", "hots=127.0.0.1", "--nats",
                              shared_nats().url(), "--table", "outbox_events"});
        EXPECT_EQ(bad.exit_code, 2) << bad.output << bad.errors;
        EXPECT_TRUE(contains(bad.errors, "postgres.conninfo")) << bad.output << bad.errors;
    }
}

TEST_F(CommandLine, CheckOfServersThatAreNotThereSaysSo) {
    const auto refused = run({"check", "--postgres", "host=127.0.0.1 port=1 user=x dbname=x",
                              "--nats", "nats://127.0.0.1:1", "--table", "outbox_events"});
    EXPECT_EQ(refused.exit_code, 1) << refused.output << refused.errors;
    EXPECT_TRUE(contains(refused.output, "PostgreSQL")) << refused.output;
    EXPECT_TRUE(contains(refused.output, "nats://127.0.0.1:1")) << refused.output;
}

TEST_F(CommandLine, WrongPasswordOfTheBrokerIsSaid) {
    nats_server broker({.settings = {"authorization { user: relay, password: secret }"}});
    const auto database = shared_postgres().fresh_database();
    const auto refused = run({"check", "--postgres", shared_postgres().conninfo(database), "--nats",
                              broker.url(), "--table", "outbox_events"});
    EXPECT_EQ(refused.exit_code, 1);
    EXPECT_TRUE(contains(refused.output, "uthori")) << refused.output;
}

/// What the configuration is not asked, because the server is.
TEST_F(CommandLine, SqlThatMeansNothingIsNamedByTheStartupCheck) {
    const auto database = shared_postgres().fresh_database();
    shared_postgres().session(database).execute(create_outbox_events());
    const std::map<std::string, std::vector<std::string>> wrong{
        {"outbox.on_published", {"published", "SET status = 'published'", "  "}},
        {"outbox.on_dead_letter", {"dead", "SET status = 'dead'", "  "}},
        {"outbox.pending", {"WHERE status = 'pending'", "  ", "nothing_of_this_name"}}};
    for (const auto& [key, texts] : wrong) {
        for (const std::string& text : texts) {
            const auto own = key.substr(key.find('.') + 1) + " = \"" + text + "\"\n";
            const auto file = write_file(
                "[nats]\nurls = [\"" + shared_nats().url() + "\"]\n[postgres]\nconninfo = \"" +
                shared_postgres().conninfo(database) +
                "\"\n[[outbox]]\ntable = \"outbox_events\"\n" + own +
                (key == "outbox.pending" ? "on_published = \"status = 'published'\"\n" : ""));
            const auto checked = run({"check", "--config", file});
            EXPECT_EQ(checked.exit_code, 1) << own << checked.errors;
            EXPECT_TRUE(contains(checked.output, key)) << own << checked.output;
        }
    }
}

/// `walrelay config` asks nobody without --table.
TEST_F(CommandLine, ConfigPrintsAFileThatPassesTheCheckOnceTheEssentialsAreSet) {
    const auto printed = run({"config", "--postgres", "dbname=app", "--slot", "orders"});
    EXPECT_EQ(printed.exit_code, 0) << printed.errors;
    EXPECT_TRUE(contains(printed.output, "\nconninfo = \"dbname=app\"\n")) << printed.output;
    EXPECT_TRUE(contains(printed.output, "\nslot = \"orders\"\n")) << printed.output;
    EXPECT_TRUE(contains(printed.output, "\n#window_bytes = \"32MiB\"\n")) << printed.output;
    const auto file = write_file(printed.output);
    const auto lacking = run({"config", "--check", "--config", file});
    EXPECT_EQ(lacking.exit_code, 2);
    EXPECT_TRUE(contains(lacking.errors, "outbox.table: is not set")) << lacking.errors;
    const auto checked = run({"config", "--check", "--config", file, "--table", "events"});
    EXPECT_EQ(checked.exit_code, 0) << checked.errors;
    EXPECT_TRUE(contains(checked.output, "read " + file + "\n")) << checked.output;
}

TEST_F(CommandLine, ConfigCheckNamesTheFileThatIsFoundByItself) {
    std::ofstream(folder() / "walrelay.toml")
        << "[postgres]\nconninfo = \"dbname=app\"\n[[outbox]]\ntable = \"a.b\"\n";
    const auto checked = run({"config", "--check"});
    EXPECT_EQ(checked.exit_code, 0) << checked.errors;
    EXPECT_TRUE(contains(checked.output, "read ./walrelay.toml\n")) << checked.output;
    const auto printed = run({"config"});
    EXPECT_FALSE(contains(printed.output, "a.b")) << "the file that is there is not printed again";
}

TEST_F(CommandLine, ConfigRefusesFlagsThatNoFileMayHold) {
    const auto refused = run({"config", "--slot", "No Slot"});
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_TRUE(contains(refused.errors, "--slot: postgres.slot")) << refused.errors;
    EXPECT_EQ(refused.output, "");
    const auto ignored = run({"config", "--config", write_file("[nats]\n")});
    EXPECT_EQ(ignored.exit_code, 2) << "a file would not be printed again";
    EXPECT_TRUE(contains(ignored.errors, "--check")) << ignored.errors;
    const auto missing = run({"config", "--check", "--config", "not-there.toml"});
    EXPECT_EQ(missing.exit_code, 2);
    EXPECT_FALSE(contains(missing.errors, "no file was read")) << missing.errors;
}

TEST_F(CommandLine, ConfigNamesATableThatIsNotThere) {
    const auto database = shared_postgres().fresh_database();
    const auto missing = run({"config", "--postgres", shared_postgres().conninfo(database),
                              "--table", "nowhere.events"});
    EXPECT_EQ(missing.exit_code, 1);
    EXPECT_TRUE(contains(missing.errors, "table nowhere.events is not in the database"))
        << missing.errors;
    const auto unreachable =
        run({"config", "--postgres", "host=127.0.0.1 port=1 user=x dbname=x", "--table", "events"});
    EXPECT_EQ(unreachable.exit_code, 1);
    EXPECT_TRUE(contains(unreachable.errors, "PostgreSQL cannot be reached")) << unreachable.errors;
}

/// No configuration file: flags, or the environment, and the defaults for all the rest.
class FlagsAlone : public testing::TestWithParam<const char*> {
protected:
    FlagsAlone() : database_(postgres_.fresh_database()) {
        postgres_.session(database_).execute(create_outbox_events());
    }

    void expect_relayed_by(const relay_start& how) {
        relay_process relay(how);
        auto session = postgres_.session(database_);
        ASSERT_TRUE(eventually(patience, [&] {
            return session
                       .query(
                           "SELECT FROM pg_stat_replication JOIN pg_replication_slots ON pid ="
                           " active_pid WHERE slot_name = 'walrelay' AND state <> 'startup'")
                       .size() == 1;
        })) << relay.log();
        session.execute(insert_events(1, 100));
        stream_reader reader(broker_.url());
        EXPECT_TRUE(reader.wait_for("OUTBOX", 100, patience)) << relay.log();
        EXPECT_EQ(relay.stop(patience), 0);
        std::vector<seen_event> events;
        for (const auto& message : reader.read("OUTBOX")) {
            EXPECT_EQ(message.subject, "events.order.placed");
            events.push_back(seen(message));
        }
        EXPECT_TRUE(exactly_once_in_order(event_ids(1, 100), events));
    }

    temporary_folder folder_{"flags"};
    postgres_server postgres_;
    nats_server broker_;
    std::string database_;
};

TEST_P(FlagsAlone, AreEnough) {
    expect_relayed_by(
        {.program = WALRELAY_BINARY,
         .arguments = {"run", "--postgres", postgres_.conninfo(database_), "--nats", broker_.url(),
                       "--table", "public.outbox_events", "--plugin", GetParam()},
         .folder = folder_.path()});
}

TEST_P(FlagsAlone, OrTheEnvironmentAlone) {
    expect_relayed_by({.program = WALRELAY_BINARY,
                       .arguments = {"run"},
                       .folder = folder_.path(),
                       .environment = {{"WALRELAY_POSTGRES_CONNINFO", "dbname=" + database_},
                                       {"PGHOST", "127.0.0.1"},
                                       {"PGPORT", std::to_string(postgres_.port())},
                                       {"PGUSER", "postgres"},
                                       {"WALRELAY_POSTGRES_PLUGIN", GetParam()},
                                       {"WALRELAY_NATS_URLS", broker_.url()},
                                       {"WALRELAY_OUTBOX_TABLE", "outbox_events"}}});
}

TEST_P(FlagsAlone, OverTheUnixSocket) {
    expect_relayed_by(
        {.program = WALRELAY_BINARY,
         .arguments = {"run", "--postgres", postgres_.socket_conninfo(database_), "--nats",
                       broker_.url(), "--table", "outbox_events", "--plugin", GetParam()},
         .folder = folder_.path()});
}

INSTANTIATE_TEST_SUITE_P(, FlagsAlone, both_plugins(), plugin_name);

}  // namespace
}  // namespace walrelay::test
