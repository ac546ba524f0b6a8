// Servers of a cluster that nobody has configured: which of them are tried, and how.
#include "nats/session/learned_servers.hpp"

#include "nats/session/server_session.hpp"
#include "nats_fixture.hpp"
#include "support/eventually.hpp"
#include "support/free_port.hpp"
#include "support/tls_files.hpp"

#include <gmock/gmock.h>

#include <chrono>
#include <filesystem>
#include <fstream>

namespace walrelay::test {
namespace {

using nats::learned_servers;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using namespace std::chrono_literals;

constexpr auto patience = 30s;

std::vector<std::string> names_of(const std::vector<nats::server_address>& servers) {
    std::vector<std::string> names;
    names.reserve(servers.size());
    for (const auto& each : servers) {
        names.push_back((each.tls ? "tls://" : "nats://") + to_string(each));
    }
    return names;
}

nats::connect_options to(std::vector<std::string> urls) {
    nats::connect_options how;
    how.urls = std::move(urls);
    return how;
}

TEST(LearnedServers, AreThoseThatNobodyHasConfigured) {
    learned_servers known;
    const auto how = to({"nats://a:1", "nats://b:2"});
    EXPECT_THAT(known.others(how), IsEmpty());
    known.learn(how, {}, {"a:1", "c:3", "[::1]:4", "c:3"});
    EXPECT_THAT(names_of(known.others(how)), ElementsAre("nats://c:3", "nats://[::1]:4"));
    known.learn(how, {}, {"d:5"});
    EXPECT_THAT(names_of(known.others(how)), ElementsAre("nats://d:5"));
    known.learn(how, {}, {});
    EXPECT_THAT(known.others(how), SizeIs(1));
    EXPECT_THAT(known.others(to({"nats://x:1"})), IsEmpty());
}

TEST(LearnedServers, AreNoneWhereTheyAreNotWanted) {
    learned_servers known;
    auto how = to({"nats://a:1"});
    how.discover = false;
    known.learn(how, {}, {"c:3"});
    EXPECT_THAT(known.others(how), IsEmpty());
}

TEST(LearnedServers, NeedTlsWhereAConfiguredOneOrTheOneThatToldDoes) {
    learned_servers known;
    const auto plain = to({"nats://a:1"});
    known.learn(plain, {{}, true}, {"c:3"});
    EXPECT_THAT(names_of(known.others(plain)), ElementsAre("tls://c:3"));
    const auto either = to({"nats://a:1", "tls://b:2"});
    known.learn(either, {{}, false}, {"c:3"});
    EXPECT_THAT(names_of(known.others(either)), ElementsAre("tls://c:3"));
}

TEST(LearnedServers, AreKnownByTheSameNameAsTheOneThatTold) {
    learned_servers known;
    const auto how = to({"nats://me:secret@a:1"});
    const auto teller = nats::parse_server_address(how.urls.front());
    known.learn(how, {*teller, false}, {"c:3"});
    ASSERT_THAT(known.others(how), SizeIs(1));
    EXPECT_EQ(known.others(how).front().user + known.others(how).front().password, "mesecret");
}

TEST(LearnedServers, AreNoMoreThanALimitAndNothingThatIsNoServer) {
    learned_servers known;
    const auto how = to({"nats://a:1"});
    known.learn(how, {}, {"", "x@y:1", "a b:1", "c/d", ":", std::string(1000, 'a'), "ok:1"});
    EXPECT_THAT(names_of(known.others(how)), ElementsAre("nats://ok:1"));
    std::vector<std::string> many;
    for (int index = 0; index < 1000; ++index) {
        many.push_back("h" + std::to_string(index) + ":1");
    }
    known.learn(how, {}, many);
    EXPECT_THAT(known.others(how), SizeIs(learned_servers::count_max));
}

TEST(LearnedServers, KnowTheNamesOfThoseThatWereMet) {
    learned_servers known;
    const nats::server_address at{.host = "a", .port = "1"};
    EXPECT_EQ(known.name_of(at), std::nullopt);
    known.met(at, "n1");
    EXPECT_EQ(known.name_of(at), "n1");
    known.met(at, std::string(1000, 'n'));
    EXPECT_EQ(known.name_of(at), "n1");
    for (std::size_t each = 0; each < learned_servers::names_max; ++each) {
        known.met({.host = std::to_string(each), .port = "1"}, "n");
    }
    EXPECT_EQ(known.name_of(at), std::nullopt) << "what anybody can fill has a limit";
}

TEST(LearnedServers, AvoidTheOneThatAckedNothing) {
    learned_servers known;
    EXPECT_FALSE(known.is_avoided("n1"));
    known.acked("n1", false);
    EXPECT_TRUE(known.is_avoided("n1"));
    EXPECT_FALSE(known.is_avoided("n2"));
    known.acked("n2", true);
    EXPECT_TRUE(known.is_avoided("n1"));
    known.acked("n1", true);
    EXPECT_FALSE(known.is_avoided("n1"));
}

TEST(LearnedServers, LeadNothingWhereTheirListWasReadBeforeTls) {
    learned_servers known;
    const auto how = to({"tls://a:1"});
    EXPECT_FALSE(known.may_lead(how));
    known.learn(how, {{}, true}, {"c:3"}, true);
    EXPECT_FALSE(known.may_lead(how));
    EXPECT_THAT(known.others(how), SizeIs(1));
    known.learn(how, {{}, true}, {"c:3"});
    EXPECT_TRUE(known.may_lead(how));
}

/// Two servers of a cluster, of which the client knows the first.
class OtherServer : public nats_fixture {
protected:
    void start(const std::string& first_settings, const std::string& second_settings) {
        const auto port = free_port();
        const auto other_port = free_port();
        const auto settings = [](const char* name, std::uint16_t own, std::uint16_t other,
                                 const std::string& more) {
            return nats_options{
                .jetstream = false,
                .settings = {"server_name: " + std::string(name),
                             "cluster { name: C, listen: \"127.0.0.1:" + std::to_string(own) +
                                 "\", routes: [\"nats://127.0.0.1:" + std::to_string(other) +
                                 "\"] }",
                             more}};
        };
        first_ = std::make_unique<nats_server>(settings("a", port, other_port, first_settings));
        second_ = std::make_unique<nats_server>(settings("b", other_port, port, second_settings));
    }
    [[nodiscard]] nats::connect_options to_the_first() const {
        auto how = options();
        how.urls = {first_->url()};
        return how;
    }
    void learn_of_the_second(const nats::connect_options& how) {
        ASSERT_TRUE(eventually(patience, [&] {
            EXPECT_TRUE(open_link(how));
            return !learned_servers::shared().others(how).empty();
        }));
    }
    static std::string tls(const tls_files& files) {
        return "tls { cert_file: \"" + files.server_certificate() + "\", key_file: \"" +
               files.server_key() + "\" }";
    }

    std::unique_ptr<nats_server> first_;
    std::unique_ptr<nats_server> second_;
};

TEST_F(OtherServer, IsTriedWhereTheConfiguredOneIsAway) {
    start("", "");
    learn_of_the_second(to_the_first());
    first_->stop();
    const auto linked = open_link(to_the_first());
    EXPECT_TRUE(linked) << to_string(linked.error());
    auto alone = to_the_first();
    alone.discover = false;
    const auto refused = open_link(alone);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().what, HasSubstr(first_->url().substr(sizeof "nats://" - 1)));
}

TEST_F(OtherServer, IsToldOfWhileAConnectionStands) {
    start("", "");
    learn_of_the_second(to_the_first());
    second_->stop();
    const auto link = open_link(to_the_first());
    ASSERT_TRUE(link);
    auto by_another_name = to_the_first();
    by_another_name.urls.push_back("nats://127.0.0.1:1");  // a list of its own
    by_another_name.urls = {by_another_name.urls.back(), by_another_name.urls.front()};
    const auto held = open_link(by_another_name);
    ASSERT_TRUE(held);
    EXPECT_THAT(learned_servers::shared().others(by_another_name), IsEmpty());
    second_->start();
    run_until([&] { return !learned_servers::shared().others(by_another_name).empty(); });
}

TEST_F(OtherServer, IsToldNoPasswordInTheClearWhereTheFirstSpokeTls) {
    const tls_files files;
    const std::string user = "\nauthorization { user: me, password: s3cret }\n";
    start(tls(files) + user, "debug: true\ntrace: true" + user);
    auto how = to_the_first();
    how.urls = {"tls://me:s3cret@127.0.0.1:" + std::to_string(first_->port())};
    how.tls_ca = files.ca();
    learn_of_the_second(how);
    first_->stop();
    const auto linked = open_link(how);
    ASSERT_FALSE(linked);
    EXPECT_THAT(second_->log(), HasSubstr("Client connection created"));
    EXPECT_THAT(second_->log(), Not(HasSubstr("[CONNECT {")));
}

TEST_F(OtherServer, MustHaveACertificateOfItsName) {
    const tls_files right("one authority");
    const tls_files wrong("another authority", server_certificate_is::for_another_name);
    start(tls(right), tls(wrong));
    const temporary_folder folder("authorities");
    const auto both = (folder.path() / "both.pem").string();
    std::ofstream(both) << std::ifstream(right.ca()).rdbuf() << std::ifstream(wrong.ca()).rdbuf();
    auto how = to_the_first();
    how.tls_ca = both;
    learn_of_the_second(how);
    first_->stop();
    EXPECT_FALSE(open_link(how));
}

TEST_F(OtherServer, IsTriedFirstWhereItLeads) {
    start("", "");
    auto how = to_the_first();
    how.urls.push_back(second_->url());
    for (const char* const name : {"a", "b"}) {
        how.leader = name;
        const auto linked = open_link(how);
        ASSERT_TRUE(linked) << to_string(linked.error());
        EXPECT_EQ((*linked)->server_name(), name);
    }
}

TEST_F(OtherServer, IsTriedFirstWhereItLeadsAndNobodyHasNamedIt) {
    start("", "");
    learn_of_the_second(to_the_first());
    auto how = to_the_first();
    how.leader = "b";
    const auto linked = open_link(how);
    ASSERT_TRUE(linked) << to_string(linked.error());
    EXPECT_EQ((*linked)->server_name(), "b");
    how.discover = false;
    const auto alone = open_link(how);
    ASSERT_TRUE(alone);
    EXPECT_EQ((*alone)->server_name(), "a");
}

TEST_F(OtherServer, ThatIsAwayOrNobodyKeepsNoneFromTheRest) {
    start("", "");
    auto how = to_the_first();
    how.urls.push_back(second_->url());
    how.urls.push_back("nats://127.0.0.1:1");
    how.leader = "nobody";
    for (const bool is_away : {false, true}) {
        if (is_away) {
            how.leader = "b";
            second_->stop();
        }
        const auto linked = open_link(how);
        ASSERT_TRUE(linked) << to_string(linked.error());
        EXPECT_FALSE((*linked)->server_name().empty());
    }
}

TEST_F(OtherServer, IsToldNothingWhenItIsAskedForItsName) {
    const std::string trace = "debug: true\ntrace: true\n";
    const std::string user = "authorization { user: me, password: s3cret }\n";
    start(trace + user, trace + user);
    auto how = to_the_first();
    how.urls = {"nats://me:s3cret@127.0.0.1:" + std::to_string(second_->port()),
                "nats://me:s3cret@127.0.0.1:" + std::to_string(first_->port())};
    how.leader = "nobody";
    const auto linked = open_link(how);
    ASSERT_TRUE(linked) << to_string(linked.error());
    EXPECT_EQ((*linked)->server_name(), "a");
    EXPECT_TRUE(eventually(patience, [&] {
        return second_->log().find("Client connection created") != std::string::npos;
    }));
    EXPECT_THAT(second_->log(), Not(HasSubstr("[CONNECT {")));
}

TEST_F(OtherServer, IsPassedOverWhileItAcksNothing) {
    start("", "");
    auto how = to_the_first();
    how.urls = {second_->url(), first_->url()};
    how.leader = "b";
    {
        const auto linked = open_link(how);
        ASSERT_TRUE(linked);
        EXPECT_EQ((*linked)->server_name(), "b");
        EXPECT_TRUE((*linked)->publish(sample("nobody acks this"), 1, std::nullopt));
    }
    EXPECT_FALSE(open(how)) << "looks at a stream, over a connection that wants no leader";
    const auto linked = open_link(how);
    ASSERT_TRUE(linked);
    EXPECT_EQ((*linked)->server_name(), "a");
    EXPECT_FALSE(nats::may_be_reached(how, "b"));
    learned_servers::shared().acked("b", true);
    EXPECT_TRUE(nats::may_be_reached(how, "b"));
}

TEST_F(OtherServer, IsTriedWithTlsWhereItHasTheRightCertificate) {
    const tls_files files;
    start(tls(files), tls(files));
    auto how = to_the_first();
    how.tls_ca = files.ca();
    learn_of_the_second(how);
    first_->stop();
    const auto linked = open_link(how);
    EXPECT_TRUE(linked) << to_string(linked.error());
}

}  // namespace
}  // namespace walrelay::test
