#include "traces/otlp_json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <simdjson.h>

#include <array>
#include <map>
#include <string>
#include <vector>

namespace walrelay::traces {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

const origin common{"orders relay", "1.2.3", "orders", "EVENTS"};

span one() {
    span made;
    made.parent = *parse_trace_parent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
    made.id = 0xab;
    made.committed_at = wall_time{1'700'000'000s + 1us};
    made.published_at = made.committed_at + 2ms;
    made.acked_at = made.committed_at + 5ms;
    made.subject = "events.\"a\"";
    made.message_id = "id-1";
    made.body_bytes = 12;
    made.where = {{7, 1}, {lsn{0x1600000010}, lsn{0x1600000008}, 0}};
    made.sequence = 18'446'744'073'709'551'615U;
    return made;
}

/// By key: the value as JSON.
std::map<std::string, std::string> attributes_in(simdjson::dom::element of) {
    std::map<std::string, std::string> found;
    for (const simdjson::dom::element each : of["attributes"].get_array()) {
        found[std::string(each["key"].get_string().value())] = simdjson::minify(each["value"]);
    }
    return found;
}

class OtlpJson : public testing::Test {
protected:
    simdjson::dom::element parsed(const std::vector<span>& spans) {
        text_ = otlp_json(common, spans);
        simdjson::dom::element document;
        EXPECT_EQ(parser_.parse(text_).get(document), simdjson::SUCCESS) << text_;
        return document["resourceSpans"].at(0);
    }
    simdjson::dom::element parsed_span(const span& of) {
        return parsed({of})["scopeSpans"].at(0)["spans"].at(0);
    }

    simdjson::dom::parser parser_;
    std::string text_;
};

TEST_F(OtlpJson, WritesIdsAsHexAndNumbersOf64BitsAsStrings) {
    const auto written = parsed_span(one());
    const auto text = [&](const char* name) {
        return std::string(written[name].get_string().value());
    };
    EXPECT_EQ(text("traceId"), "4bf92f3577b34da6a3ce929d0e0e4736");
    EXPECT_EQ(text("spanId"), "00000000000000ab");
    EXPECT_EQ(text("parentSpanId"), "00f067aa0ba902b7");
    EXPECT_EQ(text("startTimeUnixNano"), "1700000000000001000");
    EXPECT_EQ(text("endTimeUnixNano"), "1700000000005001000");
    EXPECT_EQ(text("name"), "publish EVENTS");
    EXPECT_EQ(written["kind"].get_uint64().value(), 4U);
    EXPECT_EQ(written["flags"].get_uint64().value(), 0x301U);
}

TEST_F(OtlpJson, TellsWhenItWasPublishedAndAcked) {
    const auto written = parsed_span(one());
    EXPECT_EQ(simdjson::minify(written["events"]),
              R"([{"timeUnixNano":"1700000000002001000","name":"published"},)"
              R"({"timeUnixNano":"1700000000005001000","name":"acked"}])");
}

TEST_F(OtlpJson, NamesWhatTheSemanticConventionsName) {
    const auto found = attributes_in(parsed_span(one()));
    const std::map<std::string, std::string> wanted{
        {"messaging.system", R"({"stringValue":"nats"})"},
        {"messaging.operation.name", R"({"stringValue":"publish"})"},
        {"messaging.operation.type", R"({"stringValue":"send"})"},
        {"messaging.destination.name", R"({"stringValue":"events.\"a\""})"},
        {"messaging.message.id", R"({"stringValue":"id-1"})"},
        {"messaging.message.body.size", R"({"intValue":"12"})"},
        {"walrelay.stream", R"({"stringValue":"EVENTS"})"},
        {"walrelay.stream_sequence", R"({"intValue":"18446744073709551615"})"},
        {"walrelay.lsn", R"({"stringValue":"16/10"})"},
        {"walrelay.position", R"({"stringValue":"7.1.0000001600000010.0000001600000008.0"})"},
        {"walrelay.cause", R"({"stringValue":"live"})"}};
    EXPECT_EQ(found, wanted);
}

TEST_F(OtlpJson, SaysOnceWhoseSpansTheyAre) {
    const auto written = parsed({one(), one(), one()});
    const auto found = attributes_in(written["resource"]);
    EXPECT_EQ(found.at("service.name"), R"({"stringValue":"orders relay"})");
    EXPECT_EQ(found.at("service.version"), R"({"stringValue":"1.2.3"})");
    EXPECT_EQ(found.at("walrelay.slot"), R"({"stringValue":"orders"})");
    EXPECT_EQ(written["scopeSpans"].at(0)["spans"].get_array().size(), 3U);
}

TEST_F(OtlpJson, PassesTheStateOfTheTraceOn) {
    auto with_state = one();
    with_state.trace_state = "a=1,b=\"2\"";
    EXPECT_EQ(parsed_span(with_state)["traceState"].get_string().value(), "a=1,b=\"2\"");
    EXPECT_THAT(otlp_json(common, std::array{one()}), Not(HasSubstr("traceState")));
}

TEST_F(OtlpJson, IsJsonWhateverARowHolds) {
    auto odd = one();
    odd.subject = "events.\x01\xff\"\\";
    odd.message_id = std::string("a\0b\n", 4);
    odd.trace_state = "\x80";
    EXPECT_EQ(parsed_span(odd)["kind"].get_uint64().value(), 4U);
}

TEST_F(OtlpJson, HasNoTimeBeforeTheEpoch) {
    auto early = one();
    early.committed_at = wall_time{-5s};
    EXPECT_EQ(parsed_span(early)["startTimeUnixNano"].get_string().value(), "0");
}

TEST(RejectedSpans, AreReadAsTextAndAsNumber) {
    EXPECT_EQ(rejected_spans(R"({"partialSuccess":{"rejectedSpans":"3"}})"), 3U);
    EXPECT_EQ(rejected_spans(R"({"partialSuccess":{"rejectedSpans":3,"errorMessage":"x"}})"), 3U);
}

TEST(RejectedSpans, AreNoneWhereTheAnswerSaysNothingOfThem) {
    for (const std::string answer :
         {"", "{}", "null", "[]", "7", "\"a\"", "{", R"({"partialSuccess":{}})",
          R"({"partialSuccess":{"rejectedSpans":"-1"}})",
          R"({"partialSuccess":{"rejectedSpans":-1}})",
          R"({"partialSuccess":{"rejectedSpans":"1x"}})",
          R"({"partialSuccess":{"rejectedSpans":{}}})", "\x00\xff<html>"}) {
        EXPECT_EQ(rejected_spans(answer), 0U) << answer;
    }
}

}  // namespace
}  // namespace walrelay::traces
