// Dead letters without content: what an operator is told of each kind, and what it leads to.
#include "integration/e2e/relay_bench.hpp"
#include "support/eventually.hpp"

#include <gmock/gmock.h>

#include <string>

namespace walrelay::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* above = "the row was above";

class ContentlessLetters : public e2e_test {
protected:
    ContentlessLetters() { bench.create_table(); }

    void settle() {
        const auto end = bench.wal_end();
        ASSERT_TRUE(eventually(patience, [&] { return bench.confirmed_reaches(end); }))
            << bench.relay().log();
    }
    /// `event_type` and `event_data` are SQL.
    void insert(const std::string& event_type, const std::string& event_data) {
        bench.execute(
            "INSERT INTO outbox_events (id, aggregate_id, aggregate_type, event_type, event_data, "
            "status, version, created_at) VALUES ('" +
            event_id(1) + "', 'order-1', 'order', " + event_type + ", " + event_data +
            ", 'published', 1, now())");
    }
    std::string shown() { return bench.command({"dead-letter", "show", "1"}).output; }
    /// The letter stays open.
    std::string refused() {
        const auto run = bench.command({"dead-letter", "retry", "1"});
        EXPECT_EQ(run.exit_code, 1) << run.output;
        EXPECT_THAT(run.errors, HasSubstr("dead letter 1 stays open and was not retried: it has no "
                                          "content ("));
        EXPECT_THAT(bench.command({"dead-letter", "list", "--open"}).output, HasSubstr("\n1 "));
        return run.errors;
    }
};

TEST_P(ContentlessLetters, OfARowThatIsTooLargeLeadToTheLimit) {
    bench.set_delivery("max_row_bytes = '100KiB'");
    bench.start();
    insert("'placed'", "to_jsonb(repeat('x', 300000))");
    settle();
    EXPECT_THAT(shown(), HasSubstr("no content: the row was above delivery.max_row_bytes; once "
                                   "that is raised, walrelay dead-letter retry 1"));
    EXPECT_THAT(refused(),
                AllOf(HasSubstr("more than delivery.max_row_bytes = 102400), and its row has"),
                      HasSubstr("; fix: raise delivery.max_row_bytes above that")));
    bench.execute("DELETE FROM outbox_events");
    EXPECT_THAT(refused(),
                AllOf(HasSubstr("), and its row is not in public.outbox_events any more"),
                      HasSubstr("; fix: have its writer write the event again; then: "
                                "walrelay dead-letter drop 1")));
}

TEST_P(ContentlessLetters, OfTwoRowsOfOneIdAreNotSaidToBeGone) {
    bench.execute("ALTER TABLE outbox_events DROP CONSTRAINT outbox_events_pkey");
    bench.set_delivery("max_row_bytes = '100KiB'");
    bench.start();
    insert("'placed'", "to_jsonb(repeat('x', 300000))");
    insert("'paid'", "to_jsonb(repeat('y', 300000))");
    settle();
    EXPECT_THAT(refused(), AllOf(HasSubstr("2 rows of its table have its id, " + event_id(1)),
                                 HasSubstr("an id of its own"), Not(HasSubstr("any more"))));
}

TEST_P(ContentlessLetters, OfAnUpdateOfARowThatIsGoneDoNotAskForTheEventOnceMore) {
    bench.execute("ALTER TABLE outbox_events ALTER event_data SET STORAGE EXTERNAL");
    bench.set_outbox(
        "[[outbox]]\ntable = 'outbox_events'\nsubject = '%.all'\n"
        "pending = \"status = 'pending'\"\non_published = \"status = 'published'\"\n"
        "republish = { column = 'status', value = 'pending' }");
    bench.start();
    insert("'placed'", "jsonb_build_object('t', repeat('x', 50000))");
    ASSERT_TRUE(bench.wait_for_messages(1));
    settle();
    bench.stop();
    bench.execute("UPDATE outbox_events SET status = 'pending'; DELETE FROM outbox_events");
    bench.start();
    settle();
    EXPECT_THAT(shown(),
                AllOf(HasSubstr("is no longer there under that id"),
                      HasSubstr("no content, for the reason above"), Not(HasSubstr(above))));
    EXPECT_THAT(refused(),
                AllOf(HasSubstr("that was updated to be published again"),
                      HasSubstr("; fix: walrelay dead-letter drop 1; what was published of the row "
                                "before is still published"),
                      Not(HasSubstr("max_row_bytes"))));
}

/// Quotes take twice their length, or four times, where a row asks for the replay.
TEST_P(ContentlessLetters, OfAReplayLeadToAnotherReplay) {
    bench.execute("ALTER TABLE outbox_events ALTER event_type TYPE text");
    bench.set_outbox("[[outbox]]\ntable = 'outbox_events'\nsubject = '%.all'");
    bench.set_delivery("max_row_bytes = '64KiB'");
    bench.start();
    insert("repeat('\"', " + std::string(bench.plugin() == "wal2json" ? "25000" : "40000") + ")",
           "'{}'");
    ASSERT_TRUE(bench.wait_for_messages(1)) << bench.relay().log();
    // As where the relay alone has little memory.
    bench.set_delivery("max_row_bytes = '1MiB'");
    const auto replayed =
        bench.command({"replay", "--rows", "true", "--table", "public.outbox_events", "--execute"});
    EXPECT_THAT(replayed.output, HasSubstr("1 row")) << replayed.errors;
    settle();
    EXPECT_THAT(shown(), AllOf(HasSubstr("no content: the row was to be replayed"),
                               HasSubstr("walrelay replay publishes it again"),
                               Not(HasSubstr("dead-letter retry"))));
    EXPECT_THAT(refused(), AllOf(HasSubstr("(a row that was to be replayed has "),
                                 HasSubstr("walrelay replay; then: walrelay dead-letter drop 1"),
                                 Not(HasSubstr("have its writer"))));
}

INSTANTIATE_TEST_SUITE_P(Plugins, ContentlessLetters, both_plugins(), plugin_name);

}  // namespace
}  // namespace walrelay::test
