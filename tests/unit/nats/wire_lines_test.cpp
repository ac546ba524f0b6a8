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
    const auto line = append_publish(
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
    EXPECT_EQ(line.payload_bytes, 100U);
    EXPECT_EQ(lines.substr(line.reply_begin, line.reply_end - line.reply_begin), "42");
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
                                         .expected_last_sequence = ~std::uint64_t{0}})
                             .payload_bytes;
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

/// Without the headers and the body.
std::string first_line(std::string_view lines) {
    return std::string(lines.substr(0, lines.find("\r\n")));
}

publish_terms in_batch(std::uint32_t number) {
    return {.inbox = "_INBOX.a.", .index = 41 + number, .batch = batch_terms{"bX42", number, 100}};
}

TEST(WireLines, AReplySubjectNamesTheBatch) {
    std::string first;
    append_publish(first, sample(), in_batch(1));
    EXPECT_EQ(first_line(first), "HPUB events.order _INBOX.a.bX42.100.fail.1.0.$FI 29 33");
    std::string second;
    const auto line = append_publish(second, sample(), in_batch(2));
    EXPECT_EQ(first_line(second), "HPUB events.order _INBOX.a.bX42.100.fail.2.1.$FI 29 33");
    end_batch(second, line);
    EXPECT_EQ(first_line(second), "HPUB events.order _INBOX.a.bX42.100.fail.2.2.$FI 29 33");
}

TEST(WireLines, ABatchOfOneIsAPublishLikeAnyOther) {
    std::string lines = "PING\r\n";
    const auto line = append_publish(lines, sample(), in_batch(1));
    publish_singly(lines, line, 42);
    std::string plain = "PING\r\n";
    append_publish(plain, sample(), {.inbox = "_INBOX.a.", .index = 42});
    EXPECT_EQ(lines, plain);
}

TEST(WireLines, AReplyTellsWhichPublishItIsOf) {
    const auto plain = read_reply_words("42", "bX");
    ASSERT_TRUE(plain);
    EXPECT_EQ(plain->index, 42U);
    EXPECT_EQ(plain->number, 0U);
    const auto within = read_reply_words("bX42.100.fail.2.1.$FI", "bX");
    ASSERT_TRUE(within);
    EXPECT_EQ(within->index, 42U);
    EXPECT_EQ(within->number, 2U);
    EXPECT_FALSE(within->ends_batch);
    EXPECT_TRUE(read_reply_words("bX42.100.fail.7.2.$FI", "bX").value().ends_batch);
}

TEST(WireLines, WordsOfNoPublishAreNoReply) {
    for (const char* words : {"", "x", "42x", "bY42.100.fail.2.1.$FI", "bX42.100.fail.2.1",
                              "bX.100.fail.2.1.$FI", "bX42.100.ok.2.1.$FI", "bX42.100.fail.0.1.$FI",
                              "bX42.100.fail.2.1.$FI.x", "bX42", "42.100.fail.2.1.$FI"}) {
        EXPECT_FALSE(read_reply_words(words, "bX")) << words;
    }
    EXPECT_FALSE(read_reply_words("bX42.100.fail.2.1.$FI", ""));
}

}  // namespace
}  // namespace walrelay::nats
