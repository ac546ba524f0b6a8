// What a context of the nats command gives, and what goes before it.
#include "config/nats_context.hpp"

#include "unit/config/loading.hpp"

namespace walrelay::config {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

sources with_context(const std::string& toml, const std::string& json, bool is_public = false) {
    auto from = from_file(essentials + "[nats]\ncontext = \"prod\"\n" + toml);
    from.read_context = [=](const std::string& name) -> read_result<context_file> {
        return context_file{"/home/me/" + name + ".json", json, "/home/me", is_public};
    };
    return from;
}

nats_settings nats_of(const sources& from) {
    return must_load(from).nats;
}

TEST(NatsContext, FillsWhatIsNotSet) {
    const auto nats = nats_of(with_context("", R"({
        "description": "the hub", "url": "nats://a:4222,b:4222", "creds": "~/a.creds",
        "ca": "/ca", "cert": "~/cert", "key": "key", "tls_first": true,
        "jetstream_domain": "hub", "inbox_prefix": "_IN"})"));
    EXPECT_THAT(nats.urls, ElementsAre("nats://a:4222", "nats://b:4222"));
    EXPECT_EQ(nats.credentials, "/home/me/a.creds");
    EXPECT_EQ(nats.tls.ca, "/ca");
    EXPECT_EQ(nats.tls.cert, "/home/me/cert");
    EXPECT_EQ(nats.tls.key, "key");
    EXPECT_TRUE(nats.tls.handshake_first);
    EXPECT_EQ(nats.domain, "hub");
    EXPECT_EQ(nats.inbox_prefix, "_IN");
}

TEST(NatsContext, SignsInTheWayThatTheNatsCommandWouldChoose) {
    const auto all = nats_of(with_context(
        "", R"({"user": "me", "password": "s3cret", "creds": "c", "nkey": "n", "token": "t"})"));
    EXPECT_EQ(all.user + all.password, "mes3cret");
    EXPECT_EQ(all.credentials + all.nkey_seed + all.token, "");
    EXPECT_EQ(nats_of(with_context("", R"({"nkey": "n", "token": "t"})")).nkey_seed, "n");
    EXPECT_EQ(nats_of(with_context("", R"({"token": "t"})")).token, "t");
    EXPECT_EQ(nats_of(with_context("", R"({"jetstream_api_prefix": "JS.hub"})")).api_prefix,
              "JS.hub");
}

TEST(NatsContext, GivesWayToKeysThatAreSet) {
    const auto nats = nats_of(with_context(
        "urls = [\"tls://own\"]\ntoken_file = \"own\"\napi_prefix = \"own\"\n"
        "inbox_prefix = \"own\"\ntls.cert = \"own\"\ntls.key = \"own\"\n",
        R"({"url": "nats://a", "user": "me", "password": "s3cret", "jetstream_domain": "hub",
            "inbox_prefix": "_IN", "cert": "c", "key": "k", "ca": "ca"})"));
    EXPECT_THAT(nats.urls, ElementsAre("tls://own"));
    EXPECT_EQ(nats.token_file, "own");
    EXPECT_EQ(nats.user + nats.password + nats.domain, "");
    EXPECT_EQ(nats.api_prefix + nats.inbox_prefix + nats.tls.cert + nats.tls.key, "ownownownown");
    EXPECT_EQ(nats.tls.ca, "ca");
}

TEST(NatsContext, GoesBeforeNatsUrl) {
    auto from = with_context("", R"({"url": "a"})");
    from.nats_url = "nats://variable";
    EXPECT_THAT(nats_of(from).urls, ElementsAre("nats://a"));
    from = with_context("", "{}");
    from.nats_url = "nats://variable";
    EXPECT_THAT(nats_of(from).urls, ElementsAre("nats://variable"));
}

TEST(NatsContext, CanBeNamedByAVariable) {
    auto from = with_context("", R"({"url": "a"})");
    from.file_text = essentials;
    from.variables = {{"WALRELAY_NATS_CONTEXT", "other"}};
    EXPECT_THAT(nats_of(from).urls, ElementsAre("nats://a"));
}

TEST(NatsContext, ThatCannotBeReadIsAnErrorOfTheKey) {
    auto from = with_context("", "");
    from.read_context = [](const std::string&) -> read_result<context_file> {
        return complaint{"context prod cannot be read from /x: gone", "write pord"};
    };
    EXPECT_THAT(problems_of(from), ElementsAre("walrelay.toml:6: nats.context: context prod cannot "
                                               "be read from /x: gone; fix: write pord"));
    EXPECT_THAT(problems_of(with_context("", "[1]")),
                ElementsAre(HasSubstr("/home/me/prod.json is no context of the nats command")));
    EXPECT_THAT(problems_of(with_context("", "{")), ElementsAre(HasSubstr("not a JSON object")));
}

TEST(NatsContext, NamesWhatWalrelayCannotUse) {
    EXPECT_THAT(problems_of(with_context("", R"({"nsc": "nsc://op/acc/user"})")),
                ElementsAre(HasSubstr("has nsc, which walrelay cannot use; fix: set the keys")));
    EXPECT_THAT(problems_of(with_context("", R"({"nsc": "", "socks_proxy": ""})")), IsEmpty());
}

TEST(NatsContext, WithASecretMayNotBeForEverybodyToRead) {
    EXPECT_THAT(
        problems_of(with_context("", R"({"user": "u", "password": "s3cret"})", true)),
        ElementsAre(AllOf(HasSubstr("holds a password"), HasSubstr("chmod o= /home/me/prod.json"),
                          Not(HasSubstr("s3cret")))));
    EXPECT_THAT(problems_of(with_context("", R"({"token": "s3cret"})", true)),
                ElementsAre(AllOf(HasSubstr("holds a token"), Not(HasSubstr("s3cret")))));
    EXPECT_THAT(problems_of(with_context("", R"({"creds": "file"})", true)), IsEmpty());
}

TEST(NatsContext, IsJudgedLikeTheFileAndNeverQuotesASecret) {
    const auto problems =
        problems_of(with_context("", R"({"url": "ws://u:s3cret@h", "jetstream_domain": "a.b"})"));
    EXPECT_THAT(problems, ElementsAre(HasSubstr("/home/me/prod.json: nats.domain: \"a.b\" is not"),
                                      HasSubstr("/home/me/prod.json: nats.urls: an address is")));
    EXPECT_THAT(problems[1], Not(HasSubstr("s3cret")));
}

TEST(NatsContext, HasAName) {
    EXPECT_EQ(problems_beside_essentials("[nats]\ncontext = \"../x\"\n").size(), 1U);
    EXPECT_THAT(problems_beside_essentials("[nats]\ncontext = \"\"\n"), IsEmpty());
}

TEST(NatsApi, IsThatOfADomainOrOfAPrefix) {
    EXPECT_THAT(
        problems_beside_essentials("[nats]\ndomain = \"hub\"\napi_prefix = \"JS.x\"\n"),
        ElementsAre("walrelay.toml:7: nats.api_prefix: is set beside nats.domain; fix: keep "
                    "one of them: the domain stands for the prefix \"$JS.hub.API\""));
    for (const std::string wrong : {"api_prefix = \"JS.\"", "api_prefix = \"JS.>\"",
                                    "domain = \"a.b\"", "domain = \"*\"", "domain = \"a b\""}) {
        EXPECT_EQ(problems_beside_essentials("[nats]\n" + wrong + "\n").size(), 1U) << wrong;
    }
}

}  // namespace
}  // namespace walrelay::config
