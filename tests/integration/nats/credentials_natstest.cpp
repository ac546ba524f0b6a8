#include "issued_credentials.hpp"
#include "nats_fixture.hpp"
#include "support/secret_file.hpp"
#include "support/temporary_folder.hpp"

#include <gmock/gmock.h>

#include <sys/stat.h>

#include <chrono>

namespace walrelay::test {
namespace {

using testing::HasSubstr;
using testing::Not;

class Credentials : public nats_fixture {
protected:
    /// A server that knows the credentials' account.
    void SetUp() override {
        use_server({.jetstream = false, .settings = {issued_.server_settings}});
    }
    [[nodiscard]] nats::connect_options with_file(const std::string& content) const {
        const auto path = folder_.path() / "user.creds";
        write_secret(path, content);
        auto how = options();
        how.credentials = path;
        return how;
    }

    issued_credentials issued_ = issue_credentials();

private:
    temporary_folder folder_{"nats-creds"};
};

TEST_F(Credentials, LogIn) {
    const auto linked = open_link(with_file(issued_.file));
    EXPECT_TRUE(linked) << to_string(linked.error());
}

TEST_F(Credentials, LogInAsAnEditorOfAnotherSystemHasWrittenThem) {
    std::string written = "\xEF\xBB\xBF";
    for (const char each : issued_.file) {
        written += each == '\n' ? "\r\n" : std::string(1, each);
    }
    const auto linked = open_link(with_file(written));
    EXPECT_TRUE(linked) << to_string(linked.error());
}

TEST_F(Credentials, OfAPipeOrOfTooMuchAreAnErrorAtOnce) {
    auto how = with_file(std::string(std::size_t{70} * 1024, 'x'));
    const auto too_large = open_link(how);
    ASSERT_FALSE(too_large);
    EXPECT_EQ(too_large.error().code, errc::file_unusable);
    EXPECT_THAT(to_string(too_large.error()), HasSubstr("more than 65536 bytes"));
    how.credentials += ".pipe";
    ASSERT_EQ(mkfifo(how.credentials.c_str(), S_IRUSR | S_IWUSR), 0);
    const auto a_pipe = open_link(how);
    ASSERT_FALSE(a_pipe);
    EXPECT_THAT(to_string(a_pipe.error()), HasSubstr("a pipe, not an ordinary file"));
    how.credentials = "/dev/zero";
    const auto a_device = open_link(how);
    ASSERT_FALSE(a_device);
    EXPECT_THAT(to_string(a_device.error()), HasSubstr("not an ordinary file"));
}

TEST_F(Credentials, OfAnAccountWithTiersShowTheLimitsOfTheOneThatCounts) {
    const auto tiered = issue_credentials(
        {}, R"("tiered_limits":{"R1":{"disk_storage":1048576,"streams":1,"consumer":4},)"
            R"("R3":{"disk_storage":3145728,"streams":7,"consumer":2}})");
    use_server({.settings = {tiered.server_settings}});
    auto opened = open(with_file(tiered.file));
    ASSERT_TRUE(opened) << to_string(opened.error());
    auto& over = **opened;
    const auto told = [&](std::int64_t replicas) {
        return account_of(over, replicas).value_or(account_limits{});
    };
    EXPECT_EQ(told(3).streams_max, 7);
    EXPECT_EQ(told(3).storage_max, 3145728);
    EXPECT_EQ(told(3).consumers_max, 2);
    EXPECT_EQ(told(1).streams_max, 1);
    EXPECT_EQ(told(5).missing_tier, "R5");
}

TEST_F(Credentials, OfAStrangerAreRefused) {
    const auto linked = open_link(with_file(issue_credentials().file));
    ASSERT_FALSE(linked);
    EXPECT_THAT(linked.error().what, HasSubstr("refuses the log-in"));
}

TEST_F(Credentials, AreReadAnewForEachConnection) {
    const auto soon = std::chrono::system_clock::now() + std::chrono::seconds(2);
    const auto expiring = issue_credentials(soon);
    use_server({.jetstream = false, .settings = {expiring.server_settings}});
    const auto linked = open_link(with_file(expiring.file));
    ASSERT_TRUE(linked) << to_string(linked.error());
    run_until([&] { return lost_.has_value(); });
    EXPECT_NE(lost_->code, errc::broker_unsuitable) << "it may be renewed";
    const auto again = open_link(with_file(expiring.next_file));
    EXPECT_TRUE(again) << to_string(again.error());
}

TEST_F(Credentials, NameTheFileThatHoldsNone) {
    for (const auto& content : {std::string("nothing\n"), issued_.file.substr(0, 60),
                                issued_.file.substr(0, issued_.file.find("-----BEGIN USER"))}) {
        const auto linked = open_link(with_file(content));
        ASSERT_FALSE(linked) << content;
        EXPECT_EQ(linked.error().code, errc::file_unusable);
        EXPECT_THAT(linked.error().what, HasSubstr("nats.credentials"));
        EXPECT_THAT(to_string(linked.error()), Not(HasSubstr("eyJ")));
    }
}

}  // namespace
}  // namespace walrelay::test
