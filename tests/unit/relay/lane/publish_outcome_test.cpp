#include "relay/lane/publish_outcome.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace walrelay::relay {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(PublishOutcome, ReadsAnAck) {
    const auto read = parse_publish_reply(R"({"stream":"S", "seq":17})", "S");
    EXPECT_EQ(read.kind, outcome_class::stored);
    EXPECT_EQ(read.sequence, 17U);
}

TEST(PublishOutcome, ReadsADuplicate) {
    const auto read = parse_publish_reply(R"({"stream":"S", "seq":17,"duplicate": true})", "S");
    EXPECT_EQ(read.kind, outcome_class::duplicate);
    EXPECT_EQ(read.sequence, 17U);
}

TEST(PublishOutcome, TakesADuplicateWithoutSequenceForADoubt) {
    const auto read = parse_publish_reply(R"({"stream":"S","seq":0,"duplicate":true})", "S");
    EXPECT_EQ(read.kind, outcome_class::doubt);
}

TEST(PublishOutcome, TakesAnAckWithoutSequenceForADoubt) {
    // Sequences begin at 1: nothing is stored at 0.
    const auto read = parse_publish_reply(R"({"stream":"S","seq":0})", "S");
    EXPECT_EQ(read.kind, outcome_class::doubt);
    EXPECT_FALSE(read.id_is_taken);
}

TEST(PublishOutcome, NeverTakesTheAckOfAnotherStreamForItsOwn) {
    for (const std::string name : {"T", "SS", "", "s", "S.S", "\u00e4"}) {
        for (const std::string rest :
             {R"(", "seq":17})", R"(","seq":17,"duplicate":true})", R"(","seq":0})", R"("})"}) {
            const auto read = parse_publish_reply(R"({"stream":")" + name + rest, "S");
            EXPECT_EQ(read.kind, outcome_class::unsuitable) << name << rest;
            EXPECT_EQ(read.sequence, 0U);
            EXPECT_EQ(read.other_stream, name);
        }
    }
}

TEST(PublishOutcome, NeverTakesTheAckOfAnotherDomainForItsOwn) {
    const std::string hub = R"({"stream":"S", "domain":"hub", "seq":17})";
    for (const auto* const domain : {"leaf", "hu", "hubs", ""}) {
        const auto read = parse_publish_reply(hub, "S", domain);
        EXPECT_EQ(read.kind, outcome_class::unsuitable) << domain;
        EXPECT_EQ(read.sequence, 0U);
        const auto why = is_another_stream(read, "S");
        EXPECT_EQ(why.code, errc::broker_unsuitable);
        EXPECT_THAT(why.what, HasSubstr("domain \"hub\""));
        EXPECT_THAT(why.remedy, HasSubstr("nats --js-domain hub stream info S"));
    }
}

TEST(PublishOutcome, TakesTheAckOfItsOwnDomainHoweverItIsWritten) {
    for (const auto* const body :
         {R"({"stream":"S", "domain":"hub", "seq":17})",
          R"({"stream":"S","domain":"hub","seq":17})", R"({"stream":"S","seq":17,"domain":"hub"})",
          R"({"stream":"S", "seq":17})"}) {
        const auto read = parse_publish_reply(body, "S", "hub");
        EXPECT_EQ(read.kind, outcome_class::stored) << body;
        EXPECT_EQ(read.sequence, 17U) << body;
    }
    EXPECT_EQ(parse_publish_reply(R"({"stream":"S", "domain":"hub", "seq":17})", "S").sequence, 17U)
        << "which domain is meant is not known";
}

TEST(PublishOutcome, TakesNothingElseFromAnotherStreamEither) {
    const auto read = parse_publish_reply(
        R"({"error":{"code":400,"err_code":10071,"description":"wrong last sequence: 5"},)"
        R"("stream":"LIKE_S","seq":0})",
        "S");
    EXPECT_EQ(read.kind, outcome_class::unsuitable);
    const auto why = is_another_stream(read, "S");
    EXPECT_EQ(why.code, errc::broker_unsuitable);
    EXPECT_NE(why.what.find("stream LIKE_S"), std::string::npos);
    EXPECT_NE(why.what.find("S does not have the row"), std::string::npos);
    EXPECT_NE(why.remedy.find("nats stream info LIKE_S"), std::string::npos);
}

TEST(PublishOutcome, ReadsTheNameOfAStreamAsJsonWritesIt) {
    EXPECT_EQ(parse_publish_reply(R"({"stream":"a\"b", "seq":17})", "a\"b").kind,
              outcome_class::stored);
    EXPECT_EQ(parse_publish_reply(R"({"stream":"\u00e4", "seq":17})", "\u00e4").kind,
              outcome_class::stored);
    EXPECT_EQ(parse_publish_reply("{\"stream\":\"\u00e4\", \"seq\":17}", "\u00e4").sequence, 17U);
}

TEST(PublishOutcome, ReadsWhatAStreamEndsWith) {
    const auto last = parse_last_sequence(
        R"({"type":"io.nats.jetstream.api.v1.stream_info_response","config":{"name":"S"},)"
        R"("state":{"messages":3,"first_seq":15,"last_seq":17}})");
    ASSERT_TRUE(last);
    EXPECT_EQ(*last, 17U);
}

TEST(PublishOutcome, TellsTheWordsOfAStreamThatDoesNotSayWhatItEndsWith) {
    const auto refused = parse_last_sequence(
        R"({"error":{"code":503,"err_code":10008,"description":"temporarily unavailable"}})");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().server_said, "temporarily unavailable");
    for (const auto* odd : {"", "[]", "{", R"({"state":{"last_seq":-1}})", R"({"state":7})"}) {
        ASSERT_FALSE(parse_last_sequence(odd)) << odd;
        EXPECT_EQ(parse_last_sequence(odd).error().server_said, odd);
    }
}

TEST(PublishOutcome, TakesWhatIsNoAckForADoubt) {
    for (const std::string body :
         {"", "{", "[]", "{}", R"({"stream":"S"})", R"({"seq":"1"})", R"({"seq":-1})", "+ACK",
          R"({"error":{}})", R"({"seq":17})", R"({"stream":7,"seq":17})"}) {
        EXPECT_EQ(parse_publish_reply(body, "S").kind, outcome_class::doubt) << body;
    }
}

TEST(PublishOutcome, KeepsCodeAndWordsOfAnError) {
    const auto read = parse_publish_reply(
        R"({"error":{"code":400,"err_code":10071,"description":"wrong last sequence: 5"},)"
        R"("stream":"S","seq":0})",
        "S");
    EXPECT_EQ(read.kind, outcome_class::doubt);
    EXPECT_EQ(read.error_code, 10071);
    EXPECT_EQ(read.server_said, "wrong last sequence: 5");
}

TEST(PublishOutcome, TakesAnUnknownCodeForADoubt) {
    EXPECT_EQ(classify(99999, "something new"), outcome_class::doubt);
    EXPECT_EQ(classify(0, ""), outcome_class::doubt);
}

TEST(PublishOutcome, TakesACodeThatDoesNotFitForADoubt) {
    // 10054 and 2 to the power of 32: not the code of a message that is too large.
    const auto read = parse_publish_reply(R"({"error":{"err_code":4294977350}})", "S");
    EXPECT_EQ(read.kind, outcome_class::doubt);
    EXPECT_EQ(read.error_code, 0);
}

TEST(PublishOutcome, WaitsWhenTheBrokerIsShortOfSomething) {
    for (const int code : {10002, 10008, 10023, 10047, 10076, 10118, 10163, 10167, 10194}) {
        EXPECT_EQ(classify(code, ""), outcome_class::transient) << code;
    }
}

TEST(PublishOutcome, DecidesAFailureOfTheStoreByItsWords) {
    EXPECT_EQ(classify(10077, "maximum messages exceeded"), outcome_class::transient);
    EXPECT_EQ(classify(10077, "maximum bytes exceeded"), outcome_class::transient);
    EXPECT_EQ(classify(10077, "message to large"), outcome_class::refused);
    EXPECT_EQ(classify(10077, "maximum messages per subject exceeded"), outcome_class::unsuitable);
}

TEST(PublishOutcome, TellsAFullStreamAFullDiskAndAnAccountApart) {
    const auto stream = what_ends_it(10077, "maximum bytes exceeded");
    EXPECT_THAT(stream, HasSubstr("max_bytes of the stream"));
    EXPECT_THAT(stream, Not(HasSubstr("restart")));
    const auto disk = what_ends_it(10077, "write /data/1.blk: no space left on device");
    EXPECT_THAT(disk, AllOf(HasSubstr("free space on the broker's disk"), HasSubstr("restart")));
    EXPECT_THAT(what_ends_it(10077, "input/output error"), HasSubstr("log of nats-server"));
    EXPECT_THAT(what_ends_it(10023, ""), AllOf(HasSubstr("max_file_store"), HasSubstr("restart")));
    EXPECT_THAT(what_ends_it(10002, ""), HasSubstr("limits of the account"));
    EXPECT_THAT(what_ends_it(10076, ""), HasSubstr("switched JetStream off"));
    EXPECT_THAT(what_ends_it(10009, ""), HasSubstr("servers of the cluster"));
    EXPECT_EQ(what_ends_it(10163, ""), "");
}

TEST(PublishOutcome, BlamesTheMessageForItsSize) {
    EXPECT_EQ(classify(10054, ""), outcome_class::refused);
    EXPECT_EQ(classify(10097, ""), outcome_class::refused);
}

TEST(PublishOutcome, BlamesTheStreamForItsSetUp) {
    EXPECT_EQ(classify(10060, ""), outcome_class::unsuitable);
    EXPECT_EQ(classify(10109, ""), outcome_class::unsuitable);
}

}  // namespace
}  // namespace walrelay::relay
