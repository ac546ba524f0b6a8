// What the texts of single settings must look like.
#include "config/checks.hpp"

#include <gtest/gtest.h>

#include <string>

namespace walrelay::config {
namespace {

TEST(CheckSlot, FollowsTheRuleOfPostgres) {
    for (const std::string name : {"walrelay_2", "_", "9"}) {
        EXPECT_FALSE(check_slot(name)) << name;
    }
    for (const std::string name : {"", "Slot", "a-b", "a b", "\u00e4"}) {
        EXPECT_TRUE(check_slot(name)) << name;
    }
    EXPECT_FALSE(check_slot(std::string(63, 'a')));
    EXPECT_TRUE(check_slot(std::string(64, 'a')));
    EXPECT_EQ(*check_slot("My-Slot"), complaint("\"My-Slot\" is not the name of a replication slot",
                                                "write 1 to 63 of the characters a-z, 0-9 and _"));
}

TEST(CheckPublication, WantsANameThatPostgresKeepsWhole) {
    EXPECT_FALSE(check_publication("Any Name"));
    EXPECT_TRUE(check_publication(""));
    EXPECT_TRUE(check_publication(std::string(64, 'a')));
}

TEST(CheckStream, RefusesWhatNatsReserves) {
    EXPECT_FALSE(check_stream("OUTBOX-1_a"));
    for (const std::string name : {"", "a b", "a.b", "a*", ">", "a/b", "a\\b", "a\tb"}) {
        EXPECT_TRUE(check_stream(name)) << name;
    }
    EXPECT_EQ(check_stream("a.b")->remedy,
              "write a name without blanks, dots, *, > and slashes, such as \"OUTBOX\"");
}

TEST(CheckSubject, TakesTokensAndWildcards) {
    for (const std::string subject : {"a", "a.b.c", "a.*.c", "*", ">", "a.>"}) {
        EXPECT_FALSE(check_subject(subject)) << subject;
    }
}

TEST(CheckInboxPrefix, TakesWhatSubjectsCanBeginWith) {
    for (const auto* prefix : {"_INBOX", "_INBOX_relay", "replies.relay"}) {
        EXPECT_FALSE(check_inbox_prefix(prefix)) << prefix;
    }
    for (const auto* prefix : {"", "_INBOX.", "_INBOX.>", "a.*.b", "a b", "$JS", "$SYS.REQ"}) {
        EXPECT_TRUE(check_inbox_prefix(prefix)) << prefix;
    }
    EXPECT_FALSE(check_inbox_prefix(std::string(255, 'x')));
    EXPECT_TRUE(check_inbox_prefix(std::string(256, 'x'))) << "no protocol line has room for it";
}

TEST(CheckSubject, RefusesEmptyTokensAndMisplacedWildcards) {
    for (const std::string subject : {"", ".", "a.", ".a", "a..b", "a b", "a.>.b", "a.b*", "a>"}) {
        EXPECT_TRUE(check_subject(subject)) << subject;
    }
}

TEST(CheckUrl, KnowsTheSchemesOfNats) {
    for (const std::string url : {"nats://a:4222", "tls://a", "tls://u:p@a:443"}) {
        EXPECT_FALSE(check_url(url)) << url;
    }
    for (const std::string url :
         {"", "a:4222", "http://a", "ws://a", "nats://", "nats://a b", "NATS://a"}) {
        EXPECT_TRUE(check_url(url)) << url;
    }
}

TEST(CheckMessagePrefix, TakesWhatBothPluginsTellApart) {
    for (const std::string prefix : {"", "walrelay", "orders/v1.a_b-C", "walrelays.x"}) {
        EXPECT_FALSE(check_message_prefix(prefix)) << prefix;
    }
    for (const std::string prefix :
         {"a,b", "a b", "a\\b", "\u00e4", "walrelay.retry", "walrelay."}) {
        EXPECT_TRUE(check_message_prefix(prefix)) << prefix;
    }
    EXPECT_TRUE(check_message_prefix(std::string(64, 'a')));
}

TEST(CheckHeaderName, TakesTokens) {
    for (const std::string name : {"Correlation-Id", "x", "a.b_c!~", "Natsy", "X-Nats-A"}) {
        EXPECT_FALSE(check_header_name(name)) << name;
    }
    for (const std::string name : {"", "a b", "a:b", "a\r\nb", "\u00e4", "a/b", "\"a\""}) {
        EXPECT_TRUE(check_header_name(name)) << name;
    }
}

TEST(CheckHeaderName, RefusesReservedNamesInAnyCase) {
    for (const std::string name :
         {"Nats-Msg-Id", "NATS-X", "nats-", "WALRELAY-a", "Walrelay-Position"}) {
        EXPECT_TRUE(check_header_name(name)) << name;
    }
}

}  // namespace
}  // namespace walrelay::config
