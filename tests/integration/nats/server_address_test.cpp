#include "nats/session/server_address.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace walrelay::nats {
namespace {

TEST(ServerAddress, HasThePortOfNatsWhereItNamesNone) {
    const auto server = parse_server_address("nats://broker.example");
    ASSERT_TRUE(server);
    EXPECT_EQ(server->host, "broker.example");
    EXPECT_EQ(server->port, "4222");
    EXPECT_FALSE(server->tls);
    EXPECT_EQ(to_string(*server), "broker.example:4222");
}

TEST(ServerAddress, MayBeAnAddressOfTheInternetOfEitherKind) {
    EXPECT_EQ(parse_server_address("nats://10.0.0.1:99")->host, "10.0.0.1");
    const auto six = parse_server_address("tls://[::1]:99");
    ASSERT_TRUE(six);
    EXPECT_TRUE(six->tls);
    EXPECT_EQ(six->host, "::1");
    EXPECT_EQ(to_string(*six), "[::1]:99");
}

TEST(ServerAddress, MayNameAUserOrAToken) {
    const auto user = parse_server_address("nats://me:p%40ss@a:1");
    ASSERT_TRUE(user);
    EXPECT_EQ(user->user, "me");
    EXPECT_EQ(user->password, "p@ss");
    EXPECT_EQ(user->token, "");
    const auto token = parse_server_address("nats://s3cret@a:1");
    ASSERT_TRUE(token);
    EXPECT_EQ(token->user, "");
    EXPECT_EQ(token->token, "s3cret");
}

TEST(ServerAddress, IsRefusedWithoutItsPassword) {
    for (const std::string url :
         {"nats://me:p^ss@a:1", "http://me:p@a", "a:1", "nats://", "", "nats://me:p@a b",
          "nats://me:p@ss@a:1", "nats://me:p@:1", "tls:^", "nats:\xCA"}) {
        const auto server = parse_server_address(url);
        ASSERT_FALSE(server) << url;
        EXPECT_EQ(server.error().code, errc::broker_unsuitable);
        EXPECT_THAT(server.error().what, testing::Not(testing::HasSubstr("me:"))) << url;
    }
}

TEST(ServerAddress, IsRefusedWithoutItsPasswordWhereverTheSlashesStand) {
    for (const std::string url : {"me:p4ss@a:1", "me:p4ss@a//b", "me:p4ss@a//b@c", "me:p4//ss@a",
                                  "nats:/me:p4ss@a", " nats://me:p4ss@a//b"}) {
        const auto server = parse_server_address(url);
        ASSERT_FALSE(server) << url;
        EXPECT_THAT(server.error().what, testing::Not(testing::HasSubstr("p4"))) << url;
    }
}

TEST(ServerAddress, HasAHostThatCanBeLookedUp) {
    for (const std::string url : {"nats://a%00.b", "nats://a%0Ab:1", "tls://%7f"}) {
        EXPECT_FALSE(parse_server_address(url)) << url;
    }
}

}  // namespace
}  // namespace walrelay::nats
