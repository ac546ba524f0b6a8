// What a user of the broker must be allowed, command by command: the table of docs/security.md.
#include "integration/e2e/relay_bench.hpp"
#include "support/eventually.hpp"
#include "support/nats_handles.hpp"
#include "support/secret_file.hpp"

#include <fstream>

namespace walrelay::test {
namespace {

class Permissions : public testing::Test {
protected:
    Permissions() {
        bench.create_table();
        write_secret(bench.folder() / "password", "secret\n");
        bench.set_nats("user = 'relay'\npassword_file = '" +
                       (bench.folder() / "password").string() +
                       "'\ninbox_prefix = '_INBOX_relay'\n");
    }

    /// `%` stands for the stream. The operator may do everything, `other` what docs/security.md
    /// leaves to others.
    void allow(const std::vector<std::string>& to_publish) {
        std::string list;
        for (auto subject : to_publish) {
            if (const auto at = subject.find('%'); at != std::string::npos) {
                subject.replace(at, 1, bench.stream_name());
            }
            list += (list.empty() ? "\"" : ", \"") + subject + "\"";
        }
        nats.stop();
        std::ofstream(nats.folder() / "nats.conf", std::ios::app)
            << "no_auth_user: operator\nauthorization { users: [ { user: operator, password: x }, "
               "{ user: other, password: secret, permissions: { publish: { deny: "
               "[\"_INBOX_relay.>\"] }, subscribe: { deny: [\"_INBOX_relay.>\", "
               "\"$JS.API.>\"] } } }, "
               "{ user: relay, password: secret, permissions: { publish: ["
            << list << "], subscribe: \"_INBOX_relay.>\" } } ] }\n";
        nats.start();
    }
    void expect_done(const std::vector<std::string>& words) {
        const auto run = bench.command(words);
        EXPECT_EQ(run.exit_code, 0) << run.output << run.errors;
        EXPECT_FALSE(is_violated()) << nats.log();
    }
    /// Whether the server has refused something since it started: of this right, where one is
    /// given.
    [[nodiscard]] bool is_violated(std::string right = "") const {
        if (const auto at = right.find('%'); at != std::string::npos) {
            right.replace(at, 1, bench.stream_name());
        }
        const auto subject = right.substr(0, right.find_first_of("*>"));
        const auto log = nats.log();
        const auto at = log.find("Violation");
        return at != std::string::npos && log.find("Subject \"" + subject, at) != std::string::npos;
    }
    void create_stream() {
        bench.broker().create({.name = bench.stream_name(), .subjects = {bench.name() + ".>"}});
    }

    nats_server nats;
    relay_bench bench{shared_postgres(), nats, "pgoutput"};
};

const std::vector<std::string> for_check{"%.>",
                                         "$JS.API.STREAM.INFO.%",
                                         "$JS.API.STREAM.MSG.GET.%",
                                         "$JS.API.CONSUMER.CREATE.%",
                                         "$JS.API.CONSUMER.MSG.NEXT.%.*",
                                         "$JS.API.CONSUMER.DELETE.%.*"};
const std::vector<std::string> for_init{"$JS.API.STREAM.INFO.%", "$JS.API.STREAM.MSG.GET.%",
                                        "$JS.API.STREAM.CREATE.%", "$JS.API.STREAM.UPDATE.%",
                                        // Not needed, and asked where there is no stream.
                                        "$JS.API.INFO", "$JS.API.STREAM.NAMES"};
const std::vector<std::string> for_run{"%.>",
                                       "$JS.API.STREAM.INFO.%",
                                       "$JS.API.STREAM.MSG.GET.%",
                                       "$JS.API.STREAM.UPDATE.%",
                                       "$JS.API.CONSUMER.CREATE.%",
                                       "$JS.API.CONSUMER.MSG.NEXT.%.*",
                                       "$JS.API.CONSUMER.DELETE.%.*"};
const std::vector<std::string> for_verify{
    "$JS.API.STREAM.INFO.%", "$JS.API.STREAM.MSG.GET.%", "$JS.API.CONSUMER.CREATE.%",
    "$JS.API.CONSUMER.MSG.NEXT.%.*", "$JS.API.CONSUMER.DELETE.%.*"};

TEST_F(Permissions, OfInitMakeTheStream) {
    allow(for_init);
    expect_done({"init"});
    EXPECT_TRUE(bench.broker().state(bench.stream_name()));
}

TEST_F(Permissions, OfCheckLookAtIt) {
    allow(for_init);
    expect_done({"init"});
    allow(for_check);
    expect_done({"check"});
}

TEST_F(Permissions, OfRunRelayAlsoAfterAnUncleanEnd) {
    create_stream();
    allow(for_run);
    bench.start();
    bench.execute(insert_events(1, 100));
    ASSERT_TRUE(bench.wait_for_messages(100)) << bench.relay().log();
    bench.kill_9();
    bench.start();
    bench.execute(insert_events(101, 200));
    ASSERT_TRUE(bench.wait_for_messages(200)) << bench.relay().log();
    bench.stop();
    EXPECT_EQ(bench.messages().size(), 200U);
    EXPECT_FALSE(is_violated()) << nats.log();
    allow(for_verify);
    expect_done({"verify"});
}

TEST_F(Permissions, OfOthersKeepThemFromAnsweringInTheBrokersPlace) {
    create_stream();
    allow(for_run);
    bench.start();
    bench.execute(insert_events(1, 10));
    ASSERT_TRUE(bench.wait_for_messages(10)) << bench.relay().log();
    const auto url = "nats://other:secret@127.0.0.1:" + std::to_string(nats.port());
    EXPECT_EQ(stream_reader(url).state(bench.stream_name())->messages, 10U)
        << "they may use JetStream";
    const auto other = connect_to(url);
    for (const char* const heard : {"_INBOX_relay.>", "$JS.API.>"}) {
        natsSubscription* raw = nullptr;
        require(natsConnection_SubscribeSync(&raw, other.get(), heard), "cannot subscribe");
        const subscription_handle owned(raw);
        require(natsConnection_Flush(other.get()), "cannot subscribe");
        EXPECT_TRUE(eventually(patience, [&] {
            return nats.log().find("Subscription Violation") != std::string::npos &&
                   is_violated(heard);
        })) << nats.log();
    }
    require(natsConnection_PublishString(other.get(), "_INBOX_relay.x", "{}"), "cannot publish");
    EXPECT_TRUE(eventually(patience, [&] {
        return nats.log().find("Publish Violation") != std::string::npos;
    })) << nats.log();
    bench.stop();
}

TEST_F(Permissions, OfCleanUpDeleteWhatIsPublished) {
    create_stream();
    auto wanted = for_run;
    for (const std::string more :
         {"$JS.API.CONSUMER.DURABLE.CREATE.%.*", "$JS.API.CONSUMER.INFO.%.*", "$JS.ACK.%.*.>"}) {
        wanted.push_back(more);
    }
    allow(wanted);
    bench.set_outbox(
        "[[outbox]]\ntable = 'public.outbox_events'\nsubject = '%.{aggregate_type}'\n"
        "delete_after = '1s'\n");
    bench.start();
    bench.execute(insert_events(1, 10));
    EXPECT_TRUE(eventually(patience, [&] {
        return bench.session().value_of("SELECT count(*) FROM outbox_events") == "0";
    })) << bench.relay().log();
    bench.stop();
    EXPECT_FALSE(is_violated()) << nats.log();
}

/// Each list without each of its rights in turn.
template <class Use>
void expect_each_is_used(const std::vector<std::string>& rights, const Use& use) {
    for (std::size_t left_out = 0; left_out < rights.size(); ++left_out) {
        auto rest = rights;
        rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(left_out));
        SCOPED_TRACE("without " + rights[left_out]);
        use(rest, rights[left_out]);
    }
}

TEST_F(Permissions, OfInitAreNoneTooMany) {
    expect_each_is_used(for_init, [&](const auto& rest, const auto& right) {
        allow(rest);
        static_cast<void>(bench.command({"init"}));
        if (bench.broker().state(bench.stream_name())) {
            bench.broker().remove(bench.stream_name());
        }
        create_stream();
        bench.broker().publish(bench.name() + ".a", "not walrelay's");
        static_cast<void>(bench.command({"init"}));
        bench.broker().remove(bench.stream_name());
        EXPECT_TRUE(is_violated(right)) << nats.log();
    });
}

TEST_F(Permissions, OfCheckAreNoneTooMany) {
    create_stream();
    expect_each_is_used(for_check, [&](const auto& rest, const auto& right) {
        allow(rest);
        // The tail is only read where there is one.
        if (right.find("GET") != std::string::npos || right.find("CONSUMER") != std::string::npos) {
            bench.broker().publish(bench.name() + ".a", "not walrelay's");
        }
        static_cast<void>(bench.command({"check"}));
        EXPECT_TRUE(is_violated(right)) << nats.log();
    });
}

TEST_F(Permissions, OfRunAreNoneTooMany) {
    create_stream();
    allow(for_run);
    // The slot stays behind, so that a changed configuration has rows compared.
    bench.set_delivery("confirm_delay = '60s'\n");
    bench.start();
    bench.execute(insert_events(1, 100));
    ASSERT_TRUE(bench.wait_for_messages(100)) << bench.relay().log();
    bench.kill_9();
    std::uint64_t next = 101;
    expect_each_is_used(for_run, [&](const auto& rest, const auto& right) {
        allow(rest);
        // Another configuration, which the stream is to be marked with.
        bench.set_outbox(
            "[[outbox]]\ntable = 'public.outbox_events'\nsubject = "
            "'%.{aggregate_type}'\nmessage_id = '{id}-" +
            std::to_string(next) + "'\n");
        bench.execute(insert_events(next, next));
        ++next;
        bench.launch();
        EXPECT_TRUE(eventually(patience, [&] { return is_violated(right); }))
            << bench.relay().log();
        bench.kill_9();
    });
}

TEST_F(Permissions, OfVerifyAreNoneTooMany) {
    create_stream();
    allow(for_run);
    bench.start();
    bench.execute(insert_events(1, 10));
    ASSERT_TRUE(bench.wait_for_messages(10)) << bench.relay().log();
    bench.stop();
    expect_each_is_used(for_verify, [&](const auto& rest, const auto& right) {
        allow(rest);
        static_cast<void>(bench.command({"verify"}));
        EXPECT_TRUE(is_violated(right)) << nats.log();
    });
}

TEST_F(Permissions, ThatAreMissingAreNamed) {
    create_stream();
    allow({"%.>"});
    const auto run = bench.command({"check"});
    EXPECT_EQ(run.exit_code, 1) << run.output << run.errors;
    for (const auto& right :
         {"$JS.API.STREAM.INFO." + bench.stream_name(), std::string("_INBOX_relay.>")}) {
        EXPECT_NE(run.output.find(right), std::string::npos) << run.output;
    }
}

}  // namespace
}  // namespace walrelay::test
