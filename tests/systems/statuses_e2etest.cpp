// What the rows of each system say while walrelay is in the poller's place: published, dead, and
// published again because an operator asked for it.
#include "systems/busy_service.hpp"
#include "systems/system_test.hpp"

#include <algorithm>

namespace walrelay::test {
namespace {

class Statuses : public system_test {
protected:
    [[nodiscard]] std::size_t rows_of(int writes) const {
        return static_cast<std::size_t>(writes * facts().rows_per_write);
    }

    /// Inserts the poison and waits for its end; returns its message id.
    std::string dead_row() {
        const auto id = bench.value_of(facts().poison);
        EXPECT_TRUE(bench.becomes(state_of(id), facts().dead));
        EXPECT_TRUE(bench.becomes("SELECT to_regclass('walrelay.dead_letter') IS NOT NULL", "t"));
        EXPECT_TRUE(bench.becomes("SELECT count(*) FROM walrelay.dead_letter", "1"));
        return id;
    }
};

/// For what does not depend on the columns: two systems stand for all.
using StatusesInTrouble = Statuses;

TEST_P(Statuses, OfPublishedRowsSaySo) {
    bench.start();
    bench.write(5);
    EXPECT_TRUE(bench.becomes(count_of(facts().published), std::to_string(rows_of(5))));
    EXPECT_EQ(bench.value_of("SELECT count(*) FROM " + facts().table + " WHERE " +
                             facts().published_noted),
              std::to_string(rows_of(5)));
    // What the relay wrote itself publishes nothing.
    bench.write();
    EXPECT_TRUE(bench.becomes(count_of(facts().published), std::to_string(rows_of(6))));
    EXPECT_EQ(bench.messages(rows_of(6)).size(), rows_of(6));
    bench.stop();
    EXPECT_TRUE(bench.verified());
}

TEST_P(Statuses, OfRowsThatThePollerLeftSaySo) {
    bench.write(4);
    bench.execute("UPDATE " + facts().table + " SET " + facts().poller_mark);
    bench.write(5);
    bench.start();
    EXPECT_TRUE(bench.becomes("SELECT count(*) FROM " + facts().table + " WHERE " + facts().state +
                                  " IN ('" + facts().published + "', 'SENT') AND " +
                                  facts().published_noted,
                              std::to_string(rows_of(9))));
    EXPECT_EQ(bench.messages(rows_of(5)).size(), rows_of(5));
    bench.stop();
}

TEST_P(StatusesInTrouble, OfRowsThatNobodySeesYetSaySoOnceTheyAreSeen) {
    bench.start();
    slow_standby standby(bench);
    busy_service service(bench);
    ASSERT_TRUE(standby.someone_waits());
    const auto visible = std::stoul(bench.value_of("SELECT count(*) FROM " + facts().table));
    ASSERT_TRUE(bench.broker().wait_for(bench.stream_name(), visible + 1, patience));
    standby.arrive();
    service.stop();
    EXPECT_TRUE(bench.becomes(count_of(facts().published), std::to_string(row_ids().size())));
    bench.stop();
}

TEST_P(StatusesInTrouble, ArePresentAfterACrashAndNoMessageIsThereTwice) {
    bench.start();
    bench.write(20);
    ASSERT_TRUE(bench.broker().wait_for(bench.stream_name(), 5, patience));
    bench.kill_9();
    bench.start();
    EXPECT_TRUE(bench.becomes(count_of(facts().published), std::to_string(rows_of(20))));
    bench.write();
    EXPECT_EQ(bench.messages(rows_of(21)).size(), rows_of(21));
    EXPECT_TRUE(bench.becomes(count_of(facts().published), std::to_string(rows_of(21))));
    bench.stop();
    EXPECT_TRUE(bench.verified());
}

TEST_P(Statuses, OfPoisonIsDeadWhileTheRestFlows) {
    bench.start();
    bench.write();
    const auto id = dead_row();
    EXPECT_EQ(bench.value_of("SELECT (" + facts().dead_noted + ")::text FROM " + facts().table +
                             " WHERE " + facts().message_id + " = " + as_literal(id)),
              "true");
    bench.write();
    const auto ids = ids_of(bench.messages(rows_of(2)));
    EXPECT_EQ(std::count(ids.begin(), ids.end(), id), 0);
    EXPECT_TRUE(bench.becomes("SELECT count(*) FROM " + facts().table + " WHERE " + facts().state +
                                  " = '" + facts().published + "' AND " + facts().published_noted,
                              std::to_string(rows_of(2))));
    bench.stop();
    EXPECT_TRUE(bench.verified());
}

TEST_P(Statuses, SetBackByAnOperatorPublishTheRowAgain) {
    bench.start();
    bench.write();
    const auto id = bench.messages(rows_of(1)).front().header("Nats-Msg-Id");
    ASSERT_TRUE(bench.becomes(count_of(facts().published), std::to_string(rows_of(1))));
    update(id, facts().replay);

    const auto again = bench.messages(rows_of(1) + 1);
    EXPECT_TRUE(again.back().header("Nats-Msg-Id").starts_with(id + ";republish-"))
        << again.back().header("Nats-Msg-Id");
    EXPECT_EQ(again.back().subject, again.front().subject);
    EXPECT_TRUE(bench.becomes(count_of(facts().published), std::to_string(rows_of(1))));
    bench.stop();
    EXPECT_TRUE(bench.verified());
}

TEST_P(Statuses, OfACuredDeadRowSetBackPublishIt) {
    bench.start();
    const auto id = dead_row();
    update(id, facts().cure + ", " + facts().replay);
    const auto message = bench.messages(1).front();
    EXPECT_TRUE(message.header("Nats-Msg-Id").starts_with(id + ";republish-"));
    EXPECT_TRUE(bench.becomes(state_of(id), facts().published));
    bench.stop();
}

INSTANTIATE_TEST_SUITE_P(, Statuses, all_systems_with_both_plugins(), system_name);
INSTANTIATE_TEST_SUITE_P(, StatusesInTrouble,
                         testing::Combine(testing::Values("events", "wallet"), both_plugins()),
                         system_name);

/// Bento's consumers keep an inbox; its README says how.
class Inbox : public Statuses {
protected:
    /// How many of the messages take effect.
    std::size_t consume(const std::vector<stored_message>& messages) {
        auto session = bench.session();
        std::size_t effects = 0;
        for (const auto& message : messages) {
            effects += session
                           .query(
                               "INSERT INTO inbox (message_id) VALUES ($1)"
                               " ON CONFLICT DO NOTHING RETURNING 1",
                               {message.header("Nats-Msg-Id")})
                           .size();
        }
        return effects;
    }
};

TEST_P(Inbox, SkipsWhatItHasSeenAndTakesARevivedRow) {
    bench.start();
    bench.write(2);
    const auto first = bench.messages(rows_of(2));
    EXPECT_EQ(consume(first), rows_of(2));
    EXPECT_EQ(consume(first), 0U);
    ASSERT_TRUE(bench.becomes(count_of(facts().published), std::to_string(rows_of(2))));
    update(first.front().header("Nats-Msg-Id"), facts().replay);
    EXPECT_EQ(consume(bench.messages(rows_of(2) + 1)), 1U);
    bench.stop();
}

INSTANTIATE_TEST_SUITE_P(, Inbox, testing::Combine(testing::Values("bento"), both_plugins()),
                         system_name);

/// Systems whose poison is cured by another subject.
using DeadLetters = Statuses;

TEST_P(DeadLetters, RetriedWithAnotherSubjectAreInTheStream) {
    bench.start();
    const auto id = dead_row();
    bench.stop();
    bench.set("WALRELAY_OUTBOX_SUBJECT",
              facts().example == "memo" ? "email.{event_type|status}" : "clinic.{aggregate_id}");
    bench.start();
    const auto retried = bench.command({"dead-letter", "retry", "--all"});
    EXPECT_EQ(retried.exit_code, 0) << retried.errors;
    const auto message = bench.messages(1).front();
    EXPECT_TRUE(message.header("Nats-Msg-Id").starts_with(id + ";retry-"));
    EXPECT_TRUE(
        bench.becomes(state_of(id), facts().example == "memo" ? facts().dead : facts().published));
    EXPECT_EQ(bench.command({"dead-letter", "drop", "--all", "--yes"}).exit_code, 0);
    EXPECT_EQ(bench.value_of("SELECT count(*) FROM walrelay.dead_letter WHERE retries >= 0"), "0");
    bench.stop();
}

INSTANTIATE_TEST_SUITE_P(, DeadLetters,
                         testing::Combine(testing::Values("clinic", "memo"), both_plugins()),
                         system_name);

}  // namespace
}  // namespace walrelay::test
