#include "tasks/find/event_trace.hpp"

#include "tasks/find/find_progress.hpp"
#include "tasks/find/find_report.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <optional>

namespace walrelay::test {
namespace {

using tasks::verdict;
using testing::HasSubstr;

/// A row without message or letter, looked for in all of a stream that is whole.
class EventTrace : public testing::Test {
protected:
    EventTrace() {
        trace_.rows.push_back({.id = "7"});
        around_.slot_exists = true;
        around_.confirmed = lsn{100};
        around_.wal_end = lsn{200};
        around_.first_sequence = 1;
        around_.last_sequence = 9;
        around_.looked_from = 1;
    }
    [[nodiscard]] verdict judged() const { return tasks::judge(trace_, around_); }
    [[nodiscard]] std::string said() const {
        auto one = trace_;
        one.what = judged();
        return tasks::text_of(tasks::found_events{{one}, around_});
    }

    tasks::event_trace trace_;
    tasks::surroundings around_;
};

TEST_F(EventTrace, IsAwaitedAsLongAsTheSlotIsNotAtTheEnd) {
    EXPECT_EQ(judged(), verdict::awaited);
    EXPECT_THAT(said(), HasSubstr("may still bring it"));
    around_.confirmed = around_.wal_end;
    EXPECT_EQ(judged(), verdict::missing);
    around_.wal_end = lsn{};
    EXPECT_EQ(judged(), verdict::awaited) << "a standby does not say where its WAL ends";
    around_.wal_end = around_.confirmed;
    around_.halted = "rows are missing";
    EXPECT_EQ(judged(), verdict::halted);
}

TEST_F(EventTrace, IsAwaitedOfASlotThatWaitsUnderAnotherName) {
    around_.slot_exists = false;
    around_.confirmed = lsn{};
    around_.wal_end = lsn{};
    EXPECT_EQ(judged(), verdict::not_sent);
    around_.slot_waits = slot_wait::plugin_switch;
    EXPECT_EQ(judged(), verdict::awaited);
    EXPECT_THAT(said(), HasSubstr("waits under another name"));
    EXPECT_THAT(said(), HasSubstr("walrelay init --switch-plugin"));
}

TEST_F(EventTrace, IsForAConsumerOnlyUnderOneOfItsSubjects) {
    around_.consumer = "billing";
    trace_.messages = {{.sequence = 5, .subject = "events.order.paid"}};
    const auto says = [&](std::vector<std::string> subjects) {
        around_.place = nats::consumer_place{4, 4, std::move(subjects)};
        return said();
    };
    EXPECT_THAT(says({}), HasSubstr("billing: not delivered yet"));
    EXPECT_THAT(says({"events.user.>", "events.*.paid"}), HasSubstr("billing: not delivered yet"));
    EXPECT_THAT(says({"events.user.>", "events.order"}),
                HasSubstr("billing: not of its subjects (events.user.>, events.order)"));
    around_.place->acked = 9;
    EXPECT_THAT(said(), HasSubstr("billing: not of its subjects")) << "it has acked others";
}

TEST_F(EventTrace, IsSetAsideOnlyWhereItsLetterIsOpen) {
    around_.confirmed = around_.wal_end;
    const auto with_letter = [&](const char* state) {
        trace_.letters = {{.id = 7, .state = state}};
        return judged();
    };
    for (const auto* const open : {"open", "queued", "lost"}) {
        EXPECT_EQ(with_letter(open), verdict::set_aside) << open;
    }
    EXPECT_EQ(with_letter("given up"), verdict::given_up);
    EXPECT_FALSE(tasks::is_settled(judged()));
    EXPECT_EQ(with_letter("dropped"), verdict::dropped);
    EXPECT_TRUE(tasks::is_settled(judged()));
    EXPECT_EQ(with_letter("retried"), verdict::missing) << "its message is gone since";
}

TEST_F(EventTrace, IsSetAsideAlsoWhereItsIdIsThatOfAnotherRowsMessage) {
    trace_.messages = {{.sequence = 3, .id = "7", .position = "7.1.A.B.0"}};
    EXPECT_EQ(judged(), verdict::once);
    trace_.letters = {{.id = 7, .state = "open", .is_of_the_first = true}};
    EXPECT_EQ(judged(), verdict::set_aside);
    trace_.letters.front().state = "retried";
    EXPECT_EQ(judged(), verdict::once);
    trace_.letters = {{.id = 7, .state = "open"}};
    EXPECT_EQ(judged(), verdict::once) << "what was to publish it again was set aside";
}

TEST_F(EventTrace, HasNoMessageInOneOfABranchThatWasLeft) {
    around_.confirmed = around_.wal_end;
    trace_.messages = {{.sequence = 3, .position = "7.1.A.B.0", .of_left_branch = true}};
    EXPECT_EQ(judged(), verdict::missing);
    EXPECT_THAT(said(), HasSubstr("left at a promotion"));
    trace_.messages.push_back({.sequence = 4, .position = "7.2.A.B.0"});
    EXPECT_EQ(judged(), verdict::once);
}

TEST_F(EventTrace, IsNotAbsentFromWhatWasNotLookedAt) {
    around_.looked_from = 5;
    EXPECT_EQ(judged(), verdict::unknown);
    EXPECT_THAT(said(), HasSubstr("unknown: messages before sequence 5 were not looked at"));
    around_.halted = "rows are missing";
    EXPECT_EQ(judged(), verdict::unknown);
    around_.halted.reset();
    around_.slot_exists = false;
    EXPECT_EQ(judged(), verdict::unknown);
}

TEST_F(EventTrace, CanHaveAMessageAmongThoseThatAreGone) {
    around_.first_sequence = 4;
    around_.looked_from = 4;
    around_.gone_messages = 3;
    EXPECT_EQ(judged(), verdict::unknown);
    EXPECT_THAT(said(), HasSubstr("unknown: the stream begins at sequence 4, and 3 messages of it "
                                  "are gone: its message can have been one of them"));
    trace_.rows.front().is_after_witness = false;
    EXPECT_EQ(judged(), verdict::unknown);
    // Nothing of it was known to be stored.
    trace_.rows.front().is_after_witness = true;
    EXPECT_EQ(judged(), verdict::awaited);
    // Or an old row was changed.
    around_.confirmed = around_.wal_end;
    EXPECT_EQ(judged(), verdict::unknown);
}

TEST_F(EventTrace, SaysOfAnEventWithoutRowWhatWasNotSeen) {
    trace_.rows.clear();
    EXPECT_EQ(judged(), verdict::unknown);
    EXPECT_THAT(said(), HasSubstr("no such row, no message, no dead letter\n"));
    around_.gone_messages = 1;
    EXPECT_THAT(said(), HasSubstr("and 1 message of it is gone"));
}

TEST_F(EventTrace, IsPublishedOnceAmongWhatWasLookedAt) {
    trace_.messages.push_back({.sequence = 7, .subject = "events", .id = "7"});
    EXPECT_EQ(judged(), verdict::once);
    EXPECT_THAT(said(), HasSubstr("it is in the stream once\n"));
    around_.subjects = {"events"};
    EXPECT_THAT(said(), HasSubstr("once among the messages that were looked at\n"));
}

TEST_F(EventTrace, IsToldByALetterOnlyWhereThatIsOpenAndOfTheRowItself) {
    EXPECT_FALSE(tasks::is_told_by_letter(trace_));
    trace_.letters = {{.id = 7, .state = "open", .is_of_the_first = true}};
    EXPECT_TRUE(tasks::is_told_by_letter(trace_));
    trace_.letters.front().state = "lost";
    EXPECT_FALSE(tasks::is_told_by_letter(trace_)) << "its retry may be in the stream";
    trace_.letters = {{.id = 7, .state = "open"}};
    EXPECT_FALSE(tasks::is_told_by_letter(trace_)) << "it is of a republication";
}

TEST(EventId, TellsItsTimeWhereItIsAUuidOfVersion7) {
    using namespace std::chrono_literals;
    EXPECT_EQ(tasks::time_in_id("018f3c1e-7d4a-7b1e-9a53-6c1f0e2d4b77"),
              wall_time(std::chrono::milliseconds(0x018f3c1e7d4a)));
    EXPECT_EQ(tasks::time_in_id("018f3c1e-7d4a-4b1e-9a53-6c1f0e2d4b77"), std::nullopt);
    EXPECT_EQ(tasks::time_in_id("018f3c1g-7d4a-7b1e-9a53-6c1f0e2d4b77"), std::nullopt);
    EXPECT_EQ(tasks::time_in_id("order-018f3c1e7d4a7b1e9a536c1f0e2d4b7"), std::nullopt);
    EXPECT_EQ(tasks::time_in_id(""), std::nullopt);
}

TEST(FindReport, DoesNotTakeAnAggregateForAbsentThatItCannotLookFor) {
    tasks::found_events found;
    found.around.stream = "EVENTS";
    found.around.last_sequence = 9;
    auto said = tasks::text_of(found);
    EXPECT_THAT(said, HasSubstr("no table has a row of this aggregate (any more), and whether the "
                                "stream has a message of it is unknown"));
    EXPECT_THAT(said, HasSubstr("looked     at no message of stream EVENTS\n"));
    found.around.is_told_by_subject = true;
    found.around.subjects = {"events.order.7"};
    found.around.first_sequence = 1;
    found.around.looked_from = 5;
    said = tasks::text_of(found);
    EXPECT_THAT(said, HasSubstr("the stream has no message under its subject; but messages before "
                                "sequence 5 were not looked at"));
    EXPECT_THAT(said, HasSubstr("subject events.order.7 from sequence 5 to 9"));
}

TEST(FindProgress, SaysHowLongItTakesAndHowToMakeThatShorter) {
    EXPECT_EQ(tasks::look_in_words(">", 1, 10'000'000, 2'000'000, 5),
              "find: looks at all messages of the stream (--since \"2 hours ago\": only at newer "
              "ones): 2,000,000 of 10,000,000 sequences, 400,000 a second, 20 %, 20 s left");
    EXPECT_THAT(tasks::look_in_words("events.order", 11, 20, 15, 1),
                testing::StartsWith("find: looks at the messages of subject events.order ("));
}

}  // namespace
}  // namespace walrelay::test
