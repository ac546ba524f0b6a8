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

TEST_P(Find, TellsHowFarAConsumerHasCome) {
    bench.start();
    relay(1, 2);
    const auto connection = connect_to(shared_nats().url());
    const auto context = jetstream_of(connection.get());
    jsConsumerConfig config;
    jsConsumerConfig_Init(&config);
    config.Durable = "billing";
    config.AckPolicy = js_AckExplicit;
    ASSERT_EQ(js_AddConsumer(nullptr, context.get(), bench.stream_name().c_str(), &config, nullptr,
                             nullptr),
              NATS_OK);
    const auto waits = find({event_id(1), "--consumer", "billing"});
    EXPECT_THAT(waits.output, HasSubstr("billing: not delivered yet"));
    const auto none = find({event_id(1), "--consumer", "nobody"});
    EXPECT_EQ(none.exit_code, 0);
    EXPECT_THAT(none.output, HasSubstr("nobody: the stream has none of that name"));
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
