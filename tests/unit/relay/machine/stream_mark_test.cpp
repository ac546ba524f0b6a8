#include "relay/machine/stream_mark.hpp"

#include <gtest/gtest.h>

namespace walrelay {
namespace {

using relay::stream_mark;
using relay::stream_owner;

stream_owner of(const char* rules) {
    stream_owner mark{"slot", "app", 7, 1};
    mark.rules = rules;
    return mark;
}

/// What is on its way: its rules, or nothing.
std::string to_write(stream_mark& mark) {
    const auto wanted = mark.take_to_write();
    return wanted ? wanted->rules : "";
}

stream_mark changing(const char* from, const char* to) {
    stream_mark mark;
    mark.seen(of(from));
    mark.change(of(to));
    return mark;
}

stream_mark with_new_rules_on_their_way() {
    auto mark = changing("old", "new");
    EXPECT_EQ(to_write(mark), "comparing-holes-new");
    return mark;
}

TEST(StreamMark, IsStaleUntilTheDescriptionSaysTheSame) {
    stream_mark mark;
    mark.seen(of("old"));
    EXPECT_FALSE(mark.is_stale());
    mark.change(of("comparing-new"));
    EXPECT_TRUE(mark.is_stale());
    EXPECT_EQ(to_write(mark), "comparing-new");
    EXPECT_TRUE(mark.is_on_its_way());
    EXPECT_TRUE(mark.is_stale()) << "not written yet";
    mark.written(true);
    EXPECT_FALSE(mark.is_stale());
    EXPECT_EQ(to_write(mark), "");
}

TEST(StreamMark, OfOtherRulesClaimsNothingFirst) {
    auto mark = changing("old", "new");
    const auto first = mark.take_to_write();
    ASSERT_TRUE(first);
    EXPECT_EQ(first->rules, "comparing-holes-new");
    EXPECT_EQ(first->disordered_until, std::nullopt);
    mark.written(true);
    EXPECT_EQ(mark.known(), of("new"));
    EXPECT_TRUE(mark.is_stale());
    EXPECT_EQ(to_write(mark), "new");
    mark.written(true);
    EXPECT_FALSE(mark.is_stale());
}

TEST(StreamMark, BehindAnInterruptedComparisonIsWrittenInTwoStepsAsWell) {
    stream_mark mark;
    auto interrupted = relay::being_compared(of("new"));
    mark.seen(interrupted);
    mark.change(of("new"));
    const auto first = mark.take_to_write();
    ASSERT_TRUE(first);
    EXPECT_NE(first, interrupted) << "the same text is not sent, and asks nobody";
    EXPECT_EQ(first->rules, interrupted.rules);
    mark.written(true);
    EXPECT_EQ(to_write(mark), "new");
}

TEST(StreamMark, BehindAComparisonOfIdsHasThemComparedAgain) {
    auto mark = changing("comparing-ids-new", "new");
    EXPECT_EQ(to_write(mark), "comparing-ids-holes-new");
}

TEST(StreamMark, BehindAComparisonOfThisLookIsWrittenAtOnce) {
    auto mark = changing("old", "comparing-new");
    EXPECT_EQ(to_write(mark), "comparing-new");
    mark.written(true);
    mark.change(of("new"));
    EXPECT_EQ(to_write(mark), "new");
}

TEST(StreamMark, OfInitHoldsNothingUpWhereItCannotBeChanged) {
    auto mark = changing("", "new");
    EXPECT_EQ(to_write(mark), "comparing-ids-holes-new");
    EXPECT_FALSE(mark.is_stale());
    mark.written(false);
    EXPECT_FALSE(mark.is_stale());
    EXPECT_EQ(to_write(mark), "") << "refused";
}

TEST(StreamMark, ThatAnOperatorHasWrittenHolds) {
    auto mark = with_new_rules_on_their_way();
    mark.written(false);
    EXPECT_TRUE(mark.is_stale());
    mark.seen(of("new"));
    EXPECT_FALSE(mark.is_stale());
    EXPECT_EQ(to_write(mark), "");
}

/// Of a version that knew no ids, or by hand: with no right to write it, publishing goes on.
TEST(StreamMark, ThatSaysNothingOfIdsHolds) {
    stream_mark mark;
    mark.seen(of("rules"));
    auto with_ids = of("rules");
    with_ids.ids = {{"0123456789abcdef", lsn{7}}};
    mark.change(with_ids);
    EXPECT_FALSE(mark.is_stale());
    EXPECT_FALSE(mark.has_ids_to_go_by());
    EXPECT_EQ(to_write(mark), "rules") << "it is written where it can be";
    mark.written(false);
    EXPECT_FALSE(mark.is_stale());

    auto of_others = of("others");
    of_others.ids = with_ids.ids;
    mark.change(of_others);
    EXPECT_TRUE(mark.is_stale()) << "other rules are not published by before they are marked";
}

TEST(StreamMark, OfAComparisonThatAnOperatorHasWrittenHolds) {
    auto mark = changing("old", "comparing-new");
    EXPECT_EQ(to_write(mark), "comparing-new");
    mark.written(false);
    EXPECT_TRUE(mark.is_stale());
    mark.seen(of("comparing-new"));
    EXPECT_FALSE(mark.is_stale());
}

TEST(StreamMark, OfTheSameRulesIsChangedAtOnce) {
    stream_mark mark;
    mark.seen(of("same"));
    auto changed = of("same");
    changed.since = lsn{0x100};
    mark.change(changed);
    EXPECT_EQ(mark.take_to_write(), changed);
}

TEST(StreamMark, IsWrittenAgainAfterAFailure) {
    auto mark = with_new_rules_on_their_way();
    mark.written(false);
    EXPECT_TRUE(mark.is_stale());
    EXPECT_EQ(mark.known(), of("new"));
    EXPECT_EQ(to_write(mark), "comparing-holes-new");
}

TEST(StreamMark, HoldsNothingUpWhereThereIsNone) {
    stream_mark mark;
    mark.seen(std::nullopt);
    mark.change(of("new"));
    EXPECT_FALSE(mark.is_stale());
    static_cast<void>(mark.take_to_write());
    mark.written(false);
    EXPECT_FALSE(mark.is_stale());
    EXPECT_EQ(to_write(mark), "") << "refused";
    mark.seen(std::nullopt);
    EXPECT_EQ(to_write(mark), "comparing-ids-holes-new") << "another connection";
}

TEST(StreamMark, WritesOneAtATime) {
    auto mark = with_new_rules_on_their_way();
    mark.change(of("newer"));
    EXPECT_EQ(mark.take_to_write(), std::nullopt);
    mark.written(true);
    EXPECT_TRUE(mark.is_stale());
    EXPECT_EQ(mark.take_to_write(), of("newer"));
}

TEST(StreamMark, IsWhatAnotherRelayHasWritten) {
    auto mark = with_new_rules_on_their_way();
    mark.written(false);
    mark.seen(of("old"));
    EXPECT_EQ(mark.known(), of("new")) << "nobody has written";
    mark.seen(of("another"));
    EXPECT_EQ(mark.known(), of("another"));
    EXPECT_FALSE(mark.is_stale());
}

TEST(StreamMark, OfAnEarlierLookClaimsNothingWhileItIsNotWritten) {
    auto mark = with_new_rules_on_their_way();
    mark.seen(of("old"));
    EXPECT_EQ(mark.known()->rules, "comparing-holes-new") << "the stream can have had more";
}

TEST(StreamMark, IsNotTakenBackWhileItIsWritten) {
    stream_mark mark;
    mark.seen(of("same"));
    auto later = of("same");
    later.timeline = 2;
    mark.change(later);
    EXPECT_EQ(to_write(mark), "same");
    mark.seen(of("another"));
    EXPECT_EQ(mark.known(), later);
}

TEST(StreamMark, IsLeftAsItIsWhereItsFirstStepWasAMistake) {
    auto mark = with_new_rules_on_their_way();
    mark.written(true);
    mark.leave_as_it_is();
    EXPECT_EQ(mark.known(), relay::being_compared(of("new")));
    EXPECT_FALSE(mark.is_stale());
    EXPECT_EQ(to_write(mark), "");
}

TEST(StreamMark, OfAComparisonStaysWhereAServerShowsAnOlderOne) {
    auto mark = changing("old", "comparing-new");
    static_cast<void>(mark.take_to_write());
    mark.written(true);
    mark.seen(of("old"));
    EXPECT_EQ(mark.known(), of("comparing-new"));
}

TEST(StreamMark, OfAComparisonGivesWayToThatOfAnotherRelay) {
    auto mark = changing("old", "comparing-new");
    static_cast<void>(mark.take_to_write());
    mark.written(true);
    auto later = of("comparing-new");
    later.timeline = 2;
    mark.seen(later);
    EXPECT_EQ(mark.known(), later) << "it tells of a timeline that must not be left again";
}

}  // namespace
}  // namespace walrelay
