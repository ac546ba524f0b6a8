#include "nats/session/wire_lines.hpp"

#include <gtest/gtest.h>

namespace walrelay::nats {
namespace {

message sample() {
    message filled;
    filled.subject = "events.order";
    filled.id = "17";
    filled.body = "{}\r\n";
    return filled;
}

TEST(WireLines, APublishCarriesWhatTheLaneAsksFor) {
    auto content = sample();
    content.add_header("Content-Type", "application/json");
    std::string lines = "PING\r\n";
    const auto counted = append_publish(
        lines, content, {.inbox = "_INBOX.a.1.", .index = 42, .expected_last_sequence = 1000});
    EXPECT_EQ(lines,
              "PING\r\n"
              "HPUB events.order _INBOX.a.1.42 96 100\r\n"
              "NATS/1.0\r\n"
              "Nats-Msg-Id: 17\r\n"
              "Nats-Expected-Last-Sequence: 1000\r\n"
              "Content-Type: application/json\r\n"
              "\r\n"
              "{}\r\n\r\n");
    EXPECT_EQ(counted, 100U);
}

TEST(WireLines, APublishWithoutAnExpectedSequenceHasNoHeaderForIt) {
    std::string lines;
    append_publish(lines, sample(),
                   {.inbox = "_INBOX.a.1.", .index = 0, .expected_last_sequence = std::nullopt});
    EXPECT_EQ(lines,
              "HPUB events.order _INBOX.a.1.0 29 33\r\n"
              "NATS/1.0\r\n"
              "Nats-Msg-Id: 17\r\n"
              "\r\n"
              "{}\r\n\r\n");
}

TEST(WireLines, OnlyWhatIsNotToBeStoredNamesAStream) {
    std::string lines;
    append_publish(lines, sample(),
                   {.inbox = "_INBOX.a.1.",
                    .index = 0,
                    .expected_last_sequence = std::nullopt,
                    .refused_unless_stream = "none"});
    EXPECT_EQ(lines,
              "HPUB events.order _INBOX.a.1.0 57 61\r\n"
              "NATS/1.0\r\n"
              "Nats-Msg-Id: 17\r\n"
              "Nats-Expected-Stream: none\r\n"
              "\r\n"
              "{}\r\n\r\n");
}

TEST(WireLines, TheSizesAreThoseOfWhatFollows) {
    auto content = sample();
    content.body.assign(1000, '\0');
    content.add_header("A", "");
    std::string lines;
    const auto counted = append_publish(lines, content,
                                        {.inbox = "_INBOX.a.1.",
                                         .index = ~std::uint64_t{0},
                                         .expected_last_sequence = ~std::uint64_t{0}});
    const auto line_bytes = lines.find("\r\n") + 2;
    EXPECT_EQ(lines.size() - line_bytes, counted + 2);
    const auto block_bytes = lines.find("\r\n\r\n") + 4 - line_bytes;
    EXPECT_NE(
        lines.find(" " + std::to_string(block_bytes) + " " + std::to_string(counted) + "\r\n"),
        std::string::npos);
}

TEST(WireLines, ARequestHasAnInboxForOneAnswerAndNoBody) {
    std::string lines;
    append_request(lines, "$JS.API.STREAM.INFO.S", "_INBOX.x.1.info", 7);
    EXPECT_EQ(lines,
              "SUB _INBOX.x.1.info 7\r\nUNSUB 7 1\r\n"
              "PUB $JS.API.STREAM.INFO.S _INBOX.x.1.info 0\r\n\r\n");
    lines.clear();
    append_unsubscribe(lines, 7);
    EXPECT_EQ(lines, "UNSUB 7\r\n");
}

TEST(WireLines, ASubscriptionNamesItsSubjectAndId) {
    std::string lines;
    append_subscribe(lines, "_INBOX.a.1.*", 1);
    EXPECT_EQ(lines, "SUB _INBOX.a.1.* 1\r\n");
}

}  // namespace
}  // namespace walrelay::nats
