#include "nats/requests/stream_request.hpp"
#include "nats_fixture.hpp"
#include "support/secret_file.hpp"
#include "support/temporary_folder.hpp"

#include <gmock/gmock.h>

namespace walrelay::test {
namespace {

using testing::HasSubstr;
using testing::Not;

class Authentication : public nats_fixture {
protected:
    std::string file(const std::string& name, const std::string& content) {
        const auto path = folder_.path() / name;
        write_secret(path, content);
        return path;
    }

private:
    temporary_folder folder_{"nats-auth"};
};

TEST_F(Authentication, LogsInWithUserAndPasswordFile) {
    use_server({.settings = {"authorization { user: relay, password: secret }"}});
    auto how = options();
    how.user = "relay";
    how.password_file = file("password", "secret\n");
    const auto opened = open(how);
    EXPECT_TRUE(opened) << to_string(opened.error());
}

TEST_F(Authentication, LogsInWithATokenFile) {
    use_server({.settings = {"authorization { token: secret }"}});
    auto how = options();
    how.token_file = file("token", "secret\n");
    const auto opened = open(how);
    EXPECT_TRUE(opened) << to_string(opened.error());
}

TEST_F(Authentication, LogsInWithAnNkey) {
    use_server({.settings = {"authorization { users: [ { nkey: "
                             "UDXU4RCSJNZOIQHZNWXHXORDPRTGNJAHAHFRGZNEEJCPQTT2M7NLCNF4 } ] }"}});
    auto how = options();
    how.nkey_seed = file("seed", "SUACSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCU3VY\n");
    const auto opened = open(how);
    EXPECT_TRUE(opened) << to_string(opened.error());
}

TEST_F(Authentication, TellsThatTheLogInIsRefusedWithoutThePassword) {
    use_server({.settings = {"authorization { user: relay, password: secret }"}});
    auto how = options();
    how.user = "relay";
    how.password_file = file("password", "wrongpassword\n");
    const auto opened = open(how);
    ASSERT_FALSE(opened);
    EXPECT_THAT(opened.error().what, HasSubstr("refuses the log-in"));
    EXPECT_THAT(to_string(opened.error()), Not(HasSubstr("wrongpassword")));
}

TEST_F(Authentication, NamesAFileThatCannotBeRead) {
    auto how = options();
    how.token_file = "/nowhere/token";
    const auto opened = open(how);
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, errc::file_unusable);
    EXPECT_THAT(opened.error().what, HasSubstr("nats.token_file"));
    EXPECT_THAT(opened.error().what, HasSubstr("/nowhere/token"));
}

TEST_F(Authentication, TakesNoSecretThatEverybodyCanRead) {
    use_server({.settings = {"authorization { token: secret }"}});
    auto how = options();
    how.token_file = file("token", "secret\n");
    std::filesystem::permissions(how.token_file, std::filesystem::perms::others_read,
                                 std::filesystem::perm_options::add);
    const auto opened = open(how);
    ASSERT_FALSE(opened);
    EXPECT_THAT(opened.error().what, HasSubstr("every user of this machine can read"));
    EXPECT_THAT(opened.error().remedy, HasSubstr("chmod o= " + how.token_file));
}

TEST_F(Authentication, TellsThatTheAccountMayNotPublish) {
    use_server({.settings = {"authorization { users: [ { user: relay, password: secret, "
                             "permissions: { publish: \"$JS.API.>\", subscribe: \">\" } } ] }"}});
    auto how = options();
    how.user = "relay";
    how.password_file = file("password", "secret\n");
    const auto opened = open(how);
    ASSERT_TRUE(opened) << to_string(opened.error());
    ASSERT_TRUE((*opened)->publish(sample("a"), 0, 0));
    (*opened)->flush();
    run_until([&] { return lost_.has_value(); });
    EXPECT_EQ(lost_->code, errc::broker_unsuitable);
    EXPECT_THAT(lost_->remedy, HasSubstr("grant it publish"));
}

TEST_F(Authentication, TellsARightThatIsMissingFromABrokerThatDoesNotAnswer) {
    use_server({.settings = {"authorization { users: [ { user: relay, password: secret, "
                             "permissions: { publish: { deny: \"$JS.API.STREAM.UPDATE.>\" }, "
                             "subscribe: \">\" } } ] }"}});
    auto how = options();
    how.user = "relay";
    how.password_file = file("password", "secret\n");
    ASSERT_TRUE(open(how));
    const auto refused = nats::set_description(how, "text");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, errc::broker_unsuitable);
    server().kill_9();
    const auto unanswered = nats::set_description(how, "text");
    ASSERT_FALSE(unanswered);
    EXPECT_EQ(unanswered.error().code, errc::broker_unavailable);
}

}  // namespace
}  // namespace walrelay::test
