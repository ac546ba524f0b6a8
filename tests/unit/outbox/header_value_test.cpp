// What may go out as the value of a header, for any value of a column.
#include "outbox/header_value.hpp"

#include "core/occasion.hpp"
#include "unit/outbox/random_text.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace walrelay::outbox {
namespace {

std::string encoded(std::string_view value) {
    std::string text;
    append_header_value(text, value);
    return text;
}

std::string for_cloudevents(std::string_view value) {
    std::string text;
    append_cloudevents_value(text, value);
    return text;
}

bool holds_reserved_text(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
    return text.find("nats-") != std::string::npos;
}

TEST(HeaderValue, LeavesOrdinaryValuesAsTheyAre) {
    for (const char* value :
         {"", "42", "a b", "100%", "%41", "Größe: 日本", "nats", "-", "gnats -x",
          "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}) {
        EXPECT_EQ(encoded(value), value);
    }
}

TEST(HeaderValue, EncodesLineEndsAndControlBytesAndThenPercentToo) {
    EXPECT_EQ(encoded("a\r\nX: 100%"), "a%0D%0AX: 100%25");
    EXPECT_EQ(encoded("\x01\x7f\t"), "%01%7F%09");
}

TEST(HeaderValue, EncodesBlanksAtTheEndsOnly) {
    EXPECT_EQ(encoded(" a b "), "%20a b%20");
    EXPECT_EQ(encoded(" "), "%20");
}

TEST(HeaderValue, BreaksUpTheNamesThatTheServerSearchesFor) {
    EXPECT_EQ(encoded("Nats-Msg-Id"), "Nats%2DMsg-Id");
    EXPECT_EQ(encoded("x nATS-nats-50%"), "x nATS%2Dnats%2D50%25");
}

std::string as_message_id(std::string_view value) {
    std::string text;
    append_message_id(text, value);
    return text;
}

TEST(MessageId, ThatEndsLikeThatOfARowPublishedAgainIsEncodedAtTheMark) {
    EXPECT_EQ(as_message_id("victim;retry-1-1"), "victim%3Bretry-1-1");
    EXPECT_EQ(as_message_id("100%;replay-3"), "100%25%3Breplay-3");
    EXPECT_EQ(as_message_id("a;retry-1-1;retry-2-1"), "a;retry-1-1%3Bretry-2-1");
    EXPECT_EQ(as_message_id(";republish-0000000001A2B3C4-1"), "%3Brepublish-0000000001A2B3C4-1");
}

TEST(MessageId, OfAnyOtherTextIsAsTheValueOfAHeader) {
    for (const char* value : {"a", "a;b", "a;retry-1", "50%", "a;b%3Bretry-1-1"}) {
        EXPECT_EQ(as_message_id(value), value);
    }
    EXPECT_EQ(as_message_id(" a;b"), encoded(" a;b"));
}

TEST(MessageId, OfARowIsNeverThatOfAnotherPublishedAgain) {
    constexpr unsigned seed = 4712;
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    constexpr const char* endings[] = {";retry-1-1", ";replay-7", "%3Bretry-1-1", ";", "", "%"};
    for (int round = 0; round < 5000; ++round) {
        const auto value = test::random_text(random, "a;%- \r1", 6) + endings[random() % 6] +
                           endings[random() % 6];
        EXPECT_EQ(without_last_occasion(as_message_id(value)), std::nullopt) << value;
    }
}

TEST(HeaderValue, IsFitForTheWireWhateverTheValue) {
    constexpr unsigned seed = 4711;
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    for (int round = 0; round < 5000; ++round) {
        const auto value = test::random_text(random, "NnAaTtSs-- %\r\n\t\x7f\xc3\xbc", 14);
        const auto text = encoded(value);
        EXPECT_FALSE(holds_reserved_text(text)) << text;
        EXPECT_EQ(text.find_first_of("\r\n\t\x7f"), std::string::npos);
        EXPECT_FALSE(text.starts_with(' ') || text.ends_with(' '));
        EXPECT_TRUE(text == value || test::percent_decoded(text) == value) << text;
    }
}

TEST(CloudEventsValue, LeavesPrintableAsciiAsItIs) {
    EXPECT_EQ(for_cloudevents("order.placed/7:(a)-~!"), "order.placed/7:(a)-~!");
}

TEST(CloudEventsValue, EncodesWhatTheBindingNames) {
    EXPECT_EQ(for_cloudevents("Euro € 😀"), "Euro%20%E2%82%AC%20%F0%9F%98%80");
    EXPECT_EQ(for_cloudevents("\"100%\""), "%22100%25%22");
    EXPECT_EQ(for_cloudevents("\x7f\n"), "%7F%0A");
}

TEST(CloudEventsValue, BreaksUpTheNamesThatTheServerSearchesFor) {
    EXPECT_EQ(for_cloudevents("Nats-Msg-Id"), "Nats%2DMsg-Id");
}

TEST(CloudEventsValue, CanBeDecodedWhateverTheValue) {
    constexpr unsigned seed = 815;
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    for (int round = 0; round < 5000; ++round) {
        const auto value = test::random_text(random, "NATSnats- %\"\r\x7f\xc3\xbc", 14);
        const auto text = for_cloudevents(value);
        EXPECT_FALSE(holds_reserved_text(text)) << text;
        EXPECT_EQ(test::percent_decoded(text), value);
    }
}

}  // namespace
}  // namespace walrelay::outbox
