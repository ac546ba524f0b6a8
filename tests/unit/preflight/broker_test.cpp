#include "preflight/preflight.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

namespace walrelay::preflight {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

expectations wanted() {
    return {"slot", "publication", std::nullopt, "OUTBOX", {{.table = {"public", "outbox"}}}};
}

broker_facts good() {
    broker_facts facts;
    facts.stream.emplace();
    facts.stream->subjects = {"events.>"};
    return facts;
}

std::vector<finding> look(const broker_facts& facts) {
    return broker_findings(wanted(), facts);
}

TEST(BrokerPreflight, FindsNothingWrongWithAnOrdinaryStream) {
    EXPECT_THAT(look(good()), IsEmpty());
}

TEST(BrokerPreflight, NamesTheLimitsThatAReadingMeets) {
    auto facts = good();
    facts.reading.emplace();
    EXPECT_THAT(look(facts), IsEmpty());
    facts.reading->one_for_each_request = true;
    auto found = look(facts);
    ASSERT_THAT(found, SizeIs(1));
    EXPECT_EQ(found[0].code.text(), "stream_read_one_by_one");
    EXPECT_TRUE(can_start(found));
    EXPECT_THAT(found[0].remedy, HasSubstr("response_type: stream"));
    facts.reading->no_consumer = "maximum consumers limit reached";
    found = look(facts);
    EXPECT_EQ(found[0].code.text(), "stream_read_one_by_one");
    EXPECT_THAT(found[0].what, HasSubstr("maximum consumers limit reached"));
    EXPECT_THAT(found[0].remedy, HasSubstr("max_consumers"));
    facts.reading->failed = "no answer";
    found = look(facts);
    EXPECT_EQ(found[0].code.text(), "stream_not_readable");
    EXPECT_FALSE(can_start(found));
}

TEST(BrokerPreflight, RefusesStreamsOfAnotherUse) {
    auto facts = good();
    facts.stream->is_counter = true;
    auto found = look(facts);
    ASSERT_THAT(found, SizeIs(1));
    EXPECT_EQ(found[0].code.text(), "stream_is_counter");
    EXPECT_THAT(found[0].what, HasSubstr("OUTBOX is a counter"));
    EXPECT_FALSE(can_start(found));
    facts = good();
    facts.stream->subjects = {"$KV.orders.>", "events.>"};
    found = look(facts);
    ASSERT_THAT(found, SizeIs(1));
    EXPECT_EQ(found[0].code.text(), "stream_is_bucket");
    EXPECT_FALSE(can_start(found));
    facts = good();
    facts.stream->acks_before_stored = true;
    found = look(facts);
    ASSERT_THAT(found, SizeIs(1));
    EXPECT_EQ(found[0].code.text(), "stream_acks_early");
    EXPECT_THAT(found[0].remedy, HasSubstr("confirm_delay"));
    EXPECT_TRUE(can_start(found));
}

/// What is said of a stream that is still to be made; the note of that is left out.
std::vector<finding> look_at_account(const account_limits& limits,
                                     std::optional<std::uint64_t> max_bytes = {}) {
    broker_facts facts;
    facts.account = limits;
    auto expected = wanted();
    expected.stream_max_bytes = max_bytes;
    auto found = broker_findings(expected, facts);
    EXPECT_EQ(found.back().code.text(), "stream_missing");
    found.pop_back();
    return found;
}

TEST(BrokerPreflight, KnowsWhatTheAccountHasLeftForAStreamThatIsToBeMade) {
    EXPECT_THAT(look_at_account({}), IsEmpty());
    EXPECT_THAT(look_at_account({.streams_max = 2, .streams = 1}), IsEmpty());
    auto found = look_at_account({.streams_max = 2, .streams = 2});
    ASSERT_THAT(found, SizeIs(1));
    EXPECT_EQ(found[0].code.text(), "stream_not_creatable");
    EXPECT_THAT(found[0].what, HasSubstr("max_streams = 2"));
    EXPECT_FALSE(can_start(found));
    found = look_at_account({.needs_max_bytes = true});
    ASSERT_THAT(found, SizeIs(1));
    EXPECT_THAT(found[0].remedy, HasSubstr("set nats.max_bytes"));
    EXPECT_THAT(look_at_account({.needs_max_bytes = true}, 1000), IsEmpty());
    found = look_at_account({.stream_bytes_max = 999}, 1000);
    ASSERT_THAT(found, SizeIs(1));
    EXPECT_THAT(found[0].what, HasSubstr("lets a stream have 999 bytes"));
    found = look_at_account({.storage_max = 2000, .storage = 1500}, 1000);
    ASSERT_THAT(found, SizeIs(1));
    EXPECT_THAT(found[0].what, HasSubstr("500 bytes of its 2000 bytes left"));
    EXPECT_THAT(look_at_account({.storage_max = 2000, .storage = 1000}, 1000), IsEmpty());
}

TEST(BrokerPreflight, CountsWhatOtherStreamsOfTheAccountReserve) {
    auto found = look_at_account({.storage_max = 2000, .storage = 0, .reserved = 1500}, 1000);
    ASSERT_THAT(found, SizeIs(1));
    EXPECT_THAT(found[0].what, HasSubstr("500 bytes of its 2000 bytes left"));
    EXPECT_FALSE(can_start(found));
    // They reserve all of it: there is no room for a stream without a limit either.
    found = look_at_account({.storage_max = 2000, .storage = 0, .reserved = 2000});
    ASSERT_THAT(found, SizeIs(1));
    EXPECT_THAT(found[0].what, HasSubstr("nats.max_bytes is not set"));
    EXPECT_THAT(look_at_account({.storage_max = 2000, .reserved = 1000}, 1000), IsEmpty());
    found = look_at_account({.storage_max = 0}, 1000);
    ASSERT_THAT(found, SizeIs(1)) << "an account without any room on disk";
}

TEST(BrokerPreflight, CountsEachReplicaWhereTheAccountDoes) {
    EXPECT_THAT(look_at_account({.storage_max = 3000, .copies = 3}, 1000), IsEmpty());
    const auto found = look_at_account({.storage_max = 2999, .copies = 3}, 1000);
    ASSERT_THAT(found, SizeIs(1));
    EXPECT_EQ(found[0].code.text(), "stream_outgrows_account");
    EXPECT_THAT(found[0].what, HasSubstr("each of 3 replicas"));
    EXPECT_TRUE(can_start(found)) << "some servers make it all the same";
    EXPECT_FALSE(can_start(look_at_account({.storage_max = 999, .copies = 3}, 1000)));
}

TEST(BrokerPreflight, NamesTheTierThatTheAccountLacks) {
    const auto found = look_at_account({.missing_tier = "R3"});
    ASSERT_THAT(found, SizeIs(1));
    EXPECT_EQ(found[0].code.text(), "stream_not_creatable");
    EXPECT_THAT(found[0].what, HasSubstr("none for R3"));
    EXPECT_THAT(found[0].remedy, HasSubstr("nats.replicas"));
}

TEST(BrokerPreflight, KnowsHowManyConsumersTheStreamMayHaveBeforeItIsMade) {
    EXPECT_THAT(look_at_account({.consumers_max = 2}), IsEmpty());
    auto found = look_at_account({.consumers_max = 1});
    ASSERT_THAT(found, SizeIs(1));
    EXPECT_EQ(found[0].code.text(), "stream_read_one_by_one");
    EXPECT_THAT(found[0].what, HasSubstr("max_consumers"));
    EXPECT_TRUE(can_start(found));
    broker_facts facts;
    facts.account.emplace().consumers_max = 2;
    auto expected = wanted();
    expected.tables[0].delete_after = std::chrono::hours(1);
    found = broker_findings(expected, facts);
    EXPECT_THAT(found.front().what, HasSubstr("one of them for delete_after"));
}

TEST(BrokerPreflight, WarnsOfIdsThatAreForgottenTooSoonWhereTheyAloneTell) {
    using std::chrono_literals::operator""s;
    auto facts = good();
    auto expected = wanted();
    expected.ack_timeout = 5s;
    facts.stream->duplicate_window = 30s;
    EXPECT_THAT(broker_findings(expected, facts), IsEmpty()) << "positions tell";
    expected.sole_writer = false;
    auto found = broker_findings(expected, facts);
    ASSERT_THAT(found, SizeIs(1));
    EXPECT_EQ(found[0].code.text(), "duplicate_window_short");
    EXPECT_TRUE(can_start(found));
    EXPECT_THAT(found[0].remedy, HasSubstr("--dupe-window=120s"));
    EXPECT_THAT(found[0].remedy, HasSubstr("nats-server.conf")) << "its limit can be lower";
    facts.stream->duplicate_window = 120s;
    EXPECT_THAT(broker_findings(expected, facts), IsEmpty());
    expected.ack_timeout = 90s;
    found = broker_findings(expected, facts);
    ASSERT_THAT(found, SizeIs(1));
    EXPECT_THAT(found[0].remedy, HasSubstr("--dupe-window=180s"));
}

TEST(BrokerPreflight, AsksTheApiOfADomainForTheStream) {
    auto expected = wanted();
    expected.api = "$JS.hub.API";
    EXPECT_THAT(subjects_to_try(expected, {}),
                testing::Contains("$JS.hub.API.STREAM.CREATE.OUTBOX"));
}

TEST(BrokerPreflight, WarnsOfMessagesThatGoBeforeTheirRowsAreDue) {
    using std::chrono_literals::operator""h;
    auto facts = good();
    facts.stream->max_age = 24h;
    auto expected = wanted();
    const auto without = broker_findings(expected, facts).size();
    expected.tables[0].delete_after = 23h;
    EXPECT_THAT(broker_findings(expected, facts), SizeIs(without));
    expected.tables[0].delete_after = 24h;
    const auto found = broker_findings(expected, facts);
    ASSERT_THAT(found, SizeIs(without + 1));
    EXPECT_TRUE(can_start(found));
    EXPECT_TRUE(std::any_of(found.begin(), found.end(), [](const finding& each) {
        return each.what.find("public.outbox are due") != std::string::npos;
    }));
}

TEST(BrokerPreflight, WarnsOfAStreamThatIsFullAndNotesOneThatWillBe) {
    auto facts = good();
    facts.stream->max_messages = 10;
    facts.stream->message_count = 10;
    const auto removing = look(facts);
    ASSERT_THAT(removing, SizeIs(1)) << "the oldest make room";
    EXPECT_EQ(removing[0].severity, finding_severity::note);
    EXPECT_THAT(removing[0].what, HasSubstr("removes its oldest messages"));
    EXPECT_THAT(removing[0].what, HasSubstr("(max_msgs = 10, discard old)"));
    facts.stream->discard_new = true;
    const auto full = look(facts);
    ASSERT_THAT(full, SizeIs(1));
    EXPECT_EQ(full[0].severity, finding_severity::warning);
    EXPECT_THAT(full[0].what, HasSubstr("is full (max_msgs = 10, discard new)"));
    EXPECT_THAT(full[0].remedy, HasSubstr("nats stream edit OUTBOX --max-msgs=-1"));
    facts.stream->message_count = 9;
    const auto filling = look(facts);
    ASSERT_THAT(filling, SizeIs(1));
    EXPECT_EQ(filling[0].severity, finding_severity::note);
}

TEST(BrokerPreflight, WarnsOfAStreamWhoseBytesAreUsedUp) {
    auto facts = good();
    facts.stream->discard_new = true;
    facts.stream->max_bytes = 1000;
    facts.stream->message_count = 9;
    facts.stream->byte_count = 900;
    EXPECT_EQ(look(facts)[0].severity, finding_severity::note);
    facts.stream->byte_count = 910;
    EXPECT_THAT(look(facts)[0].what, HasSubstr("is full (max_bytes = 1000, discard new)"));
}

TEST(BrokerPreflight, TriesASubjectOfEachTableAndTheRightToMakeTheStream) {
    auto asked = wanted();
    asked.tables[0].subject = "events.{aggregate_type}.x";
    EXPECT_THAT(subjects_to_try(asked, good()), testing::ElementsAre("events.walrelay_check.x"));
    EXPECT_THAT(subjects_to_try(asked, {}),
                testing::ElementsAre("events.walrelay_check.x", "$JS.API.STREAM.CREATE.OUTBOX"));
}

TEST(BrokerPreflight, SaysWhatOfItWasRefused) {
    auto facts = good();
    facts.trial = publish_trial{{{"events.x", "Permissions Violation"}}, 1200};
    const auto found = look(facts);
    ASSERT_THAT(found, SizeIs(2));
    EXPECT_EQ(found[0].severity, finding_severity::error);
    EXPECT_THAT(found[0].what, HasSubstr("may not publish, for one, to events.x"));
    EXPECT_THAT(found[1].what, HasSubstr("smaller than the 1200 bytes"));
}

TEST(BrokerPreflight, NotesAStreamThatIsNotThereYet) {
    const auto found = look({});
    ASSERT_THAT(found, SizeIs(1));
    EXPECT_EQ(found[0].severity, finding_severity::note);
    EXPECT_TRUE(can_start(found));
}

TEST(BrokerPreflight, FindsAStreamThatDoesNotCoverTheSubject) {
    auto facts = good();
    facts.stream->subjects = {"orders.>"};
    const auto found = look(facts);
    ASSERT_THAT(found, SizeIs(1));
    EXPECT_EQ(found[0].severity, finding_severity::error);
    EXPECT_THAT(found[0].what, HasSubstr("events.*.>"));
    EXPECT_EQ(found[0].remedy, "nats stream edit OUTBOX --subjects='orders.>,events.*.>'");
}

TEST(BrokerPreflight, FindsAStreamThatCoversOnlySomeSubjects) {
    auto facts = good();
    facts.stream->subjects = {"events.user.*"};
    const auto found = look(facts);
    ASSERT_THAT(found, SizeIs(1));
    EXPECT_FALSE(can_start(found));
    // What the new subject covers must not be listed beside it.
    EXPECT_EQ(found[0].remedy, "nats stream edit OUTBOX --subjects='events.*.>'");
}

TEST(BrokerPreflight, QuotesSubjectsOfOthersSoThatAShellRunsNothingOfThem) {
    auto facts = good();
    facts.stream->subjects = {"$(reboot)", "it's.`reboot`"};
    const auto found = look(facts);
    ASSERT_THAT(found, SizeIs(1));
    EXPECT_EQ(found[0].remedy,
              R"(nats stream edit OUTBOX --subjects='$(reboot),it'\''s.`reboot`,events.*.>')");
}

TEST(BrokerPreflight, FindsTheWrongRetention) {
    for (const auto retention : {stream_retention::interest, stream_retention::work_queue}) {
        auto facts = good();
        facts.stream->retention = retention;
        const auto found = look(facts);
        ASSERT_THAT(found, SizeIs(1));
        EXPECT_FALSE(can_start(found));
        EXPECT_THAT(found[0].what, HasSubstr("retention"));
        EXPECT_THAT(found[0].remedy, HasSubstr("name another stream in nats.stream"));
        EXPECT_THAT(found[0].remedy, testing::Not(HasSubstr("nats stream rm")));
    }
}

TEST(BrokerPreflight, FindsStreamsThatCannotBeWrittenTo) {
    auto sealed = good();
    sealed.stream->sealed = true;
    auto silent = good();
    silent.stream->no_ack = true;
    auto mirror = good();
    mirror.stream->mirror_or_sourced = true;
    for (const auto& facts : {sealed, silent, mirror}) {
        EXPECT_FALSE(can_start(look(facts)));
    }
}

TEST(BrokerPreflight, WarnsOfMemoryAndOfAge) {
    auto facts = good();
    facts.stream->file_storage = false;
    facts.stream->max_age = std::chrono::hours(1);
    const auto found = look(facts);
    EXPECT_THAT(found, SizeIs(2));
    EXPECT_TRUE(can_start(found));
}

}  // namespace
}  // namespace walrelay::preflight
