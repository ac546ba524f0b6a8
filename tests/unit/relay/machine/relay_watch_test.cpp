#include "relay/machine/relay_watch.hpp"

#include "unit/relay/lane/fenced_lane_fixture.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace walrelay::relay {
namespace {

constexpr wall_time committed{1'000s};

class RelayWatch : public FencedLane {
protected:
    RelayWatch() {
        tested.open(1, {0, {}});
        tested.believe(tail_belief::exact);
    }

    /// Commits one at `committed`, which the broker answers so long after that.
    void answer(std::uint64_t commit, std::chrono::microseconds after, publish_outcome with,
                std::chrono::seconds since_start = 0s) {
        message& filled = tested.vacancy();
        filled.where = {here, {lsn{commit * 8}, {}, 0}};
        filled.committed_at = committed;
        filled.id = std::to_string(commit);
        filled.subject = "events.a";
        filled.add_header("traceparent", "00-" + filled.id);
        tested.admit();
        const auto sent = tested.next_to_send(start + since_start);
        ASSERT_TRUE(sent);
        watch.reply(tested, sent->token, with, {start + since_start + 2ms, committed + after});
        std::ignore = tested.on_reply(sent->token, with, start + since_start + 2ms);
    }

    [[nodiscard]] std::string slowest(std::chrono::seconds since_start) const {
        const auto found = watch.slowest(start + since_start);
        return found ? found->id : "";
    }

    relay_watch watch{1};
};

TEST_F(RelayWatch, TimesTheWayFromTheCommitAndFromThePublish) {
    answer(1, 40ms, stored(1));
    const auto& counts = watch.counts();
    EXPECT_EQ(counts.commit_to_ack.sum_microseconds(), 40'000U);
    EXPECT_EQ(counts.publish_to_ack.sum_microseconds(), 2'000U);
    EXPECT_EQ(counts.last_commit, committed);
    EXPECT_EQ(counts.last_stored, committed + 40ms);
}

struct heard_acks final : ack_observer {
    void acked(const acked_message& what) noexcept override {
        ids.push_back(what.content.id);
        published_at = what.published_at;
        acked_at = what.acked_at;
        sequence = what.sequence;
    }

    std::vector<std::string> ids;
    wall_time published_at;
    wall_time acked_at;
    std::uint64_t sequence = 0;
};

TEST_F(RelayWatch, TellsAnObserverOfWhatIsStoredAndOfNothingElse) {
    answer(1, 40ms, stored(1));
    heard_acks heard;
    watch.tell_of_acks(heard);
    answer(2, 50ms, stored(2));
    EXPECT_EQ(heard.published_at, committed + 48ms);
    EXPECT_EQ(heard.acked_at, committed + 50ms);
    EXPECT_EQ(heard.sequence, 2U);
    publish_outcome busy;
    busy.kind = outcome_class::transient;
    answer(3, 60ms, busy);
    EXPECT_EQ(heard.ids, std::vector<std::string>{"2"});
}

TEST_F(RelayWatch, LeavesRowsOfBeforeTheSlotOutOfTheTimeSinceTheCommit) {
    message& filled = tested.vacancy();
    filled.where = {here, {before_slot(lsn{800}), {}, 0}};
    filled.id = "old";
    tested.admit();
    const auto sent = tested.next_to_send(start);
    ASSERT_TRUE(sent);
    watch.reply(tested, sent->token, stored(1), {start, committed});
    EXPECT_EQ(watch.counts().commit_to_ack.count(), 0U);
    EXPECT_EQ(watch.counts().publish_to_ack.count(), 1U);
}

TEST_F(RelayWatch, CountsWhatIsStoredByWhyItWasPublished) {
    message& filled = tested.vacancy();
    filled.where = {here, {lsn{8}, {}, 0}};
    filled.cause = message_cause::retry;
    filled.id = "again";
    tested.admit();
    const auto sent = tested.next_to_send(start);
    ASSERT_TRUE(sent);
    watch.reply(tested, sent->token, stored(1), {start, committed});
    // One more was found in the stream.
    const auto counts = watch.counts_with(2);
    EXPECT_EQ(counts.messages_stored, 2U);
    EXPECT_EQ(counts.stored_by_cause,
              (std::array<std::uint64_t, message_cause_count>{1, 0, 0, 1, 0}));
    // A later relay goes on from there.
    relay_watch later{1};
    later.go_on_from(counts);
    EXPECT_EQ(later.counts_with(3).stored_by_cause,
              (std::array<std::uint64_t, message_cause_count>{4, 0, 0, 1, 0}));
}

TEST_F(RelayWatch, AddsUpHowLongReadingWasPaused) {
    const auto at = [](std::chrono::milliseconds since) { return instant{start + since, {}}; };
    watch.reading_is_paused(false, at(0ms));
    EXPECT_EQ(watch.counts().reading_paused, 0us);
    watch.reading_is_paused(true, at(100ms));
    watch.reading_is_paused(true, at(300ms));
    EXPECT_EQ(watch.counts().reading_paused, 200ms);
    watch.reading_is_paused(false, at(350ms));
    watch.reading_is_paused(false, at(900ms));
    EXPECT_EQ(watch.counts().reading_paused, 250ms);
}

TEST_F(RelayWatch, CountsWhatTheBrokerDoesNotStore) {
    answer(1, 1ms, failed(outcome_class::transient));
    const auto& counts = watch.counts();
    EXPECT_EQ(counts.publish_failures[static_cast<std::size_t>(publish_trouble::transient)], 1U);
    EXPECT_EQ(counts.publish_to_ack.count(), 0U);
}

TEST_F(RelayWatch, CountsADuplicate) {
    answer(1, 1ms, duplicate(1));
    EXPECT_EQ(watch.counts().skipped_duplicate_id, 1U);
    EXPECT_EQ(watch.counts().publish_to_ack.count(), 0U);
}

TEST_F(RelayWatch, DoesNotCountAReplyOfAnEarlierConnection) {
    answer(1, 1ms, stored(1));
    watch.reply(tested, {0, 1}, stored(1), {start, committed});
    EXPECT_EQ(watch.counts().publish_to_ack.count(), 1U);
}

TEST_F(RelayWatch, NamesTheSlowestMessageOfTheLastMinute) {
    answer(1, 5ms, stored(1));
    answer(2, 900ms, stored(2));
    answer(3, 7ms, stored(3));
    const auto slow = watch.slowest(start);
    ASSERT_TRUE(slow);
    EXPECT_EQ(slow->id, "2");
    EXPECT_EQ(slow->took, 900ms);
    EXPECT_EQ(slow->trace, "00-2");
    EXPECT_EQ(slow->where.at.commit, lsn{16});
}

TEST_F(RelayWatch, ForgetsASlowMessageAfterAMinute) {
    answer(1, 900ms, stored(1), 100s);
    answer(2, 5ms, stored(2), 140s);
    EXPECT_EQ(slowest(140s), "1");
    answer(3, 4ms, stored(3), 171s);
    EXPECT_EQ(slowest(171s), "2");
    EXPECT_EQ(slowest(300s), "");
}

TEST_F(RelayWatch, GoesOnFromWhatARelayBeforeItHasCounted) {
    answer(1, 5ms, stored(1));
    relay_watch next{1};
    next.go_on_from(watch.counts());
    next.frame(10, {start, committed});
    EXPECT_EQ(next.counts().commit_to_ack.count(), 1U);
    EXPECT_EQ(next.counts().wal_received_bytes, 10U);
}

}  // namespace
}  // namespace walrelay::relay
