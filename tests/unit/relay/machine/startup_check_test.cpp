#include "relay/machine/startup_check.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace walrelay::relay {
namespace {

using std::chrono::seconds;

constexpr wall_time noon{seconds(43200)};
constexpr lsn committed_before{500};

/// The stream has one row; the table has that one and a newer one.
startup_check begun(bool goes_on_without = false) {
    startup_check check("orders", "EVENTS");
    check.stream_has({{"old", noon, 1}}, {}, {});
    check.begin(
        {{{0, "old", noon}, {0, "new", noon + seconds(10)}}, committed_before, noon + seconds(20)},
        goes_on_without);
    return check;
}

TEST(StartupCheck, LooksForRowsThatNeitherSlotNorStreamHasShown) {
    auto check = begun();
    EXPECT_TRUE(check.is_open());
    EXPECT_FALSE(check.slot_has_come_to(lsn{400}));
    const auto line = check.slot_has_come_to(committed_before);
    ASSERT_TRUE(line);
    EXPECT_NE(line->text().find("1 row of the newest"), std::string::npos) << line->text();
    EXPECT_NE(line->text().find("message ids new"), std::string::npos) << line->text();
    ASSERT_EQ(check.looked_for().size(), 1U);
    EXPECT_EQ(check.looked_for().front().id, "new");
}

TEST(StartupCheck, IsSatisfiedByWhatTheSlotBrings) {
    auto check = begun();
    check.delivered("new");
    EXPECT_FALSE(check.slot_has_come_to(committed_before));
    EXPECT_TRUE(check.looked_for().empty());
}

TEST(StartupCheck, AsksAgainUntilItIsAnswered) {
    auto check = begun();
    static_cast<void>(check.slot_has_come_to(committed_before));
    EXPECT_FALSE(check.looked_for().empty());
    EXPECT_EQ(check.answered(std::vector<roll_row>{}), startup_check::verdict::all_there);
    EXPECT_TRUE(check.looked_for().empty());
}

TEST(StartupCheck, FindsAGapWhereRowsAreNowhere) {
    auto check = begun();
    static_cast<void>(check.slot_has_come_to(committed_before));
    const result<std::vector<roll_row>> missing = check.looked_for();
    ASSERT_EQ(check.answered(missing), startup_check::verdict::doubted);
    check.stream_has({}, {}, {});
    EXPECT_EQ(check.answered(missing), startup_check::verdict::gap);
    const auto gap = check.gap(*missing);
    EXPECT_EQ(gap.code, errc::gap_found);
    EXPECT_NE(gap.what.find("neither in stream EVENTS"), std::string::npos) << gap.what;
    EXPECT_NE(gap.what.find("slot orders does not bring them"), std::string::npos) << gap.what;
    EXPECT_EQ(gap.remedy.find("walrelay verify"), 0U) << gap.remedy;
}

TEST(StartupCheck, DoubtsAGapUntilTheStreamWasLookedAtAgain) {
    auto check = begun();
    static_cast<void>(check.slot_has_come_to(committed_before));
    const result<std::vector<roll_row>> missing = check.looked_for();
    EXPECT_EQ(check.answered(missing), startup_check::verdict::doubted);
    EXPECT_FALSE(check.is_to_look_again());
    EXPECT_EQ(check.answered(missing), startup_check::verdict::doubted);
    check.stream_has({}, {}, {});
    EXPECT_TRUE(check.is_to_look_again());
    EXPECT_EQ(check.looked_for().size(), 1U);
    EXPECT_EQ(check.answered(std::vector<roll_row>{}), startup_check::verdict::all_there);
    EXPECT_FALSE(check.is_to_look_again());
}

TEST(StartupCheck, ComesToAnEndWhereTheLookCallsForAnotherConnection) {
    auto check = begun();
    static_cast<void>(check.slot_has_come_to(committed_before));
    EXPECT_EQ(check.answered(check.looked_for()), startup_check::verdict::doubted);
    check.stream_has({{"old", noon, 1}}, {}, {});
    check.begin(
        {{{0, "old", noon}, {0, "new", noon + seconds(10)}}, committed_before, noon + seconds(20)},
        false);
    static_cast<void>(check.slot_has_come_to(committed_before));
    EXPECT_EQ(check.answered(check.looked_for()), startup_check::verdict::gap);
}

TEST(StartupCheck, AsksAnewOnceTheStreamIsKnownToHaveForgotten) {
    auto check = begun();
    static_cast<void>(check.slot_has_come_to(committed_before));
    EXPECT_EQ(check.answered(check.looked_for()), startup_check::verdict::doubted);
    check.is_over();
    check.stream_forgot();
    EXPECT_TRUE(check.is_due());
    EXPECT_TRUE(check.looked_for().empty());
}

TEST(StartupCheck, AsksAnewWhereTheStreamForgetsBeforeTheSlotHasCome) {
    auto check = begun();
    check.is_over();
    check.stream_forgot();
    EXPECT_TRUE(check.is_due());
    EXPECT_FALSE(check.is_open());
}

TEST(StartupCheck, AsksNoMoreOnceItIsOverWhateverTheStreamForgets) {
    auto check = begun();
    check.delivered("new");
    static_cast<void>(check.slot_has_come_to(committed_before));
    check.is_over();
    check.stream_forgot();
    EXPECT_FALSE(check.is_due());
}

TEST(StartupCheck, GoesOnWithoutThemWhereAnOperatorHasDecidedSo) {
    auto check = begun(true);
    static_cast<void>(check.slot_has_come_to(committed_before));
    const result<std::vector<roll_row>> missing = check.looked_for();
    const auto verdict = check.answered(missing);
    EXPECT_EQ(verdict, startup_check::verdict::left_out);
    EXPECT_NE(check.describe(verdict, missing).text().find("going on without 1 row"),
              std::string::npos);
}

TEST(StartupCheck, SaysThatItIsNotKnownWhereTheSearchFailed) {
    auto check = begun();
    static_cast<void>(check.slot_has_come_to(committed_before));
    const result<std::vector<roll_row>> failed = error{errc::broker_lost, "no answer"};
    const auto verdict = check.answered(failed);
    EXPECT_EQ(verdict, startup_check::verdict::not_known);
    EXPECT_NE(check.describe(verdict, failed).text().find("walrelay verify"), std::string::npos);
}

TEST(StartupCheck, ForgetsRowsOfAServerThatWasLeft) {
    auto check = begun();
    static_cast<void>(check.slot_has_come_to(committed_before));
    EXPECT_EQ(check.until(), committed_before);
    check.forget();
    EXPECT_TRUE(check.looked_for().empty());
    EXPECT_FALSE(check.is_open());
    EXPECT_EQ(check.until(), lsn{});
}

stream_facts stream_from(std::uint64_t first_sequence, std::uint64_t last_sequence) {
    stream_facts stream;
    stream.first_sequence = first_sequence;
    stream.last_sequence = last_sequence;
    stream.message_count = last_sequence + 1 - first_sequence;
    stream.looked_back = true;
    for (auto each = first_sequence; each <= last_sequence; ++each) {
        stream.placed.push_back({each, {{}, {lsn{100 * each}, lsn{1}, 0}}, "id"});
    }
    return stream;
}

TEST(MayLackBefore, IsNothingWhereNoMessageWasRemoved) {
    EXPECT_EQ(may_lack_before(stream_from(1, 9), 100), lsn{});
}

TEST(MayLackBefore, IsTheFirstMessageThatIsLeft) {
    EXPECT_EQ(may_lack_before(stream_from(5, 9), 100), lsn{500});
}

TEST(MayLackBefore, IsNotKnownOfAStreamThatHasMoreThanWasLookedAt) {
    EXPECT_EQ(may_lack_before(stream_from(5, 9), 4), lsn{500}) << "all were shown";
    auto stream = stream_from(5, 9);
    stream.first_sequence = 3;
    stream.message_count = 7;
    EXPECT_EQ(may_lack_before(stream, 5), lsn{});
}

TEST(MayLackBefore, IsEveryRowWhereASubjectKeepsItsLastMessages) {
    auto stream = stream_from(1, 9);
    stream.max_messages_per_subject = 1;
    EXPECT_EQ(may_lack_before(stream, 100), lsn{std::numeric_limits<std::uint64_t>::max()});
}

TEST(MayLackBefore, IsEveryRowWhereNoMessageIsLeft) {
    EXPECT_EQ(may_lack_before(stream_from(10, 9), 100),
              lsn{std::numeric_limits<std::uint64_t>::max()});
}

TEST(StreamBegins, IsAskedWhereMessagesWereRemoved) {
    auto stream = stream_from(5, 9);
    stream.first_stored = noon;
    EXPECT_EQ(begins_at(stream), noon);
    stream.first_stored.reset();
    EXPECT_GT(begins_at(stream), noon + std::chrono::years(1000)) << "not told";
    EXPECT_GT(begins_at(stream_from(10, 9)), noon + std::chrono::years(1000)) << "none is left";
}

TEST(StreamBegins, TellsNothingWhereNoMessageWasRemoved) {
    EXPECT_EQ(begins_at(stream_from(1, 9)), std::nullopt);
}

/// "clock" was made ten seconds after its message was stored, by its own clock.
TEST(RowsBeforeTheStream, AreToldByTheClockOfTheTable) {
    startup_check check("orders", "EVENTS");
    check.stream_has({{"clock", noon, 5}}, {}, {});
    check.stream_begins(noon - seconds(100));
    roll asked{{{0, "clock", noon + seconds(10)},
                {0, "before", noon - seconds(90)},
                {0, "after", noon - seconds(89)}},
               committed_before,
               noon + seconds(20),
               true};
    check.leave_out_removed(asked);
    ASSERT_EQ(asked.rows.size(), 2U);
    EXPECT_EQ(asked.rows.back().id, "after");
    EXPECT_FALSE(asked.is_whole);
}

TEST(RowsBeforeTheStream, AreAskedForWhereTheSlotWasHeardSinceTheyWereMade) {
    startup_check check("orders", "EVENTS");
    check.stream_begins(noon);
    EXPECT_TRUE(check.hear());
    check.begin({{{0, "new", noon - seconds(1)}}, committed_before, noon, true}, false);
    EXPECT_TRUE(check.is_open());
    EXPECT_FALSE(check.asks_too_much());
}

}  // namespace
}  // namespace walrelay::relay
