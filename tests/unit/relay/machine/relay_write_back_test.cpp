// The relay machine with a table whose rows are written back: ack, write back, confirm.

#include "unit/relay/machine/relay_script.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace walrelay::relay {
namespace {

using namespace std::chrono_literals;
using test::relay_script;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

relay_options with_write_backs() {
    relay_options options;
    options.lane = {4, 1000, 5s};
    options.duties = {{.writes_back = true}};
    return options;
}

class RelayWriteBack : public testing::Test {
protected:
    void begin(std::uint64_t last_sequence = 0, std::optional<commit_position> tail = {}) {
        script_.start();
        script_.broker_connects(last_sequence, tail);
        script_.postgres_connects();
    }

    [[nodiscard]] lsn confirmed() { return script_.machine().confirmed(); }

    relay_script script_{with_write_backs()};
};

TEST_F(RelayWriteBack, ConfirmsOnlyWhatIsWrittenBack) {
    begin();
    script_.transaction(100, {"a", "b"});
    EXPECT_THAT(script_.acks(1), Contains("write_back a"));
    script_.acks(1);
    EXPECT_EQ(confirmed(), lsn{});
    EXPECT_THAT(script_.rows_are_written_back(), Contains("write_back b"));
    EXPECT_EQ(confirmed(), lsn{});
    script_.rows_are_written_back();
    EXPECT_EQ(confirmed(), lsn{101});
}

TEST_F(RelayWriteBack, GathersRowsWhileABatchIsInFlight) {
    begin();
    script_.transaction(100, {"a", "b", "c"});
    EXPECT_THAT(script_.acks(1), Contains("write_back a"));
    EXPECT_THAT(script_.acks(1), Not(Contains(HasSubstr("write_back"))));
    script_.acks(1);
    EXPECT_THAT(script_.rows_are_written_back(), Contains("write_back b c"));
}

TEST_F(RelayWriteBack, WritesBackWhatTheStreamHadBeforeTheStart) {
    begin(1, commit_position{lsn{100}, lsn{1}, 0});
    EXPECT_THAT(script_.transaction(100, {"a"}), ElementsAre("write_back again:a"));
    EXPECT_EQ(confirmed(), lsn{});
    script_.rows_are_written_back();
    EXPECT_EQ(confirmed(), lsn{101});
}

TEST_F(RelayWriteBack, ReadsUpToTheTailHoweverManyRowsWaitBeforeIt) {
    begin(2, commit_position{lsn{200}, lsn{1}, 0});
    const std::vector<std::string> rows(write_backs::awaited_rows, "a");
    script_.transaction(100, rows);
    EXPECT_TRUE(script_.machine().wants_frames()) << "none is written back before the tail is met";
    EXPECT_THAT(script_.transaction(200, {"b"}), Contains(HasSubstr("write_back again:a")));
    EXPECT_FALSE(script_.machine().wants_frames());
    script_.rows_are_written_back();
    EXPECT_TRUE(script_.machine().wants_frames());
}

TEST_F(RelayWriteBack, SaysThatItDoesNotReadWhileTooManyRowsWait) {
    begin(2, commit_position{lsn{200}, lsn{1}, 0});
    script_.transaction(100, std::vector<std::string>(write_backs::awaited_rows, "a"));
    script_.transaction(200, {"b"});
    EXPECT_TRUE(script_.machine().status({}).reading_paused);
    script_.rows_are_written_back();
    EXPECT_FALSE(script_.machine().status({}).reading_paused);
}

/// As one of a table without on_published: nothing is read any more that could tell of the rows.
TEST_F(RelayWriteBack, WritesBackWhatWaitedAlsoWhereTheTailsRowIsNotWrittenBack) {
    begin(2, commit_position{lsn{200}, lsn{1}, 0});
    script_.transaction(100, std::vector<std::string>(write_backs::awaited_rows, "a"));
    script_.frame(test::begin_frame(lsn{200}));
    const std::vector<std::optional<std::string>> without_id{std::nullopt, "kind", "{}"};
    EXPECT_THAT(script_.frame(test::insert_frame(16384, without_id)),
                Contains(HasSubstr("write_back again:a")));
    EXPECT_FALSE(script_.machine().wants_frames());
    script_.rows_are_written_back();
    EXPECT_TRUE(script_.machine().wants_frames());
}

TEST_F(RelayWriteBack, WaitsForTheWriteBackBeforeItConfirmsWhatIsBehind) {
    begin(2, commit_position{lsn{200}, lsn{1}, 0});
    script_.transaction(100, {"a"});
    script_.transaction(200, {"b"});
    script_.frame(test::keepalive_frame(lsn{300}));
    EXPECT_EQ(confirmed(), lsn{});
    script_.rows_are_written_back();
    EXPECT_EQ(confirmed(), lsn{300});
}

TEST_F(RelayWriteBack, TriesAgainLaterWhenTheConnectionFails) {
    begin();
    script_.transaction(100, {"a"});
    script_.acks(1);
    EXPECT_THAT(script_.write_back_fails(errc::postgres_lost), IsEmpty());
    EXPECT_THAT(script_.last_log(), HasSubstr("1 published row to be written back"));
    EXPECT_THAT(script_.passes(1s), Contains("write_back a"));
    script_.rows_are_written_back();
    EXPECT_EQ(confirmed(), lsn{101});
}

TEST_F(RelayWriteBack, TriesAgainLaterWhenTheRoleIsNotLetIn) {
    begin();
    script_.transaction(100, {"a"});
    script_.acks(1);
    EXPECT_THAT(script_.write_back_fails(errc::postgres_refused), IsEmpty());
    EXPECT_THAT(script_.passes(1s), Contains("write_back a"));
}

TEST_F(RelayWriteBack, StopsWhenPostgresRefusesTheStatement) {
    begin();
    script_.transaction(100, {"a"});
    script_.acks(1);
    EXPECT_THAT(script_.write_back_fails(errc::postgres_unsuitable), Contains("finish_postgres"));
    EXPECT_THAT(script_.log_lines(), Contains(HasSubstr("grant it")));
    EXPECT_THAT(script_.postgres_finishes(), Contains("finish 3"));
    EXPECT_EQ(confirmed(), lsn{});
}

TEST_F(RelayWriteBack, ReadsRowsAgainAfterALostConnection) {
    begin();
    script_.transaction(100, {"a"});
    script_.transaction(200, {"b"});
    script_.acks(1);
    script_.acks(1);
    script_.rows_are_written_back();
    EXPECT_EQ(confirmed(), lsn{101});
    script_.postgres_fails();
    EXPECT_THAT(script_.rows_are_written_back(), IsEmpty()) << "an answer of the old connection";
    script_.passes(1s);
    script_.postgres_connects();
    EXPECT_THAT(script_.transaction(200, {"b"}), Contains("write_back again:b"));
    script_.rows_are_written_back();
    EXPECT_EQ(confirmed(), lsn{201});
}

TEST_F(RelayWriteBack, WaitsForWriteBacksWhenItStops) {
    begin();
    script_.transaction(100, {"a"});
    script_.acks(1);
    EXPECT_THAT(script_.stops(), Not(Contains("finish_postgres")));
    EXPECT_THAT(script_.rows_are_written_back(), Contains("finish_postgres"));
    EXPECT_EQ(script_.reported(), lsn{101});
}

TEST_F(RelayWriteBack, StopsAtOnceWhenPostgresIsGone) {
    begin();
    script_.transaction(100, {"a"});
    script_.acks(1);
    script_.stops();
    EXPECT_THAT(script_.postgres_fails(), Contains("finish 0"));
}

TEST_F(RelayWriteBack, LeavesARowThatIsSetAsideAlone) {
    begin();
    script_.frame(test::begin_frame(lsn{100}));
    EXPECT_THAT(script_.frame(test::insert_frame(16384, {{}, "kind", "{}"})),
                ElementsAre(HasSubstr("dead_letter")));
    script_.dead_letter_is_stored();
    script_.frame(test::commit_frame(lsn{100}, lsn{101}));
    EXPECT_EQ(confirmed(), lsn{101}) << "a dead letter has no write-back";
}

/// Also before the stream's end, where the server has another timeline by now than the letter's.
TEST_F(RelayWriteBack, LeavesARowThatWasSetAsideBeforeAlone) {
    script_.dead_letters = {{relay_script::origin, {lsn{100}, lsn{1}, 0}}};
    begin(1, commit_position{lsn{200}, lsn{1}, 0});
    EXPECT_THAT(script_.transaction(100, {"a"}), IsEmpty());
    EXPECT_THAT(script_.transaction(200, {"b"}), Contains("write_back again:b"));
}

TEST_F(RelayWriteBack, SaysOnceWhatAWriteBackWaitsFor) {
    begin();
    script_.transaction(100, {"a", "b"});
    script_.acks(2);
    EXPECT_THAT(script_.passes(6900ms), Not(Contains(HasSubstr("find_blocker"))));
    EXPECT_THAT(script_.passes(200ms), Contains("find_blocker of a write_back"));
    script_.blocker_is_found(waiting_write::statuses, std::string("process 7 has a lock"));
    EXPECT_THAT(script_.last_log(),
                AllOf(HasSubstr("2 rows of table public.outbox not written back"),
                      HasSubstr("7.150 s"), HasSubstr("process 7 has a lock")));
    EXPECT_THAT(script_.passes(60s), Not(Contains(HasSubstr("find_blocker"))));
    const auto lines = script_.log_count();
    script_.rows_are_written_back();
    EXPECT_EQ(script_.log_count(), lines + 1);
    EXPECT_THAT(script_.last_log(), HasSubstr("written back again, after 67.150 s"));
    script_.rows_are_written_back();
    EXPECT_EQ(script_.log_count(), lines + 1);
    EXPECT_EQ(confirmed(), lsn{101});
}

TEST_F(RelayWriteBack, SaysNothingOfAWriteBackThatIsDoneBeforeTheAnswer) {
    begin();
    script_.transaction(100, {"a"});
    script_.acks(1);
    EXPECT_THAT(script_.passes(8s), Contains("find_blocker of a write_back"));
    script_.rows_are_written_back();
    const auto lines = script_.log_count();
    script_.blocker_is_found(waiting_write::statuses, std::string("process 7 has a lock"));
    EXPECT_EQ(script_.log_count(), lines);
}

TEST_F(RelayWriteBack, SaysSoAlsoWhereNobodyTellsWhatItWaitsFor) {
    begin();
    script_.transaction(100, {"a"});
    script_.acks(1);
    script_.passes(8s);
    script_.blocker_is_found(waiting_write::statuses, error{errc::postgres_lost, "full"});
    EXPECT_THAT(script_.last_log(),
                AllOf(HasSubstr("1 row of table public.outbox"), HasSubstr("is not known: full")));
}

}  // namespace
}  // namespace walrelay::relay
