#include "nats/requests/connect_call.hpp"
#include "nats/requests/look_back.hpp"
#include "nats/requests/stream_reader.hpp"
#include "nats/requests/stream_request.hpp"
#include "nats_fixture.hpp"

#include <gmock/gmock.h>

#include <regex>

namespace walrelay::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using namespace std::chrono_literals;

class Stream : public nats_fixture {};

TEST_F(Stream, IsToldToBeMissing) {
    const auto opened = open(options());
    ASSERT_TRUE(opened) << to_string(opened.error());
    EXPECT_FALSE((*opened)->facts().stream.has_value());
    EXPECT_EQ((*opened)->facts().max_payload_bytes, 1024U * 1024U);
}

TEST_F(Stream, IsMadeWithFileStorageAndLimitsRetention) {
    const auto opened = open(options());
    ASSERT_TRUE(create_stream(**opened, {"S", {"s.>", "t"}, 1}));
    const auto& facts = (*opened)->facts();
    ASSERT_TRUE(facts.stream.has_value());
    EXPECT_THAT(facts.stream->subjects, ElementsAre("s.>", "t"));
    EXPECT_TRUE(facts.stream->file_storage);
    EXPECT_EQ(facts.stream->retention, stream_retention::limits);
    EXPECT_EQ(facts.stream->last_sequence, 0U);
    EXPECT_EQ(facts.stream->duplicate_window, std::chrono::minutes(2));
}

TEST_F(Stream, KeepsAllElseWhenItIsGivenADescription) {
    stream_reader operator_side(server().url());
    operator_side.create({.name = "S",
                          .subjects = {"s.>", "t"},
                          .max_message_bytes = 4096,
                          .max_messages = 7,
                          .discard_new = true,
                          .duplicate_window = std::chrono::seconds(3)});
    const auto done = nats::set_description(options(), "one \"two\" \\ three");
    ASSERT_TRUE(done) << to_string(done.error());
    const auto opened = open(options());
    const auto& stream = *(*opened)->facts().stream;
    EXPECT_EQ(stream.description, "one \"two\" \\ three");
    EXPECT_THAT(stream.subjects, ElementsAre("s.>", "t"));
    EXPECT_EQ(stream.max_message_bytes, 4096);
    EXPECT_EQ(stream.max_messages, 7);
    EXPECT_TRUE(stream.discard_new);
    EXPECT_EQ(stream.duplicate_window, std::chrono::seconds(3));
    EXPECT_EQ(*done, 0U);
    operator_side.publish("s.a", "");
    const auto again = nats::set_description(options(), "again");
    ASSERT_TRUE(again) << to_string(again.error());
    EXPECT_EQ(*again, 1U) << "what the stream ends with";
    EXPECT_EQ(operator_side.state("S")->description, "again");
}

TEST_F(Stream, IsRefusedWithTheServersWordsWhereItsSubjectsOverlap) {
    stream_reader other(server().url());
    other.create({.name = "OTHER", .subjects = {"s.>"}});
    const auto opened = open(options());
    const auto made = create_stream(**opened, {"S", {"s.*"}, 1});
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code, errc::broker_unsuitable);
    EXPECT_THAT(made.error().server_said, HasSubstr("overlap"));
    EXPECT_THAT(made.error().server_said, Not(HasSubstr(".c:")));
    EXPECT_THAT(made.error().remedy, HasSubstr("nats.subjects"));
}

/// An account of the test's own, with these limits of JetStream, and its one user.
nats_options with_limits(const std::string& limits) {
    return {.settings = {"accounts { A { jetstream: { " + limits +
                             " }, users: [ { user: a, password: a } ] } }",
                         "no_auth_user: a"}};
}

TEST_F(Stream, IsMadeWithTheBytesThatAnAccountDemands) {
    use_server(with_limits("max_bytes_required: true"));
    const auto opened = open(options());
    const auto refused = create_stream(**opened, {"S", {"s.>"}, 1});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, errc::broker_unsuitable);
    EXPECT_THAT(refused.error().remedy, HasSubstr("set nats.max_bytes"));
    const auto made = create_stream(**opened, {"S", {"s.>"}, 1, 1U << 20U});
    ASSERT_TRUE(made) << to_string(made.error());
    EXPECT_EQ((*opened)->facts().stream->max_bytes, 1 << 20);
    EXPECT_FALSE((*opened)->facts().stream->discard_new);
}

TEST_F(Stream, IsRefusedWithTheKeyThatCountsWhereTheAccountIsLimited) {
    const auto remedy = [this](const std::string& limits, const nats::stream_definition& wanted) {
        use_server(with_limits(limits));
        stream_reader(server().url()).create({.name = "OTHER", .subjects = {"o.>"}});
        const auto opened = open(options());
        const auto made = create_stream(**opened, wanted);
        EXPECT_FALSE(made);
        return made ? "" : made.error().remedy;
    };
    EXPECT_THAT(remedy("max_streams: 1", {"S", {"s.>"}, 1}), HasSubstr("raise max_streams"));
    EXPECT_THAT(remedy("disk_max_stream_bytes: 65536", {"S", {"s.>"}, 1, 1U << 20U}),
                HasSubstr("make nats.max_bytes smaller"));
    EXPECT_THAT(remedy("max_file: 1MB", {"S", {"s.>"}, 1, 2U << 20U}),
                HasSubstr("make nats.max_bytes or nats.replicas smaller"));
    EXPECT_THAT(remedy("max_streams: 5", {"S", {"s.>"}, 3}), HasSubstr("nats.replicas = 1"));
}

TEST_F(Stream, OfACounterIsKnown) {
    stream_reader operator_side(server().url());
    operator_side.create("S", R"({"name":"S","subjects":["s.>"],"storage":"file",)"
                              R"("allow_msg_counter":true,"allow_direct":true})");
    const std::regex knows_counters("Version: +2\\.1[2-9]");
    const auto opened = open(options());
    ASSERT_TRUE(opened) << to_string(opened.error());
    EXPECT_EQ((*opened)->facts().stream->is_counter,
              std::regex_search(server().log(), knows_counters));
}

TEST_F(Stream, TellsThePositionOfItsLastMessage) {
    const position written{{7, 1}, {lsn{0xABC}, {}, 3}};
    stream_reader stranger(server().url());
    stranger.create({.name = "S", .subjects = {"s.>"}});
    stranger.publish("s.a", "body", {{"Walrelay-Position", to_string(written)}});
    const auto opened = open(options());
    const auto& stream = *(*opened)->facts().stream;
    EXPECT_EQ(stream.last_sequence, 1U);
    EXPECT_EQ(stream.last_position, written);
}

class LookBack : public Stream {
protected:
    LookBack() {
        stream_reader writer(server().url());
        writer.create({.name = "S", .subjects = {"s.>"}});
        for (std::uint32_t index = 1; index <= 5; ++index) {
            writer.publish("s.a", "body", {{"Walrelay-Position", to_string(at(index))}});
        }
        auto connected = nats::connect_blocking(options());
        EXPECT_TRUE(connected);
        connection_ = std::move(*connected);
    }
    static nats::connect_options of_stream() {
        nats::connect_options how;
        how.stream = "S";
        return how;
    }
    static position at(std::uint32_t index) { return {{7, 1}, {lsn{0xABC}, {}, index}}; }

    /// The leader says that the stream ends with `sequence`, which is the message of `where`.
    [[nodiscard]] result<stream_facts> look(std::uint64_t sequence, const position& where) {
        stream_facts facts;
        facts.last_sequence = sequence;
        facts.last_message_there = true;
        facts.final_position = where;
        nats::subscription_handle incoming;
        auto done = nats::look_back(connection_.get(), of_stream(), 100, facts, incoming);
        connection_ = {};
        return done ? result<stream_facts>(facts) : done.error();
    }

private:
    nats::connection_handle connection_;
};

TEST_F(LookBack, TakesNothingThatAReplicaHasBeyondTheLeader) {
    const auto seen = look(3, at(3));
    ASSERT_TRUE(seen) << to_string(seen.error());
    EXPECT_EQ(seen->last_sequence, 3U);
    EXPECT_EQ(seen->last_position, at(3));
    EXPECT_EQ(seen->placed.size(), 3U);
}

TEST_F(LookBack, RefusesAReplicaThatHasAnotherMessageThere) {
    const auto seen = look(3, at(4));
    ASSERT_FALSE(seen);
    EXPECT_EQ(seen.error().code, errc::broker_unavailable);
    EXPECT_THAT(seen.error().what, HasSubstr("do not agree"));
}

TEST_F(LookBack, TakesTheLeadersWordForAMessageThatWasReplacedMeanwhile) {
    stream_reader(server().url()).delete_message("S", 3);
    const auto seen = look(3, at(3));
    ASSERT_TRUE(seen) << to_string(seen.error());
    EXPECT_EQ(seen->last_position, at(3));
    EXPECT_EQ(seen->final_position, at(3));
    EXPECT_FALSE(seen->placed_is_whole);
    EXPECT_THAT(seen->recent, testing::IsEmpty());
}

TEST_F(LookBack, RefusesAReplicaThatIsBehindTheLeader) {
    const auto seen = look(6, at(6));
    ASSERT_FALSE(seen);
    EXPECT_THAT(seen.error().what, HasSubstr("do not agree"));
}

TEST_F(Stream, TellsNoPositionOfAStrangersMessageOrOfOneThatIsPurged) {
    stream_reader stranger(server().url());
    stranger.create({.name = "S", .subjects = {"s.>"}});
    stranger.publish("s.a", "body");
    const auto foreign = open(options());
    EXPECT_TRUE((*foreign)->facts().stream->last_message_there);
    EXPECT_EQ((*foreign)->facts().stream->last_position, std::nullopt);
    stranger.purge("S");
    const auto purged = open(options(), 2);
    EXPECT_EQ((*purged)->facts().stream->last_sequence, 1U);
    EXPECT_FALSE((*purged)->facts().stream->last_message_there);
}

TEST_F(Stream, TellsWhatItIs) {
    stream_reader stranger(server().url());
    stranger.create({.name = "S",
                     .subjects = {"s.>"},
                     .keeps = retention::work_queue,
                     .max_message_bytes = 5000,
                     .max_messages = 10,
                     .discard_new = true});
    const auto opened = open(options());
    const auto& stream = *(*opened)->facts().stream;
    EXPECT_EQ(stream.retention, stream_retention::work_queue);
    EXPECT_EQ(stream.max_message_bytes, 5000);
    EXPECT_EQ(stream.max_messages, 10);
    EXPECT_TRUE(stream.discard_new);
}

}  // namespace
}  // namespace walrelay::test
