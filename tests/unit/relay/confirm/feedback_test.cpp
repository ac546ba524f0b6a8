#include "relay/confirm/feedback.hpp"

#include "wal/replication_frame.hpp"

#include <gtest/gtest.h>

namespace walrelay::relay {
namespace {

using namespace std::chrono_literals;

const monotonic_time start{};

TEST(Feedback, IsDueAfterAThirdOfTheSenderTimeout) {
    feedback updates;
    updates.begin(6s, start);
    EXPECT_EQ(updates.deadline(), start + 2s);
}

TEST(Feedback, IsDueEveryTenSecondsWhereTheServerNeverTimesOut) {
    feedback updates;
    updates.begin(0s, start);
    EXPECT_EQ(updates.deadline(), start + 10s);
}

TEST(Feedback, GoesOnByItselfWithoutAnyMessageFromTheServer) {
    feedback updates;
    updates.begin(6s, start);
    static_cast<void>(updates.take({start + 2s, {}}));
    EXPECT_EQ(updates.deadline(), start + 4s);
}

TEST(Feedback, IsDueAtOnceWhenTheServerAsks) {
    feedback updates;
    updates.begin(60s, start);
    updates.requested(start + 1s);
    EXPECT_EQ(updates.deadline(), start + 1s);
}

TEST(Feedback, IsDueSoonAfterConfirmedMoved) {
    feedback updates;
    updates.begin(60s, start);
    updates.confirmed(lsn{5}, start + 1s);
    ASSERT_TRUE(updates.deadline().has_value());
    EXPECT_LE(*updates.deadline(), start + 1s + 100ms);
    static_cast<void>(updates.take({start + 1s, {}}));
    updates.confirmed(lsn{5}, start + 2s);
    EXPECT_GT(*updates.deadline(), start + 3s) << "it has not moved again";
}

TEST(Feedback, TellsWhatIsReadAsWrittenAndWhatIsStoredAsFlushed) {
    feedback updates;
    updates.begin(60s, start);
    updates.received(lsn{70});
    updates.confirmed(lsn{50}, start);
    EXPECT_EQ(updates.take({start, wall_time{}}),
              wal::encode({lsn{70}, lsn{50}, lsn{50}, wall_time{}}));
}

TEST(Feedback, NeverReportsLessThanItHasConfirmedAsWritten) {
    feedback updates;
    updates.begin(60s, start);
    updates.confirmed(lsn{50}, start);
    EXPECT_EQ(updates.take({start, wall_time{}}),
              wal::encode({lsn{50}, lsn{50}, lsn{50}, wall_time{}}));
}

TEST(Feedback, AsksTheServerOnce) {
    feedback updates;
    updates.begin(60s, start);
    updates.ask(start);
    EXPECT_LE(*updates.deadline(), start + 100ms);
    EXPECT_EQ(updates.take({start, wall_time{}}), wal::encode({{}, {}, {}, wall_time{}, true}));
    EXPECT_EQ(updates.take({start, wall_time{}}), wal::encode({{}, {}, {}, wall_time{}, false}));
}

TEST(Feedback, AsksNothingOfTheNextConnection) {
    feedback updates;
    updates.begin(60s, start);
    updates.ask(start);
    updates.begin(60s, start);
    EXPECT_EQ(updates.take({start, wall_time{}}), wal::encode({{}, {}, {}, wall_time{}, false}));
}

TEST(Feedback, IsNotDueOnceTheConnectionIsGone) {
    feedback updates;
    updates.begin(60s, start);
    updates.end();
    updates.confirmed(lsn{50}, start);
    EXPECT_EQ(updates.deadline(), std::nullopt);
}

}  // namespace
}  // namespace walrelay::relay
