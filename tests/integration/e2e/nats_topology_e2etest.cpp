// NATS as people run it: a cluster of which one server is configured, a leaf node whose hub has the
// stream, a context of the nats command, accounts with limits, streams of another use.
#include "integration/e2e/background_writer.hpp"
#include "integration/e2e/relay_bench.hpp"
#include "support/eventually.hpp"
#include "support/free_port.hpp"
#include "support/nats_cluster.hpp"
#include "support/stream_follower.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <regex>

namespace walrelay::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(Discovery, GoesOnWithTheOtherServersOfTheCluster) {
    nats_cluster cluster;
    relay_bench bench(shared_postgres(), cluster.server(0), "pgoutput");
    bench.create_table();
    bench.set_nats("replicas = 3\n");
    bench.start();
    bench.execute(insert_events(1, 50));
    ASSERT_TRUE(bench.confirms_messages(50));
    cluster.server(0).kill_9();
    bench.execute(insert_events(51, 100));
    stream_reader others(cluster.server(1).url() + "," + cluster.server(2).url());
    ASSERT_TRUE(others.wait_for(bench.stream_name(), 100, patience)) << cluster.log();
    std::vector<seen_event> events;
    others.for_each(bench.stream_name(), 0,
                    [&](const stored_message& message) { events.push_back(seen(message)); });
    EXPECT_TRUE(exactly_once_in_order(bench.committed_ids(), events));
    bench.stop();
}

/// The name of the server that leads the stream; empty while there is none, and so nobody answers.
std::string leader_of(stream_reader& reader, const std::string& stream) {
    try {
        const auto now = reader.state(stream);
        return now ? now->leader : std::string{};
    } catch (const std::runtime_error&) {
        return {};
    }
}

TEST(LeaderOfTheStream, IsFollowedWhileNothingIsOnItsWay) {
    nats_cluster cluster;
    relay_bench bench(shared_postgres(), cluster.server(0), "pgoutput");
    bench.create_table();
    bench.set_nats("replicas = 3\n");
    bench.start();
    bench.execute(insert_events(1, 50));
    ASSERT_TRUE(bench.confirms_messages(50));
    stream_reader all(cluster.urls());
    // Where it is at the beginning is left to chance: at one of these it must change.
    for (std::size_t moves = 0; moves < nats_cluster::size; ++moves) {
        std::string before;
        ASSERT_TRUE(eventually(
            patience, [&] { return !(before = leader_of(all, bench.stream_name())).empty(); }));
        all.step_down(bench.stream_name());
        std::string name;
        ASSERT_TRUE(eventually(patience, [&] {
            name = leader_of(all, bench.stream_name());
            return !name.empty() && name != before;
        }));
        const auto says = "server " + name + " leads stream " + bench.stream_name() + " now";
        if (eventually(20s, [&] { return bench.relay().log().find(says) != std::string::npos; })) {
            break;
        }
        ASSERT_LT(moves + 1, nats_cluster::size) << "it has not gone over to any leader";
    }
    bench.execute(insert_events(51, 100));
    bench.expect_relayed(bench.committed_ids());
}

TEST(LameDuck, ServersGoOneAfterTheOther) {
    nats_cluster cluster({}, {"lame_duck_duration: \"30s\"", "lame_duck_grace_period: \"100ms\""});
    relay_bench bench(shared_postgres(), cluster.server(0), "pgoutput");
    bench.create_table();
    bench.set_nats("replicas = 3\n");
    bench.start();
    stream_reader all(cluster.urls());
    background_writer writer(bench.conninfo());
    for (std::size_t index = 0; index < nats_cluster::size; ++index) {
        const auto before = all.message_count(bench.stream_name());
        ASSERT_TRUE(all.wait_for(bench.stream_name(), before + 100, patience)) << cluster.log();
        cluster.server(index).retire();
        EXPECT_THAT(cluster.server(index).log(), HasSubstr("Entering lame duck mode"));
        cluster.server(index).start();
    }
    writer.stop();
    bench.expect_relayed(bench.committed_ids());
}

/// A hub that has the stream, and a leaf node with a JetStream of its own that walrelay connects
/// to.
class LeafNode : public testing::Test {
protected:
    [[nodiscard]] static std::string leaf_settings(const std::string& hub_account) {
        return "leafnodes { remotes: [ { url: \"nats-leaf://" + hub_account +
               "127.0.0.1:" + std::to_string(port()) + "\" } ] }";
    }
    [[nodiscard]] static std::uint16_t port() {
        static const std::uint16_t chosen = free_port();
        return chosen;
    }

    nats_server hub{{.jetstream_settings = "domain: hub",
                     .settings = {"server_name: hub", "leafnodes { listen: \"127.0.0.1:" +
                                                          std::to_string(port()) + "\" }"}}};
    nats_server leaf{{.jetstream_settings = "domain: leaf",
                      .settings = {"server_name: leaf", leaf_settings("")}}};
    relay_bench bench{shared_postgres(), leaf, "pgoutput"};
    stream_reader at_the_hub{hub.url()};
};

TEST_F(LeafNode, PublishesIntoTheStreamOfTheHub) {
    bench.create_table();
    bench.set_nats("domain = 'hub'\n");
    bench.set_outbox(
        "[[outbox]]\ntable = 'public.outbox_events'\nsubject = '%.{event_type}'\n"
        "delete_after = '0s'\n");
    bench.start();
    bench.execute(insert_events(1, 200));
    ASSERT_TRUE(at_the_hub.wait_for(bench.stream_name(), 200, patience)) << leaf.log();
    EXPECT_FALSE(bench.broker().state(bench.stream_name())) << "a stream of the leaf node's own";
    // Consumer, acks and deletions of the clean-up go the same way.
    EXPECT_TRUE(eventually(patience, [&] {
        return bench.session().query("SELECT count(*) FROM outbox_events", {}).front().front() ==
               "0";
    }));
    bench.kill_9();
    bench.execute(insert_events(201, 300));
    bench.start();
    ASSERT_TRUE(at_the_hub.wait_for(bench.stream_name(), 300, patience));
    const auto check = bench.command({"check"});
    EXPECT_EQ(check.exit_code, 0) << check.output << check.errors;
    bench.stop();
    EXPECT_EQ(at_the_hub.message_count(bench.stream_name()), 300U);
}

TEST_F(LeafNode, VerifiesAndFindsWhatTheHubHas) {
    bench.create_table();
    bench.set_nats("api_prefix = '$JS.hub.API'\n");
    bench.start();
    bench.execute(insert_events(1, 20));
    ASSERT_TRUE(at_the_hub.wait_for(bench.stream_name(), 20, patience)) << leaf.log();
    const auto verified = bench.command({"verify"});
    EXPECT_EQ(verified.exit_code, 0) << verified.output << verified.errors;
    bench.stop();
}

/// Commands of the program with the files of a user of the nats command.
class UsersOfTheNatsCommand : public testing::Test {
protected:
    finished_run check(std::map<std::string, std::string> environment,
                       const std::vector<std::string>& more = {}) {
        environment.try_emplace("XDG_CONFIG_HOME", folder.path().string());
        std::vector<std::string> words{"check", "--postgres", bench.conninfo(), "--table",
                                       "public.outbox_events"};
        words.insert(words.end(), more.begin(), more.end());
        return run_to_end({.program = WALRELAY_BINARY,
                           .arguments = words,
                           .folder = folder.path(),
                           .environment = std::move(environment),
                           .name = "check" + std::to_string(++runs)},
                          patience);
    }
    void write_context(const std::string& name, const std::string& json) {
        const auto contexts = folder.path() / "nats" / "context";
        std::filesystem::create_directories(contexts);
        const auto file = contexts / (name + ".json");
        std::ofstream(file) << json;
        std::filesystem::permissions(file, std::filesystem::perms::owner_read);
    }

    nats_server broker{{.settings = {"authorization { user: me, password: s3cret }"}}};
    relay_bench bench{shared_postgres(), broker, "pgoutput"};
    temporary_folder folder{"contexts"};
    int runs = 0;
};

TEST_F(UsersOfTheNatsCommand, NameAContext) {
    bench.create_table();
    write_context("prod",
                  R"({"url": ")" + broker.url() + R"(", "user": "me", "password": "s3cret"})");
    const auto found =
        check({{"WALRELAY_NATS_CONTEXT", "prod"}, {"NATS_URL", "nats://127.0.0.1:1"}});
    EXPECT_EQ(found.exit_code, 0) << found.output << found.errors;
    const auto missing = check({{"WALRELAY_NATS_CONTEXT", "prdo"}});
    EXPECT_EQ(missing.exit_code, 2);
    EXPECT_THAT(missing.errors,
                AllOf(HasSubstr("WALRELAY_NATS_CONTEXT: nats.context: context prdo cannot be read"),
                      HasSubstr((folder.path() / "nats/context/prdo.json").string()),
                      HasSubstr("fix: write prod")));
    write_context("wrong",
                  R"({"url": ")" + broker.url() + R"(", "user": "me", "password": "0ther"})");
    const auto refused = check({{"WALRELAY_NATS_CONTEXT", "wrong"}});
    EXPECT_EQ(refused.exit_code, 1);
    EXPECT_THAT(refused.output + refused.errors,
                AllOf(HasSubstr("refuses the log-in"), Not(HasSubstr("0ther"))));
}

TEST_F(UsersOfTheNatsCommand, SetNatsUrl) {
    bench.create_table();
    const auto name = "127.0.0.1:" + std::to_string(broker.port());
    const auto found = check({{"NATS_URL", "nats://127.0.0.1:1,nats://me:s3cret@" + name}});
    EXPECT_EQ(found.exit_code, 0) << found.output << found.errors;
    const auto flag =
        check({{"NATS_URL", "nats://me:s3cret@" + name}}, {"--nats", "nats://127.0.0.1:1"});
    EXPECT_EQ(flag.exit_code, 1);
    EXPECT_THAT(flag.output + flag.errors, Not(HasSubstr("s3cret")));
}

TEST(LimitedAccount, IsKnownBeforeTheStreamIsMade) {
    nats_server broker({.settings = {"accounts { A { jetstream: { max_streams: 1, "
                                     "max_bytes_required: true }, users: [ { user: a, password: "
                                     "a } ] } }",
                                     "no_auth_user: a"}});
    relay_bench bench(shared_postgres(), broker, "pgoutput");
    bench.create_table();
    const auto refused = bench.command({"check"});
    EXPECT_EQ(refused.exit_code, 1);
    EXPECT_THAT(refused.output, AllOf(HasSubstr("takes no stream without a limit of bytes"),
                                      HasSubstr("set nats.max_bytes")));
    bench.set_nats("max_bytes = '1MiB'\n");
    const auto ready = bench.command({"check"});
    EXPECT_EQ(ready.exit_code, 0) << ready.output << ready.errors;
    bench.start();
    bench.execute(insert_events(1, 10));
    EXPECT_TRUE(bench.wait_for_messages(10));
    bench.stop();
}

nats_options with_account(const std::string& limits) {
    return {.settings = {"accounts { A { jetstream: { " + limits +
                             " }, users: [ { user: a, password: a } ] } }",
                         "no_auth_user: a", "max_payload: 64KB"}};
}

/// Limits of the kind that a hosted account has, all at once.
TEST(HostedAccount, IsEnoughForAllThatWalrelayDoes) {
    nats_server broker(with_account(
        "max_streams: 1, max_consumers: 2, max_file: 32MB, disk_max_stream_bytes: 16MB, "
        "max_bytes_required: true"));
    relay_bench bench(shared_postgres(), broker, "pgoutput");
    bench.create_table();
    bench.set_outbox(
        "[[outbox]]\ntable = 'public.outbox_events'\nsubject = '%.{event_type}'\n"
        "delete_after = '0s'\n");
    const auto nothing_is_made = [&] {
        return !bench.broker().state(bench.stream_name()) && !bench.slot("plugin") &&
               bench.session().value_of("SELECT to_regclass('walrelay.control') IS NULL") == "t";
    };
    for (const auto* const too_much : {"", "max_bytes = '20MiB'\n", "max_bytes = '40MiB'\n"}) {
        bench.set_nats(too_much);
        const auto refused = bench.command({"init"});
        EXPECT_EQ(refused.exit_code, 3) << refused.output << refused.errors;
        EXPECT_THAT(refused.errors, HasSubstr("cannot be created")) << too_much;
        EXPECT_TRUE(nothing_is_made()) << too_much;
    }
    bench.set_nats("max_bytes = '8MiB'\n");
    const auto made = bench.command({"init"});
    ASSERT_EQ(made.exit_code, 0) << made.output << made.errors;
    bench.start();
    bench.execute(insert_events(1, 200));
    ASSERT_TRUE(bench.wait_for_messages(200));
    EXPECT_TRUE(eventually(patience, [&] {
        return bench.session().value_of("SELECT count(*) FROM outbox_events") == "0";
    })) << bench.relay().log();
    const auto verified = bench.command({"verify"});
    EXPECT_EQ(verified.exit_code, 0) << verified.output << verified.errors;
    const auto checked = bench.command({"check"});
    EXPECT_EQ(checked.exit_code, 0) << checked.output << checked.errors;
    bench.stop();
}

TEST(LimitedAccount, SaysThatItsConsumersAreTaken) {
    nats_server broker(with_account("max_consumers: 1"));
    relay_bench bench(shared_postgres(), broker, "pgoutput");
    bench.create_table();
    const auto before = bench.command({"check"});
    EXPECT_THAT(before.output, AllOf(HasSubstr("max_consumers"), HasSubstr("1 consumers")))
        << "before the stream is made";
    bench.start();
    bench.execute(insert_events(1, 20));
    ASSERT_TRUE(bench.confirms_messages(20));
    const stream_follower reader(broker.url(), bench.stream_name(), [](const stored_message&) {});
    const auto checked = bench.command({"check", "--json"});
    EXPECT_THAT(checked.output, HasSubstr("\"stream_read_one_by_one\""));
    const auto verified = bench.command({"verify"});
    EXPECT_EQ(verified.exit_code, 0) << "slower: " << verified.output << verified.errors;
    bench.stop();
}

/// nats-server knows them from 2.10 on, and ignores them before.
TEST(StreamWithConsumerLimits, IsReadAndCleanedUp) {
    nats_server broker;
    relay_bench bench(shared_postgres(), broker, "pgoutput");
    const auto& name = bench.stream_name();
    bench.create_table();
    bench.broker().create(name, R"({"name": ")" + name + R"(", "subjects": [")" + name +
                                    R"(.>"], "storage": "file", "consumer_limits": )"
                                    R"({"inactive_threshold": 1000000000, "max_ack_pending": 2}})");
    bench.set_outbox(
        "[[outbox]]\ntable = 'public.outbox_events'\nsubject = '%.{event_type}'\n"
        "delete_after = '0s'\n");
    bench.start();
    bench.execute(insert_events(1, 200));
    ASSERT_TRUE(bench.wait_for_messages(200));
    EXPECT_TRUE(eventually(patience, [&] {
        return bench.session().value_of("SELECT count(*) FROM outbox_events") == "0";
    })) << bench.relay().log();
    const auto verified = bench.command({"verify"});
    EXPECT_EQ(verified.exit_code, 0) << verified.output << verified.errors;
    bench.stop();
}

TEST(DuplicateWindow, ThatIsShortIsToldWhereOthersMayWrite) {
    // The limit of the server is also what its streams have by default.
    nats_server broker({.jetstream_settings = "limits { duplicate_window: \"30s\" }"});
    relay_bench bench(shared_postgres(), broker, "pgoutput");
    bench.create_table();
    bench.start();
    bench.stop();
    const auto positions_tell = bench.command({"check", "--json"});
    EXPECT_THAT(positions_tell.output, Not(HasSubstr("duplicate_window_short")));
    bench.set_nats("sole_writer = false\n");
    const auto checked = bench.command({"check", "--json"});
    EXPECT_THAT(checked.output, AllOf(HasSubstr("duplicate_window_short"), HasSubstr("30000 ms"),
                                      HasSubstr("jetstream { limits { duplicate_window } }")));
}

class UnusableStream : public testing::Test {
protected:
    /// `configuration`: what follows the name, with % for the bench's own. `changed`: what an
    /// operator does to it then.
    void expect_refused(
        std::string configuration, const std::string& said,
        const std::function<void(stream_reader&, const std::string&)>& changed = {}) {
        relay_bench bench(shared_postgres(), broker, "pgoutput");
        const auto& name = bench.stream_name();
        bench.create_table();
        for (auto at = configuration.find('%'); at != std::string::npos;
             at = configuration.find('%', at)) {
            configuration.replace(at, 1, name);
        }
        bench.broker().create(
            name, R"({"name":")" + name + R"(","storage":"file",)" + configuration + "}");
        if (changed) {
            changed(bench.broker(), name);
        }
        const auto run = bench.command({"run"});
        EXPECT_EQ(run.exit_code, 3) << configuration << run.errors;
        EXPECT_THAT(run.errors, AllOf(HasSubstr(name), HasSubstr(said))) << configuration;
        bench.broker().remove(name);
    }

    nats_server broker;
};

TEST_F(UnusableStream, EndsTheStartWithThreeAndItsName) {
    const std::string subjects = R"("subjects":["%.>"])";
    expect_refused(subjects + R"(,"no_ack":true)", "no_ack");
    expect_refused(subjects + R"(,"retention":"workqueue")", "workqueue");
    expect_refused(subjects + R"(,"retention":"interest")", "interest");
    expect_refused(R"("subjects":["$KV.%.>"])", "bucket");
    stream_reader(broker.url()).create({.name = "ORIGIN", .subjects = {"origin"}});
    expect_refused(R"("mirror":{"name":"ORIGIN"})", "mirror");
    expect_refused(subjects + R"(,"sources":[{"name":"ORIGIN"}])", "sources");
    expect_refused(R"("subjects":["$O.%.C.>","$O.%.M.>"])", "bucket");
    expect_refused(subjects, "sealed",
                   [](stream_reader& operating, const std::string& name) { operating.seal(name); });
}

TEST_F(UnusableStream, CanBeACounter) {
    const std::regex knows_counters("Version: +2\\.1[2-9]");
    if (!std::regex_search(broker.log(), knows_counters)) {
        GTEST_SKIP() << "counters are of nats-server 2.12";
    }
    expect_refused(R"("subjects":["%.>"],"allow_msg_counter":true,"allow_direct":true)", "counter");
}

}  // namespace
}  // namespace walrelay::test
