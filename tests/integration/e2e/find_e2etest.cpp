// walrelay find: where an event is, from its row, its messages and its dead letter.
#include "integration/e2e/relay_bench.hpp"
#include "support/eventually.hpp"
#include "support/json_schema.hpp"
#include "support/nats_handles.hpp"

#include <gmock/gmock.h>

namespace walrelay::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class Find : public e2e_test {
protected:
    Find() { bench.create_table(); }
    finished_run find(std::vector<std::string> words) {
        words.insert(words.begin(), "find");
        return bench.command(words);
    }
    void relay(std::uint64_t first, std::uint64_t last) {
        bench.execute(insert_events(first, last));
        ASSERT_TRUE(bench.wait_for_messages(last)) << bench.relay().log();
        ASSERT_TRUE(bench.confirmed_reaches(bench.wal_end()));
    }
};

TEST_P(Find, NamesTheRowAndItsMessage) {
    bench.start();
    relay(1, 3);
    const auto found = find({event_id(2)});
    EXPECT_EQ(found.exit_code, 0) << found.errors;
    EXPECT_THAT(found.output, HasSubstr("public.outbox_events, id " + event_id(2)));
    EXPECT_THAT(found.output, HasSubstr("sequence 2, stored "));
    EXPECT_THAT(found.output, HasSubstr("it is in the stream once"));
    EXPECT_THAT(found.output, HasSubstr("subject " + bench.name() + "."))
        << "it looks by subject: " << found.output;
    const auto by_sequence = find({"--sequence", "2", "--json"});
    EXPECT_EQ(by_sequence.exit_code, 0) << by_sequence.errors;
    EXPECT_THAT(violations_of("find", by_sequence.output), IsEmpty());
    EXPECT_THAT(by_sequence.output, HasSubstr("{\"events\":[{\"id\":\"" + event_id(2) +
                                              "\",\"verdict\":\"published\",\"rows\":[{"));
    const auto of_aggregate = find({"--aggregate", "order/order-1", "--limit", "2"});
    EXPECT_EQ(of_aggregate.exit_code, 0) << of_aggregate.errors;
    EXPECT_THAT(of_aggregate.output, Not(HasSubstr(event_id(1))));
    EXPECT_THAT(of_aggregate.output, HasSubstr("sequence 2, "));
    EXPECT_THAT(of_aggregate.output, HasSubstr("sequence 3, "));
}

TEST_P(Find, FindsTheMessageOfARowThatIsGone) {
    bench.start();
    relay(1, 2);
    bench.execute("DELETE FROM outbox_events");
    const auto found = find({event_id(1)});
    EXPECT_EQ(found.exit_code, 0) << found.errors;
    EXPECT_THAT(found.output, HasSubstr("sequence 1, "));
    EXPECT_THAT(found.output, HasSubstr("all messages from sequence 1 to 2"));
    const auto later = find({event_id(1), "--since", "2100-01-01"});
    EXPECT_EQ(later.exit_code, 1) << later.errors;
    EXPECT_THAT(later.output, HasSubstr("all messages from sequence 3 to 2"));
    EXPECT_THAT(later.output, HasSubstr("there is no trace of it"));
}

TEST_P(Find, TellsWhatKeepsAnEventFromTheStream) {
    bench.set_outbox("[[outbox]]\ntable = 'outbox_events'\nsubject = '%.{aggregate_id}'\n");
    // With the table of dead letters.
    ASSERT_EQ(bench.command({"init"}).exit_code, 0);
    bench.start();
    relay(1, 2);
    bench.execute(insert_events(3, 3, ""));
    ASSERT_TRUE(eventually(patience, [&] {
        return bench.session().value_of("SELECT count(*) FROM walrelay.dead_letter") == "1";
    })) << bench.relay().log();
    const auto dead = find({event_id(3)});
    EXPECT_EQ(dead.exit_code, 0) << dead.errors;
    EXPECT_THAT(dead.output, HasSubstr("letter   1, open, "));
    EXPECT_THAT(dead.output, HasSubstr("it was set aside"));
    bench.stop();
    bench.execute(insert_event(4));
    const auto awaited = find({event_id(4)});
    EXPECT_EQ(awaited.exit_code, 1) << awaited.errors;
    EXPECT_THAT(awaited.output, HasSubstr("may still bring it"));
    const auto nowhere = find({"no uuid", "--json"});
    EXPECT_EQ(nowhere.exit_code, 1) << nowhere.errors;
    EXPECT_THAT(nowhere.output, HasSubstr("\"verdict\":\"unknown\""));
    EXPECT_THAT(violations_of("find", find({event_id(3), "--json"}).output), IsEmpty());
    bench.execute("SELECT pg_drop_replication_slot('" + bench.name() + "')");
    const auto no_slot = find({event_id(4)});
    EXPECT_EQ(no_slot.exit_code, 1) << no_slot.errors;
    EXPECT_THAT(no_slot.output, HasSubstr("no slot sends it"));
}

/// A writer's local time, or its clock: there are no messages of that time yet.
TEST_P(Find, LooksAtAllMessagesWhereTheRowsTimeIsAheadOfTheBrokersClock) {
    bench.start();
    relay(1, 3);
    bench.execute("UPDATE outbox_events SET created_at = created_at + interval '1 day'");
    const auto found = find({event_id(2)});
    EXPECT_EQ(found.exit_code, 0) << found.output << found.errors;
    EXPECT_THAT(found.output, HasSubstr("sequence 2, stored "));
    EXPECT_THAT(found.output, HasSubstr("all messages from sequence 1 to 3"));
}

TEST_P(Find, DoesNotKnowWhetherWhatLimitsHaveRemovedWasPublished) {
    bench.start();
    relay(1, 3);
    bench.stop();
    bench.broker().delete_message(bench.stream_name(), 1);
    const auto found = find({event_id(1)});
    EXPECT_EQ(found.exit_code, 1) << found.errors;
    EXPECT_THAT(found.output, HasSubstr("whether it was in the stream is unknown: the stream "
                                        "begins at sequence 2, and 1 message of it is gone"));
    const auto told = find({event_id(1), "--json"});
    EXPECT_THAT(told.output, HasSubstr("\"verdict\":\"unknown\""));
    EXPECT_THAT(violations_of("find", told.output), IsEmpty());
    // Of a row that came after all that was stored nothing can be gone.
    bench.execute(insert_event(4));
    EXPECT_THAT(find({event_id(4)}).output, HasSubstr("may still bring it"));
}

TEST_P(Find, NamesEachTimeThatAnEventWasPublished) {
    bench.start();
    relay(1, 2);
    ASSERT_EQ(bench
                  .command({"replay", "--ids", event_id(1), "--table", "public.outbox_events",
                            "--subject", bench.name() + ".again.{subject}", "--execute"})
                  .exit_code,
              0);
    ASSERT_TRUE(bench.wait_for_messages(3)) << bench.relay().log();
    const auto found = find({event_id(1)});
    EXPECT_EQ(found.exit_code, 0) << found.errors;
    EXPECT_THAT(found.output, HasSubstr("sequence 1, "));
    EXPECT_THAT(found.output, HasSubstr("sequence 3, "));
    EXPECT_THAT(found.output, HasSubstr("replay-1"));
    EXPECT_THAT(found.output, HasSubstr("and again because that was asked for"));
}

/// Its subject alone, before it and after it.
TEST_P(Find, LooksOnlyAtTheSubjectOfAMessageInHand) {
    bench.set_outbox("[[outbox]]\ntable = 'outbox_events'\nsubject = '%.{aggregate_id}'\n");
    bench.broker().create({.name = bench.stream_name(),
                           .subjects = {bench.name() + ".>"},
                           .duplicate_window = std::chrono::milliseconds(100)});
    bench.start();
    relay(1, 3);
    bench.stop();
    bench.execute("DELETE FROM outbox_events");
    const auto subject = bench.name() + ".order-1";
    const auto once = find({"--sequence", "2", "--json"});
    EXPECT_EQ(once.exit_code, 0) << once.errors;
    EXPECT_THAT(once.output, HasSubstr("\"verdict\":\"published\""));
    EXPECT_THAT(once.output, HasSubstr("\"from\":1,\"to\":3,\"subjects\":[\"" + subject + "\"]"));
    // Until the stream takes it for no duplicate any more.
    ASSERT_TRUE(eventually(patience, [&] {
        return bench.broker().publish(subject, "{}", {{"Nats-Msg-Id", event_id(2)}}) == 4;
    }));
    for (const auto* const in_hand : {"2", "4"}) {
        const auto twice = find({"--sequence", in_hand});
        EXPECT_EQ(twice.exit_code, 1) << twice.errors;
        EXPECT_THAT(twice.output, HasSubstr("more than once under one Nats-Msg-Id"));
        EXPECT_THAT(twice.output, HasSubstr("subject " + subject + " from sequence 1 to 4"));
    }
}

/// The id tells when the row was made.
TEST_P(Find, LooksFirstAtWhatCameAfterAnIdThatTellsItsTime) {
    bench.start();
    relay(1, 2);
    const std::string id = bench.session().value_of(
        "SELECT lpad(to_hex((extract(epoch FROM now()) * 1000)::int8), 12, "
        "'0')");
    const auto uuid = id.substr(0, 8) + "-" + id.substr(8) + "-7000-8000-000000000001";
    bench.execute(
        "INSERT INTO outbox_events (id, aggregate_type, aggregate_id, event_type, event_data, "
        "status, version, created_at) VALUES ('" +
        uuid + "', 'order', 'order-1', 'made', '{}', 'pending', 1, now())");
    ASSERT_TRUE(bench.wait_for_messages(3)) << bench.relay().log();
    bench.execute("DELETE FROM outbox_events");
    const auto found = find({uuid});
    EXPECT_EQ(found.exit_code, 0) << found.errors;
    EXPECT_THAT(found.output, HasSubstr("sequence 3, "));
    // A time that is wrong is no more than a place to begin.
    const auto late = find({"ffffffff-ffff-7000-8000-000000000001"});
    EXPECT_EQ(late.exit_code, 1);
    EXPECT_THAT(late.output, HasSubstr("all messages from sequence 1 to 3"));
}

TEST_P(Find, FindsTheMessagesOfAnAggregateWhoseRowsAreGone) {
    bench.set_outbox(
        "[[outbox]]\ntable = 'outbox_events'\nsubject = '%.{aggregate_type}.{aggregate_id}'\n");
    bench.start();
    relay(1, 3);
    bench.execute("DELETE FROM outbox_events");
    const auto found = find({"--aggregate", "order/order-1", "--limit", "2"});
    EXPECT_EQ(found.exit_code, 0) << found.output << found.errors;
    EXPECT_THAT(found.output, Not(HasSubstr(event_id(1))));
    EXPECT_THAT(found.output, HasSubstr(event_id(2)));
    EXPECT_THAT(found.output, HasSubstr(event_id(3)));
    EXPECT_THAT(found.output, HasSubstr("subject " + bench.name() + ".order.order-1 from "));
    const auto other = find({"--aggregate", "order/order-7"});
    EXPECT_EQ(other.exit_code, 1);
    EXPECT_THAT(other.output, HasSubstr("the stream has no message under its subject"));
    EXPECT_THAT(violations_of("find", find({"--aggregate", "order/order-7", "--json"}).output),
                IsEmpty());
    // Where others have the subject as well, nothing is known.
    bench.set_outbox("[[outbox]]\ntable = 'outbox_events'\nsubject = '%.{aggregate_type}'\n");
    const auto unknown = find({"--aggregate", "order/order-1"});
    EXPECT_EQ(unknown.exit_code, 1);
    EXPECT_THAT(unknown.output, HasSubstr("whether the stream has a message of it is unknown"));
    EXPECT_THAT(unknown.output, HasSubstr("at no message of stream"));
    EXPECT_THAT(violations_of("find", find({"--aggregate", "order/order-1", "--json"}).output),
                IsEmpty());
}

TEST_P(Find, FindsWhatWasPublishedUnderTheSubjectOfAnEarlierConfiguration) {
    bench.start();
    relay(1, 3);
    bench.stop();
    bench.set_outbox("[[outbox]]\ntable = 'outbox_events'\nsubject = '%.new.{aggregate_id}'\n");
    const auto found = find({event_id(2)});
    EXPECT_EQ(found.exit_code, 0) << found.output << found.errors;
    EXPECT_THAT(found.output, HasSubstr("sequence 2, stored "));
    EXPECT_THAT(found.output, HasSubstr("all messages from sequence 1 to 3"));
}

TEST_P(Find, TellsHowFarAConsumerHasCome) {
    bench.start();
    relay(1, 3);
    const auto connection = connect_to(shared_nats().url());
    const auto context = jetstream_of(connection.get());
    jsSubOptions how;
    jsSubOptions_Init(&how);
    how.Stream = bench.stream_name().c_str();
    how.Config.Durable = "billing";
    how.Config.AckPolicy = js_AckExplicit;
    natsSubscription* raw = nullptr;
    const auto all = bench.name() + ".>";
    ASSERT_EQ(js_PullSubscribe(&raw, context.get(), all.c_str(), "billing", nullptr, &how, nullptr),
              NATS_OK);
    const subscription_handle billing(raw);
    const auto says = [&](std::uint64_t event) {
        return find({event_id(event), "--consumer", "billing"}).output;
    };
    EXPECT_THAT(says(1), HasSubstr("billing: not delivered yet"));
    natsMsgList got{};
    ASSERT_EQ(natsSubscription_Fetch(&got, billing.get(), 2,
                                     std::chrono::milliseconds(patience).count(), nullptr),
              NATS_OK);
    ASSERT_EQ(got.Count, 2);
    EXPECT_THAT(says(1), HasSubstr("billing: delivered, not acked by all that came before"));
    ASSERT_EQ(natsMsg_AckSync(got.Msgs[0], nullptr, nullptr), NATS_OK);
    natsMsgList_Destroy(&got);
    EXPECT_THAT(says(1), HasSubstr("billing: acked"));
    EXPECT_THAT(says(2), HasSubstr("billing: delivered, not acked by all that came before"));
    EXPECT_THAT(says(3), HasSubstr("billing: not delivered yet"));
    const auto none = find({event_id(1), "--consumer", "nobody"});
    EXPECT_EQ(none.exit_code, 0);
    EXPECT_THAT(none.output, HasSubstr("nobody: the stream has none of that name"));
}

/// It neither waits for it nor has acked it, whatever came after.
TEST_P(Find, TellsThatAConsumerIsNotToGetAMessage) {
    bench.start();
    relay(1, 2);
    const auto connection = connect_to(shared_nats().url());
    const auto context = jetstream_of(connection.get());
    jsConsumerConfig of_others;
    jsConsumerConfig_Init(&of_others);
    of_others.Durable = "shipping";
    of_others.AckPolicy = js_AckExplicit;
    const auto filter = bench.name() + ".shipment.*";
    of_others.FilterSubject = filter.c_str();
    ASSERT_EQ(js_AddConsumer(nullptr, context.get(), bench.stream_name().c_str(), &of_others,
                             nullptr, nullptr),
              NATS_OK);
    EXPECT_THAT(find({event_id(1), "--consumer", "shipping"}).output,
                HasSubstr("shipping: not of its subjects (" + filter + ")"));
    EXPECT_THAT(find({event_id(1), "--consumer", "shipping", "--json"}).output,
                HasSubstr(R"("consumer":"not of its subjects")"));
}

TEST_P(Find, SaysWhatItIsToBeAsked) {
    EXPECT_EQ(find({}).exit_code, 2);
    EXPECT_EQ(find({"a", "--sequence", "1"}).exit_code, 2);
    bench.start();
    const auto no_message = find({"--sequence", "7"});
    EXPECT_EQ(no_message.exit_code, 2);
    EXPECT_THAT(no_message.errors, HasSubstr("has no message of sequence 7"));
    const auto no_type = find({"--aggregate", "order-1"});
    EXPECT_EQ(no_type.exit_code, 2);
    EXPECT_THAT(no_type.errors, HasSubstr("is not TYPE/ID"));
}

INSTANTIATE_TEST_SUITE_P(Plugins, Find, both_plugins(), plugin_name);

}  // namespace
}  // namespace walrelay::test
