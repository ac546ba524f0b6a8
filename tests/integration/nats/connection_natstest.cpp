#include "nats_fixture.hpp"
#include "relay/lane/publish_outcome.hpp"
#include "support/eventually.hpp"
#include "support/nats_cluster.hpp"

#include <gmock/gmock.h>

#include <chrono>

namespace walrelay::test {
namespace {

using testing::HasSubstr;
using namespace std::chrono_literals;

class Connection : public nats_fixture {};

TEST_F(Connection, PublishesWithTheHeadersOfTheLaneAndTellsTheAck) {
    const auto connection = open_with_stream();
    ASSERT_TRUE(connection->publish(sample("a"), 7, 0));
    connection->flush();
    run_until([&] { return !replies_.empty(); });
    EXPECT_EQ(replies_[0].first, 7U);
    EXPECT_THAT(replies_[0].second, HasSubstr(R"("seq":1)"));

    const auto stored = reader().read("S");
    ASSERT_EQ(stored.size(), 1U);
    EXPECT_EQ(stored[0].body, "body of a");
    EXPECT_EQ(stored[0].header("Nats-Msg-Id"), "a");
    EXPECT_EQ(stored[0].header("Nats-Expected-Stream"), "") << "a mirror has another name";
    EXPECT_EQ(stored[0].header("Nats-Expected-Last-Sequence"), "0");
    EXPECT_EQ(stored[0].header("Content-Type"), "text/plain");
}

TEST_F(Connection, KnowsTheLimitOfTheServerThatItPublishesTo) {
    const nats_server other({.settings = {"max_payload: 2000"}});
    auto how = options();
    how.urls = {server().url(), other.url()};
    for (const std::uint64_t epoch : {2U, 3U, 3U, 2U}) {  // begins with the first, or the second
        const auto opened = open(how, epoch);
        ASSERT_TRUE(opened) << to_string(opened.error());
        EXPECT_EQ((*opened)->facts().max_payload_bytes, epoch == 2 ? 1024U * 1024U : 2000U);
    }
}

TEST_F(Connection, TellsWhatTheStreamEndsWith) {
    const auto connection = open_with_stream();
    ASSERT_TRUE(connection->publish(sample("a"), 7, 0));
    connection->flush();
    run_until([&] { return !replies_.empty(); });
    connection->ask_stream();
    run_until([&] { return !stream_info_.empty(); });
    const auto last = relay::parse_last_sequence(stream_info_);
    ASSERT_TRUE(last) << stream_info_;
    EXPECT_EQ(*last, 1U);
    EXPECT_EQ(replies_.size(), 1U) << "no reply to a publish";
}

TEST_F(Connection, KeepsTheOrderOfAWholeWindow) {
    const auto connection = open_with_stream();
    constexpr std::uint64_t count = 5000;
    for (std::uint64_t index = 0; index < count; ++index) {
        ASSERT_TRUE(connection->publish(sample(std::to_string(index)), index, index));
    }
    connection->flush();
    run_until([&] { return replies_.size() == count; });
    for (std::uint64_t index = 0; index < count; ++index) {
        ASSERT_EQ(replies_[index].first, index);
        ASSERT_THAT(replies_[index].second,
                    HasSubstr("\"seq\":" + std::to_string(index + 1) + "}"));
    }
}

TEST_F(Connection, HasEnoughAfterAWhileAndTellsWhenItTakesMore) {
    const auto connection = open_with_stream();
    constexpr std::uint64_t count = 200;
    auto large = sample("");
    large.body.assign(100'000, 'x');
    std::uint64_t index = 0;
    const auto hand_over = [&] {
        for (; index < count && !connection->is_full(); ++index) {
            large.id = std::to_string(index);
            ASSERT_TRUE(connection->publish(large, index, index));
        }
        connection->flush();
    };
    hand_over();
    ASSERT_TRUE(connection->is_full());
    EXPECT_LT(index, 100U) << "10 MB wait to be sent";
    while (index < count) {
        room_was_made_ = false;
        run_until([&] { return room_was_made_; });
        ASSERT_FALSE(HasFailure());
        hand_over();
    }
    run_until([&] { return replies_.size() == count; });
    EXPECT_EQ(reader().read("S").size(), count);
}

TEST_F(Connection, TellsTheRejectOfAnUnexpectedSequence) {
    const auto connection = open_with_stream();
    ASSERT_TRUE(connection->publish(sample("a"), 0, 5));
    connection->flush();
    run_until([&] { return !replies_.empty(); });
    EXPECT_THAT(replies_[0].second, HasSubstr("10071"));
}

TEST_F(Connection, TellsThatNobodyServesASubject) {
    const auto connection = open_with_stream();
    reader().remove("S");
    ASSERT_TRUE(connection->publish(sample("a"), 0, 0));
    connection->flush();
    run_until([&] { return lost_.has_value(); });
    EXPECT_EQ(lost_->code, errc::broker_unavailable);
    EXPECT_THAT(lost_->what, HasSubstr("nobody serves"));
}

TEST_F(Connection, TellsWhenTheServerIsKilled) {
    const auto connection = open_with_stream();
    server().kill_9();
    run_until([&] { return lost_.has_value(); });
    EXPECT_EQ(lost_->code, errc::broker_lost);
}

TEST_F(Connection, CannotBeMadeWhileTheServerIsDown) {
    auto how = options();
    server().stop();
    const auto opened = open(how);
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, errc::broker_unavailable);
    EXPECT_THAT(opened.error().what, HasSubstr(how.urls[0]));
}

TEST_F(Connection, CanBeMadeAgainAndAgain) {
    for (std::uint64_t epoch = 1; epoch <= 20; ++epoch) {
        auto opened = open(options(), epoch);
        ASSERT_TRUE(opened) << to_string(opened.error());
    }
}

TEST_F(Connection, GoesToTheServerThatLeadsTheStream) {
    nats_cluster cluster;
    stream_reader all(cluster.urls());
    all.create({.name = "S", .subjects = {"s.>"}, .replicas = 3});
    auto how = options();
    how.urls = {cluster.server(0).url()};  // the others are told of
    for (std::uint64_t epoch = 1; epoch <= nats_cluster::size; ++epoch) {
        const auto leader = all.state("S")->leader;
        auto opened = open(how, epoch);
        // A server that does not say its name soon enough, on a busy machine, is passed over, and
        // asked again some seconds later.
        ASSERT_TRUE(eventually(60s, [&] {
            const bool leads = opened && (*opened)->server_name() == leader;
            if (!leads) {
                opened = open(how, epoch);
            }
            return leads;
        }));
        EXPECT_EQ((*opened)->facts().stream->leader, leader);
        EXPECT_EQ((*opened)->server_name(), leader);
        replies_.clear();
        ASSERT_TRUE((*opened)->publish(sample(std::to_string(epoch)), epoch, std::nullopt));
        (*opened)->flush();
        run_until([&] { return !replies_.empty(); });
        all.step_down("S");
        ASSERT_TRUE(eventually(30s, [&] {
            const auto now = all.state("S");
            return now && !now->leader.empty() && now->leader != leader;
        }));
    }
}

TEST_F(Connection, TellsNothingOnceItIsGone) {
    auto connection = open_with_stream();
    ASSERT_TRUE(connection->publish(sample("a"), 0, 0));
    connection->flush();
    connection.reset();
    ASSERT_TRUE(reader().wait_for("S", 1, std::chrono::seconds(10)));
    io_.poll();
    EXPECT_TRUE(replies_.empty());
    EXPECT_FALSE(lost_.has_value());
}

TEST_F(Connection, WaitsWhereJetStreamIsOff) {
    use_server({.jetstream = false});
    const auto opened = open(options());
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, errc::broker_unavailable);
}

}  // namespace
}  // namespace walrelay::test
