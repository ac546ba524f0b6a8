#include "nats/session/inbox.hpp"

#include <gmock/gmock.h>

namespace walrelay::nats {
namespace {

using testing::MatchesRegex;

TEST(Inbox, OfAConnectionsRepliesIsShortAndItsOwn) {
    const auto inbox = new_reply_inbox("_INBOX");
    EXPECT_THAT(inbox, MatchesRegex("_INBOX\\.[A-Za-z0-9]+\\."));
    EXPECT_EQ(inbox.size(), std::string("_INBOX.").size() + 10 + 1);
    EXPECT_NE(new_reply_inbox("_INBOX"), inbox);
}

TEST(Inbox, OfAQuestionCannotBeGuessed) {
    const auto inbox = new_inbox("_INBOX_relay");
    EXPECT_THAT(inbox, MatchesRegex("_INBOX_relay\\.[A-Za-z0-9]+\\."));
    EXPECT_EQ(inbox.size(), std::string("_INBOX_relay.").size() + 22 + 1);
    EXPECT_NE(new_inbox("_INBOX_relay"), inbox);
}

}  // namespace
}  // namespace walrelay::nats
