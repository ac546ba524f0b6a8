#include "nats_fixture.hpp"
#include "support/tls_files.hpp"

#include <gmock/gmock.h>

namespace walrelay::test {
namespace {

using testing::HasSubstr;

class Tls : public nats_fixture {
protected:
    [[nodiscard]] nats_options server_settings(const std::string& more = "") const {
        return {.settings = {"tls { cert_file: \"" + files_.server_certificate() +
                             "\", key_file: \"" + files_.server_key() + "\"" + more + " }"}};
    }
    /// Publishes a window and awaits its acks.
    void expect_to_publish(nats::connect_options how) {
        auto opened = open(std::move(how));
        ASSERT_TRUE(opened) << to_string(opened.error());
        ASSERT_TRUE(create_stream(**opened, {"S", {"s.>"}, 1}));
        constexpr std::uint64_t count = 1000;
        for (std::uint64_t index = 0; index < count; ++index) {
            ASSERT_TRUE((*opened)->publish(sample(std::to_string(index)), index, index));
        }
        (*opened)->flush();
        run_until([&] { return replies_.size() == count || lost_; });
        ASSERT_EQ(lost_, std::nullopt);
        EXPECT_THAT(replies_.back().second, HasSubstr("\"seq\":1000}"));
    }

    tls_files files_;
};

TEST_F(Tls, PublishesToAServerThatTheAuthorityNames) {
    use_server(server_settings());
    auto how = options();
    how.tls_ca = files_.ca();
    expect_to_publish(std::move(how));
}

TEST_F(Tls, ShowsItsOwnCertificateWhereTheServerAsksForOne) {
    use_server(server_settings(", ca_file: \"" + files_.ca() + "\", verify: true"));
    auto how = options();
    how.tls_ca = files_.ca();
    how.tls_cert = files_.client_certificate();
    how.tls_key = files_.client_key();
    expect_to_publish(std::move(how));
}

TEST_F(Tls, BelievesNoServerThatTheAuthorityDoesNotName) {
    use_server(server_settings());
    const tls_files others("another authority");
    auto how = options();
    how.tls_ca = others.ca();
    const auto linked = open_link(std::move(how));
    ASSERT_FALSE(linked);
    EXPECT_EQ(linked.error().code, errc::broker_unavailable);
    EXPECT_THAT(linked.error().server_said, HasSubstr("certificate verify failed"));
}

TEST_F(Tls, BelievesNoCertificateOfAnotherHost) {
    use_server(server_settings());
    auto how = options();
    how.tls_ca = files_.ca();
    how.urls = {"tls://localhost:" + std::to_string(server().port())};
    const auto linked = open_link(std::move(how));
    ASSERT_FALSE(linked);
    EXPECT_THAT(linked.error().server_said, HasSubstr("certificate verify failed"));
    EXPECT_THAT(linked.error().remedy, HasSubstr("names the host as nats.urls does"));
}

TEST_F(Tls, DoesNotSendItsPasswordInTheClear) {
    auto how = options();
    how.tls_ca = files_.ca();
    how.user = "relay";
    const auto linked = open_link(std::move(how));
    ASSERT_FALSE(linked);
    EXPECT_EQ(linked.error().code, errc::broker_unavailable);
    EXPECT_THAT(linked.error().server_said, HasSubstr("does not speak TLS"));
}

TEST_F(Tls, TellsTheSameOfTheConnectionThatLooksAtTheStream) {
    auto how = options();
    how.tls_ca = files_.ca();
    const auto opened = open(std::move(how));
    ASSERT_FALSE(opened);
    EXPECT_THAT(opened.error().what, HasSubstr("no TLS connection"));
    EXPECT_THAT(opened.error().remedy, HasSubstr("nats.tls.ca"));
}

TEST_F(Tls, NamesTheCertificateThatCannotBeRead) {
    use_server(server_settings());
    auto how = options();
    how.tls_ca = "/nowhere/ca.pem";
    const auto linked = open_link(std::move(how));
    ASSERT_FALSE(linked);
    EXPECT_EQ(linked.error().code, errc::broker_unsuitable);
    EXPECT_THAT(linked.error().what, HasSubstr("nats.tls.ca"));
    EXPECT_THAT(linked.error().what, HasSubstr("/nowhere/ca.pem"));
}

}  // namespace
}  // namespace walrelay::test
