// Which source wins, what the defaults are, what a missing setting is told as.
#include "config/load.hpp"

#include "unit/config/loading.hpp"

namespace walrelay::config {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Load, NeedsNoFile) {
    const auto loaded = must_load({std::nullopt, "", {}, essential_flags});
    EXPECT_EQ(loaded.postgres.conninfo, "dbname=app");
    ASSERT_EQ(loaded.outbox.size(), 1U);
    EXPECT_EQ(loaded.outbox[0].table, (table_name{"public", "events"}));
}

TEST(Load, KeepsDefaultsOfWhatNobodySets) {
    const auto loaded = must_load(from_file(essentials));
    const settings defaults;
    EXPECT_EQ(loaded.postgres.slot, defaults.postgres.slot);
    EXPECT_EQ(loaded.nats.urls, defaults.nats.urls);
    EXPECT_EQ(loaded.delivery.ack_timeout, defaults.delivery.ack_timeout);
    EXPECT_EQ(loaded.outbox[0].subject, outbox_table{}.subject);
}

TEST(Load, LetsTheFileWinOverDefaults) {
    EXPECT_EQ(must_load_beside_essentials("[nats]\nstream = \"FILE\"\n").nats.stream, "FILE");
}

TEST(Load, LetsTheEnvironmentWinOverTheFile) {
    auto from = from_file(essentials + "[nats]\nstream = \"FILE\"\n");
    from.variables = {{"WALRELAY_NATS_STREAM", "VARIABLE"}};
    EXPECT_EQ(must_load(from).nats.stream, "VARIABLE");
}

TEST(Load, LetsFlagsWinOverTheEnvironment) {
    auto from = from_file(essentials);
    from.variables = {{"WALRELAY_NATS_STREAM", "VARIABLE"}};
    from.flags = {{"nats.stream", "FLAG"}};
    EXPECT_EQ(must_load(from).nats.stream, "FLAG");
}

TEST(Load, ReadsEveryAvailableKeyOfTheFile) {
    const auto loaded = must_load_beside_essentials(
        "body = \"cloudevents\"\nmessage_id = \"{version}\"\nsubject = \"a.{id}\"\n"
        "[nats]\nurls = [\"tls://a:1\", \"nats://b:2\"]\nsubjects = [\"a.>\", \"b.*\"]\n"
        "replicas = 3\ntls.ca = \"ca\"\ntls.cert = \"cert\"\ntls.key = \"key\"\n"
        "user = \"me\"\npassword_file = \"secret\"\n"
        "[delivery]\nwindow_messages = 1\nwindow_bytes = \"1GiB\"\nack_timeout = \"100ms\"\n"
        "backoff_initial = \"1s\"\nbackoff_max = \"1m\"\n"
        "[log]\nlevel = \"trace\"\nformat = \"json\"\n");
    EXPECT_EQ(loaded.outbox[0].body, body_format::cloudevents);
    EXPECT_EQ(loaded.outbox[0].message_id, "{version}");
    EXPECT_EQ(loaded.outbox[0].subject, "a.{id}");
    EXPECT_THAT(loaded.nats.urls, ElementsAre("tls://a:1", "nats://b:2"));
    EXPECT_THAT(loaded.nats.subjects, ElementsAre("a.>", "b.*"));
    EXPECT_EQ(loaded.nats.replicas, 3);
    EXPECT_EQ(loaded.nats.tls.ca + loaded.nats.tls.cert + loaded.nats.tls.key, "cacertkey");
    EXPECT_EQ(loaded.nats.user + loaded.nats.password_file, "mesecret");
    EXPECT_EQ(loaded.delivery.window_messages, 1U);
    EXPECT_EQ(loaded.delivery.window_bytes, byte_size{1ULL << 30U});
    EXPECT_EQ(loaded.delivery.ack_timeout, std::chrono::milliseconds(100));
    EXPECT_EQ(loaded.delivery.backoff_initial, std::chrono::seconds(1));
    EXPECT_EQ(loaded.delivery.backoff_max, std::chrono::minutes(1));
    EXPECT_EQ(loaded.log.level, log_level::trace);
    EXPECT_EQ(loaded.log.format, log_format::json);
}

TEST(Load, ReadsFilesThatNameOneSecretEach) {
    EXPECT_EQ(must_load_beside_essentials("[nats]\ncredentials = \"f\"\n").nats.credentials, "f");
    EXPECT_EQ(must_load_beside_essentials("[nats]\nnkey_seed = \"f\"\n").nats.nkey_seed, "f");
    EXPECT_EQ(must_load_beside_essentials("[nats]\ntoken_file = \"f\"\n").nats.token_file, "f");
}

TEST(Load, TakesThePluginFromTheSlotUnlessItIsNamed) {
    const auto plugin = [](const std::string& name) {
        return must_load({std::nullopt, "", {{"WALRELAY_POSTGRES_PLUGIN", name}}, essential_flags})
            .postgres.plugin;
    };
    EXPECT_EQ(plugin("auto"), std::nullopt);
    EXPECT_EQ(plugin("wal2json"), output_plugin::wal2json);
    EXPECT_EQ(plugin("pgoutput"), output_plugin::pgoutput);
}

TEST(Load, SaysHowToSetWhatIsRequired) {
    EXPECT_THAT(problems_of(from_file("")),
                ElementsAre("walrelay.toml: postgres.conninfo: is not set; fix: start with "
                            "--postgres \"host=... dbname=... user=...\", or write in the file: "
                            "[postgres] conninfo = \"host=... dbname=... user=...\"",
                            "walrelay.toml: outbox: no table is named; fix: start with "
                            "--table public.outbox_events, or write in the file: "
                            "[[outbox]] table = \"public.outbox_events\""));
}

TEST(Load, NamesNoFileWhereThereIsNone) {
    const auto loaded = load({std::nullopt, "walrelay.toml", {}, {}});
    ASSERT_TRUE(loaded.has_error());
    EXPECT_EQ(loaded.error()[0].where, "");
}

TEST(Load, ReportsTheProblemsOfAllSourcesAtOnceInTheirOrder) {
    auto from = from_file("[nats]\nreplicas = 9\nstraem = \"A\"\n");
    from.variables = {{"WALRELAY_LOG_LEVEL", "loud"}};
    from.flags = {{"postgres.slot", "No"}, {"outbox.table", "events"}};
    const auto loaded = load(from);
    ASSERT_TRUE(loaded.has_error());
    std::vector<std::string> keys;
    for (const problem& found : loaded.error()) {
        keys.push_back(found.where + " " + found.key);
    }
    EXPECT_THAT(keys, ElementsAre("walrelay.toml:2 nats.replicas", "walrelay.toml:3 nats.straem",
                                  "WALRELAY_LOG_LEVEL log.level", "--slot postgres.slot",
                                  "walrelay.toml postgres.conninfo"));
}

TEST(Load, TellsAProblemOnceWhereTheWrongValueWasReplacedByARightOne) {
    auto from = from_file(essentials + "[nats]\nreplicas = 9\n");
    from.flags = {{"nats.replicas", "3"}};
    EXPECT_THAT(problems_of(from),
                ElementsAre("walrelay.toml:6: nats.replicas: 9 is out of range; fix: write "
                            "a whole number from 1 to 5"));
}

TEST(Load, DoesNotCallMissingWhatCouldNotBeRead) {
    EXPECT_THAT(problems_of(from_file("[postgres]\nconninfo = 5\n[[outbox]]\ntable = 5\n")),
                ElementsAre("walrelay.toml:2: postgres.conninfo: expected a string, found an "
                            "integer; fix: write it in quotes",
                            "walrelay.toml:4: outbox.table: expected a string, found an integer; "
                            "fix: write it in quotes"));
}

TEST(Load, NeverQuotesWhatMayHoldAPassword) {
    const std::string secret = "s3cret";
    const std::vector<std::string> texts = {
        "[postgres]\nconninfo = [\"password=s3cret\"]\n",
        "[postgres]\nconninfo = \"password=s3cret\" s3cret\n",
        "[postgres]\nconninfo = password=s3cret\n",
        "[postgres]\nconninfo = \"password=s3cret\n",
        "[postgres]\nconninfo = \"password=s3cret\\u0000\"\n",
        "[postgres]\nconninfo = \"\\s3cret\"\n",
        "[postgres]\npassword = \"s3cret\"\n",
        "[nats]\nurls = [\"user:s3cret@host\"]\n",
        "[nats]\nurls = [\"nats://user:s3cret@ho st\"]\n",
        "[nats]\ntoken = \"s3cret\"\n",
    };
    for (const std::string& text : texts) {
        const auto lines = problems_of(from_file(text));
        EXPECT_THAT(lines, testing::Not(IsEmpty())) << text;
        for (const std::string& line : lines) {
            EXPECT_EQ(line.find(secret), std::string::npos) << line;
        }
    }
}

TEST(Load, NeverQuotesAVariableThatMayHoldAPassword) {
    const auto lines = problems_of(from_variables({{"WALRELAY_NATS_URLS", "user:s3cret@host"},
                                                   {"WALRELAY_NATS_PASSWORD", "s3cret"},
                                                   {"WALRELAY_OUTBOX_HEADERS", "s3cret"}}));
    EXPECT_EQ(lines.size(), 3U);
    for (const std::string& line : lines) {
        EXPECT_EQ(line.find("s3cret"), std::string::npos) << line;
    }
}

TEST(Problem, LeavesOutWhatIsEmpty) {
    EXPECT_EQ(to_string(problem{"", "a.b", "is not set", ""}), "a.b: is not set");
    EXPECT_EQ(to_string(problem{"VARIABLE", "", "is not the name of a setting", "unset it"}),
              "VARIABLE: is not the name of a setting; fix: unset it");
}

}  // namespace
}  // namespace walrelay::config
