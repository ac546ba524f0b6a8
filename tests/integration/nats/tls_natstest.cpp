#include "nats/requests/stream_scan.hpp"
#include "nats_fixture.hpp"
#include "support/tls_files.hpp"
#include "tls_front.hpp"

#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>

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
    EXPECT_THAT(linked.error().what, HasSubstr("not of an authority that nats.tls.ca"));
}

/// The authorities of the system, as far as this process knows, until the end.
class system_authorities {
public:
    explicit system_authorities(const std::string& file) {
        setenv("SSL_CERT_FILE", file.c_str(), 1);
    }
    ~system_authorities() { unsetenv("SSL_CERT_FILE"); }
    system_authorities(const system_authorities&) = delete;
    system_authorities& operator=(const system_authorities&) = delete;
};

TEST_F(Tls, BelievesNoAuthorityOfTheSystemBesideTheConfiguredOne) {
    use_server(server_settings());
    const system_authorities system(files_.ca());
    const tls_files others("another authority");
    auto how = options();
    how.stream = "S";
    how.tls_ca = others.ca();
    const auto requests = nats::stream_scan::open(how);
    ASSERT_FALSE(requests);
    EXPECT_THAT(requests.error().what, HasSubstr("not of an authority that nats.tls.ca"));
    EXPECT_FALSE(open_link(how));
}

TEST_F(Tls, BeginsWithTlsWhereTheServerWantsThat) {
    const tls_front front(files_, server().port());
    auto how = options();
    how.tls_ca = files_.ca();
    how.tls_handshake_first = true;
    how.urls = {"nats://127.0.0.1:" + std::to_string(front.port())};
    expect_to_publish(std::move(how));
}

TEST_F(Tls, BeginsWithTlsOnlyWhereItIsToldTo) {
    const tls_front front(files_, server().port());
    auto how = options();
    how.tls_ca = files_.ca();
    how.timeout = std::chrono::milliseconds(300);
    how.urls = {"nats://127.0.0.1:" + std::to_string(front.port())};
    EXPECT_FALSE(open_link(std::move(how)));
}

TEST_F(Tls, TakesNoKeyThatEverybodyCanRead) {
    using std::filesystem::perms;
    use_server(server_settings());
    std::filesystem::permissions(files_.client_key(), perms::owner_read | perms::others_read);
    auto how = options();
    how.tls_ca = files_.ca();
    how.tls_cert = files_.client_certificate();
    how.tls_key = files_.client_key();
    const auto linked = open_link(std::move(how));
    ASSERT_FALSE(linked);
    EXPECT_EQ(linked.error().code, errc::file_unusable);
    EXPECT_THAT(linked.error().remedy, HasSubstr("chmod o= " + files_.client_key()));
}

TEST_F(Tls, BelievesNoCertificateOfAnotherHost) {
    use_server(server_settings());
    auto how = options();
    how.tls_ca = files_.ca();
    how.urls = {"tls://localhost:" + std::to_string(server().port())};
    const auto linked = open_link(std::move(how));
    ASSERT_FALSE(linked);
    EXPECT_THAT(linked.error().what, HasSubstr("it is for another name"));
    EXPECT_THAT(linked.error().remedy, HasSubstr("name the server in nats.urls as"));
}

TEST_F(Tls, SaysWhyACertificateIsNotTaken) {
    const auto refusal_of = [this](const tls_files& files) {
        use_server({.settings = {"tls { cert_file: \"" + files.server_certificate() +
                                 "\", key_file: \"" + files.server_key() + "\" }"}});
        auto how = options();
        how.tls_ca = files.ca();
        const auto linked = open_link(std::move(how));
        return linked ? "it is taken" : to_string(linked.error());
    };
    EXPECT_THAT(refusal_of(tls_files("an authority", server_certificate_is::expired)),
                HasSubstr("it has expired"));
    EXPECT_THAT(refusal_of(tls_files("an authority", server_certificate_is::for_another_name)),
                HasSubstr("it is for another name"));
}

TEST_F(Tls, SaysThatTheServerDemandsACertificate) {
    use_server(server_settings(", ca_file: \"" + files_.ca() + "\", verify: true"));
    auto how = options();
    how.tls_ca = files_.ca();
    const auto without = open_link(how);
    ASSERT_FALSE(without);
    EXPECT_THAT(without.error().what, HasSubstr("demands a certificate of the client"));
    const tls_files others("another authority");
    how.tls_cert = others.client_certificate();
    how.tls_key = others.client_key();
    const auto foreign = open_link(how);
    ASSERT_FALSE(foreign);
    EXPECT_THAT(foreign.error().what, HasSubstr("does not take the client's certificate"));
}

TEST_F(Tls, AsksNobodyForThePassphraseOfAKey) {
    use_server(server_settings(", ca_file: \"" + files_.ca() + "\", verify: true"));
    auto how = options();
    how.tls_ca = files_.ca();
    how.tls_cert = files_.client_certificate();
    how.tls_key = files_.encrypted_client_key();
    const auto linked = open_link(how);
    ASSERT_FALSE(linked);
    EXPECT_EQ(linked.error().code, errc::file_unusable);
    EXPECT_THAT(linked.error().what, HasSubstr("is encrypted"));
    EXPECT_THAT(linked.error().remedy, HasSubstr("openssl pkey -in"));
}

TEST_F(Tls, DoesNotSendItsPasswordInTheClear) {
    auto how = options();
    how.tls_ca = files_.ca();
    how.user = "relay";
    const auto linked = open_link(std::move(how));
    ASSERT_FALSE(linked);
    EXPECT_EQ(linked.error().code, errc::broker_unavailable);
    EXPECT_THAT(linked.error().what, HasSubstr("does not speak TLS"));
}

TEST_F(Tls, TellsTheSameOfTheConnectionThatLooksAtTheStream) {
    auto how = options();
    how.tls_ca = files_.ca();
    const auto opened = open(std::move(how));
    ASSERT_FALSE(opened);
    EXPECT_THAT(opened.error().what, HasSubstr("cannot make a TLS connection"));
    EXPECT_THAT(opened.error().remedy, HasSubstr("nats.tls.ca"));
}

TEST_F(Tls, NamesTheCertificateThatCannotBeRead) {
    use_server(server_settings());
    auto how = options();
    how.tls_ca = "/nowhere/ca.pem";
    const auto linked = open_link(std::move(how));
    ASSERT_FALSE(linked);
    EXPECT_EQ(linked.error().code, errc::file_unusable);
    EXPECT_THAT(linked.error().what, HasSubstr("nats.tls.ca"));
    EXPECT_THAT(linked.error().what, HasSubstr("/nowhere/ca.pem"));
}

}  // namespace
}  // namespace walrelay::test
