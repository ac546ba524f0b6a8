#include "nats/session/wire_parser.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace walrelay::nats {
namespace {

constexpr std::string_view session =
    "INFO {\"max_payload\":1048576}\r\n"
    "+OK\r\n"
    "PONG\r\n"
    "MSG _INBOX.a.1.7 1 27\r\n{\"stream\":\"S\", \"seq\":12345}\r\n"
    "MSG _INBOX.a.1.8 1 _R_.x 0\r\n\r\n"
    "HMSG _INBOX.a.1.9 1 16 16\r\nNATS/1.0 503\r\n\r\n\r\n"
    "HMSG _INBOX.a.1.10 1 other 18 20\r\nNATS/1.0\r\nA: b\r\n\r\nok\r\n"
    "PING\r\n"
    "-ERR 'Stale Connection'\r\n";

/// What an operation says, as text that can be compared.
std::string shown(const wire_operation& each) {
    return std::to_string(static_cast<int>(each.verb)) + "|" + std::string(each.subject) + "|" +
           std::string(each.headers) + "|" + std::string(each.text);
}

/// All operations of what arrives in pieces that end at `cut` and at the end.
std::vector<std::string> taken(std::string_view bytes, std::size_t cut) {
    std::vector<std::string> all;
    std::string arrived;
    for (const auto piece : {bytes.substr(0, cut), bytes.substr(cut)}) {
        arrived += piece;
        std::string_view unread = arrived;
        for (auto each = take_operation(unread); each.verb != wire_verb::incomplete;
             each = take_operation(unread)) {
            all.push_back(shown(each));
            if (each.verb == wire_verb::malformed) {
                return all;
            }
        }
        arrived = std::string(unread);
    }
    EXPECT_EQ(arrived, "");
    return all;
}

wire_operation only(std::string_view bytes) {
    auto unread = bytes;
    return take_operation(unread);
}

TEST(WireParser, TakesAMessageApart) {
    const auto reply = only("MSG _INBOX.a.1.7 1 5\r\nhello\r\nrest");
    EXPECT_EQ(reply.verb, wire_verb::message);
    EXPECT_EQ(reply.subject, "_INBOX.a.1.7");
    EXPECT_EQ(reply.headers, "");
    EXPECT_EQ(reply.text, "hello");
    EXPECT_EQ(status_of(reply), 0U);
}

TEST(WireParser, TakesHeadersAndTheirStatusApart) {
    const auto nobody = only("HMSG a 1 16 16\r\nNATS/1.0 503\r\n\r\n\r\n");
    EXPECT_EQ(nobody.verb, wire_verb::message);
    EXPECT_EQ(nobody.text, "");
    EXPECT_EQ(status_of(nobody), 503U);
    const auto reply = only("HMSG a 1 18 20\r\nNATS/1.0\r\nA: b\r\n\r\nok\r\n");
    EXPECT_EQ(reply.headers, "NATS/1.0\r\nA: b\r\n\r\n");
    EXPECT_EQ(reply.text, "ok");
    EXPECT_EQ(status_of(reply), 0U);
}

TEST(WireParser, TakesTheWordsOfAnErrorOutOfTheirQuotes) {
    EXPECT_EQ(only("-ERR 'Authorization Violation'\r\n").text, "Authorization Violation");
    EXPECT_EQ(only("-ERR\r\n").text, "");
    const auto right = only("-ERR 'Permissions Violation for Publish to \"s.a\"'\r\n");
    EXPECT_EQ(right.verb, wire_verb::err);
    EXPECT_EQ(right.text, "Permissions Violation for Publish to \"s.a\"");
}

TEST(WireParser, TellsTheSameWhereverTheBytesAreCut) {
    const auto whole = taken(session, 0);
    EXPECT_EQ(whole.size(), 9U);
    for (std::size_t cut = 1; cut < session.size(); ++cut) {
        ASSERT_EQ(taken(session, cut), whole) << cut;
    }
}

TEST(WireParser, LeavesWhatIsIncompleteAlone) {
    for (std::size_t end = 0; end < session.find("+OK"); ++end) {
        auto unread = session.substr(0, end);
        ASSERT_EQ(take_operation(unread).verb, wire_verb::incomplete) << end;
        ASSERT_EQ(unread.size(), end);
    }
}

TEST(WireParser, RefusesWhatIsNotOfTheProtocol) {
    for (const std::string_view bytes :
         {"HTTP/1.1 400 Bad Request\r\n", "\r\n", "MSG\r\n", "MSG a 1\r\n", "MSG a 1 x\r\n\r\n",
          "MSG a 1 -1\r\n\r\n", "MSG a 1 2\r\nabc\r\n", "MSG 5\r\nhello\r\n",
          "HMSG a 1 9 8\r\n12345678\r\n", "MSG a 1 99999999999\r\n", "PINGPING\r\n"}) {
        const auto found = only(bytes);
        EXPECT_EQ(found.verb, wire_verb::malformed) << bytes;
        EXPECT_TRUE(bytes.starts_with(found.text)) << bytes;
    }
}

TEST(WireParser, RefusesALineThatDoesNotEnd) {
    const std::string endless(operation_max_bytes + 1, 'x');
    EXPECT_EQ(only(endless).verb, wire_verb::malformed);
}

}  // namespace
}  // namespace walrelay::nats
