// What a real server does rarely: played by a socket of the test's own.
#include "nats/publish/publish_link.hpp"

#include "nats_fixture.hpp"

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/streambuf.hpp>
#include <boost/asio/write.hpp>
#include <gmock/gmock.h>

namespace walrelay::test {
namespace {

using boost::asio::ip::tcp;
using testing::HasSubstr;

constexpr const char* greeting = "INFO {\"max_payload\":100,\"headers\":true}\r\n";

class PublishLink : public nats_fixture {
protected:
    PublishLink() { accept(); }

    [[nodiscard]] nats::connect_options to_the_test() const {
        nats::connect_options how;
        how.urls = {"nats://127.0.0.1:" + std::to_string(acceptor_.local_endpoint().port())};
        how.stream = "S";
        return how;
    }
    /// Plays a server that greets and takes the log-in.
    std::unique_ptr<nats::publish_link> open_to_the_test() {
        first_words_ = greeting;
        on_ping_ = "PONG\r\n";
        auto linked = open_link(to_the_test());
        EXPECT_TRUE(linked) << to_string(linked.error());
        return linked ? std::move(*linked) : nullptr;
    }
    void say(const std::string& words) { boost::asio::write(peer_, boost::asio::buffer(words)); }

    std::string first_words_;
    std::string on_ping_;
    std::string heard_;

private:
    void accept() {
        acceptor_.async_accept(peer_, [this](const boost::system::error_code& failure) {
            if (!failure) {
                say(first_words_);
                listen();
            }
        });
    }
    void listen() {
        boost::asio::async_read_until(
            peer_, buffer_, "\r\n", [this](const boost::system::error_code& failure, std::size_t) {
                if (failure) {
                    return;
                }
                const auto all = buffer_.data();
                const std::string words(boost::asio::buffers_begin(all),
                                        boost::asio::buffers_end(all));
                buffer_.consume(words.size());
                heard_ += words;
                if (words.ends_with("PING\r\n") && !on_ping_.empty()) {
                    say(on_ping_);
                }
                listen();
            });
    }

    tcp::acceptor acceptor_{io_, tcp::endpoint(boost::asio::ip::address_v4::loopback(), 0)};
    tcp::socket peer_{io_};
    boost::asio::streambuf buffer_;
};

TEST_F(PublishLink, GivesUpOnAServerThatSaysNothing) {
    auto how = to_the_test();
    how.timeout = std::chrono::milliseconds(50);
    const auto linked = open_link(how);
    ASSERT_FALSE(linked);
    EXPECT_EQ(linked.error().code, errc::broker_unavailable);
    EXPECT_THAT(linked.error().what, HasSubstr("does not answer in time"));
}

TEST_F(PublishLink, GivesUpOnAServerThatDoesNotTakeTheLogIn) {
    first_words_ = greeting;
    auto how = to_the_test();
    how.timeout = std::chrono::milliseconds(50);
    const auto linked = open_link(how);
    ASSERT_FALSE(linked);
    EXPECT_THAT(linked.error().what, HasSubstr("does not answer in time"));
}

TEST_F(PublishLink, RefusesAServerOfAnotherKind) {
    first_words_ = "SSH-2.0-OpenSSH_9.2\r\n";
    const auto linked = open_link(to_the_test());
    ASSERT_FALSE(linked);
    EXPECT_EQ(linked.error().code, errc::broker_unavailable);
    EXPECT_THAT(linked.error().what, HasSubstr("not NATS's protocol"));
}

TEST_F(PublishLink, TellsTheWordsOfARefusal) {
    first_words_ = greeting;
    on_ping_ = "-ERR 'maximum connections exceeded'\r\n";
    const auto linked = open_link(to_the_test());
    ASSERT_FALSE(linked);
    EXPECT_EQ(linked.error().server_said, "maximum connections exceeded");
}

TEST_F(PublishLink, LacksARightWhereItsInboxIsForbidden) {
    first_words_ = greeting;
    on_ping_ = "-ERR 'Permissions Violation for Subscription to \"_INBOX.x.*\"'\r\n";
    const auto linked = open_link(to_the_test());
    ASSERT_FALSE(linked);
    EXPECT_EQ(linked.error().code, errc::broker_unsuitable);
    EXPECT_THAT(linked.error().remedy, HasSubstr("_INBOX.>"));
}

TEST_F(PublishLink, GoesOnToTheNextServer) {
    auto how = options();
    const auto real = how.urls.front();
    how.urls = {real, "nats://127.0.0.1:1"};
    const auto linked = open_link(how);  // the first epoch begins with the second of them
    EXPECT_TRUE(linked) << to_string(linked.error());
}

TEST_F(PublishLink, AnswersAPingThatComesBeforeTheWelcome) {
    first_words_ = greeting;
    on_ping_ = "PING\r\nPONG\r\n";
    const auto linked = open_link(to_the_test());
    ASSERT_TRUE(linked) << to_string(linked.error());
    run_until([&] { return heard_.ends_with("PONG\r\n"); });
}

TEST_F(PublishLink, AnswersPings) {
    const auto link = open_to_the_test();
    ASSERT_NE(link, nullptr);
    say("PING\r\n");
    run_until([&] { return heard_.ends_with("PONG\r\n"); });
}

TEST_F(PublishLink, EndsWithTheServersWords) {
    const auto link = open_to_the_test();
    ASSERT_NE(link, nullptr);
    say("-ERR 'Stale Connection'\r\n");
    run_until([&] { return lost_.has_value(); });
    EXPECT_EQ(lost_->code, errc::broker_lost);
    EXPECT_EQ(lost_->server_said, "Stale Connection");
}

TEST_F(PublishLink, EndsAtBytesThatAreNotOfTheProtocol) {
    const auto link = open_to_the_test();
    ASSERT_NE(link, nullptr);
    say("what?\r\n");
    run_until([&] { return lost_.has_value(); });
    EXPECT_EQ(lost_->code, errc::broker_lost);
}

TEST_F(PublishLink, TellsNoReplyThatIsNotItsOwn) {
    const auto link = open_to_the_test();
    ASSERT_NE(link, nullptr);
    const auto inbox =
        heard_.substr(heard_.find("_INBOX"), heard_.rfind('*') - heard_.find("_INBOX"));
    say("MSG _INBOX.other.1.7 1 2\r\nno\r\nMSG " + inbox + "x 1 2\r\nno\r\nMSG " + inbox +
        "7 1 3\r\nyes\r\n");
    run_until([&] { return !replies_.empty(); });
    ASSERT_EQ(replies_.size(), 1U);
    EXPECT_EQ(replies_[0].first, 7U);
    EXPECT_EQ(replies_[0].second, "yes");
}

TEST_F(PublishLink, DoesNotSendWhatTheServerWouldCutItOffFor) {
    const auto link = open_to_the_test();
    ASSERT_NE(link, nullptr);
    auto large = sample("a");
    large.body.assign(101, 'x');
    const auto refused = link->publish(large, 0, 0);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, errc::message_refused);
    link->flush();
    say("PING\r\n");
    run_until([&] { return heard_.ends_with("PONG\r\n"); });
    EXPECT_EQ(heard_.find("HPUB"), std::string::npos);
}

/// A server tells of the limit of an account, or of a user, only after the first PING.
TEST_F(PublishLink, KnowsTheLimitOfItsAccount) {
    first_words_ = greeting;
    on_ping_ = "PONG\r\nINFO {\"max_payload\":64}\r\n";
    const auto linked = open_link(to_the_test());
    ASSERT_TRUE(linked) << to_string(linked.error());
    EXPECT_EQ((*linked)->max_payload_bytes(), 64U);
    say("PING\r\n");
    run_until([&] { return heard_.ends_with("PONG\r\n"); });
    EXPECT_FALSE(lost_.has_value());
}

TEST_F(PublishLink, EndsWhereALaterInfoLowersTheLimit) {
    const auto link = open_to_the_test();
    ASSERT_NE(link, nullptr);
    EXPECT_EQ(link->max_payload_bytes(), 100U);
    say("INFO {\"max_payload\":200}\r\nINFO {\"ldm\":true}\r\nINFO {}\r\nPING\r\n");
    run_until([&] { return heard_.ends_with("PONG\r\n"); });
    EXPECT_FALSE(lost_.has_value());
    say("INFO {\"max_payload\":99}\r\n");
    run_until([&] { return lost_.has_value(); });
    EXPECT_EQ(lost_->code, errc::broker_lost);
    EXPECT_THAT(lost_->what, HasSubstr("max_payload was lowered from 100 to 99"));
}

}  // namespace
}  // namespace walrelay::test
