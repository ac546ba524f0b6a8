#include "relay/keep/keep_plan.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <random>

namespace walrelay::test {
namespace {

using namespace std::chrono_literals;
using relay::keep_plan;
using relay::keep_rules;
using relay::plan_keeping;
using relay::trail_mark;
using relay::trail_trouble;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr wall_time noon{std::chrono::seconds(1767268800)};

kept_position kept(const std::string& name, std::uint64_t at, std::uint64_t wal_end) {
    kept_position one;
    one.slot = "s_at_" + name;
    one.name = name;
    one.is_ours = true;
    one.confirmed = lsn{at};
    one.restart = lsn{at - 10};
    one.held_bytes = wal_end - (at - 10);
    return one;
}

/// A slot at 1000 of 1010, an hour's trail at 400, a bookmark at 300.
class KeepPlan : public testing::Test {
protected:
    KeepPlan() {
        found.read_at = noon;
        found.wal_end = lsn{1010};
        found.slots_free = 5;
        found.is_register_readable = true;
        found.source = kept_source{"pgoutput", lsn{1000}, lsn{990}, "reserved"};
        auto trail = kept("", 400, 1010);
        trail.kind = kept_kind::trail;
        trail.slot = "s_trail";
        found.all = {kept("old", 300, 1010), trail};
        for (int minutes = 70; minutes > 0; minutes -= 10) {
            marks.push_back({lsn{1000 - static_cast<std::uint64_t>(minutes) * 10},
                             noon - std::chrono::minutes(minutes)});
        }
    }

    [[nodiscard]] keep_plan plan() const { return plan_keeping(rules, found, marks); }
    kept_position& bookmark() { return found.all[0]; }
    kept_position& trail() { return found.all[1]; }
    void replay_from(const kept_position& from, std::optional<lsn> at) {
        found.replays.push_back({from.slot, at});
    }
    [[nodiscard]] std::vector<std::string> dropped() const {
        std::vector<std::string> names;
        for (const auto& each : plan().drops) {
            names.push_back(each.what.slot);
        }
        return names;
    }

    keep_rules rules{1h, byte_size{1U << 20U}};
    kept_positions found;
    /// 70 minutes ago at 300, ..., 10 minutes ago at 900.
    std::vector<trail_mark> marks;
};

TEST_F(KeepPlan, MovesTheTrailToWhereTheSlotStoodThatLongAgo) {
    trail().confirmed = lsn{300};
    const auto planned = plan();
    ASSERT_TRUE(planned.move.has_value());
    EXPECT_EQ(planned.move->to, lsn{400});
    EXPECT_EQ(planned.move->early, std::nullopt);
    EXPECT_TRUE(planned.drops.empty());
}

TEST_F(KeepPlan, LeavesTheTrailWhereItBelongs) {
    const auto planned = plan();
    EXPECT_EQ(planned.move, std::nullopt);
    EXPECT_FALSE(planned.make_trail);
    EXPECT_FALSE(planned.touch_trail);
}

TEST_F(KeepPlan, NeverMovesTheTrailPastTheSlot) {
    trail().confirmed = lsn{300};
    // As after a crash of the server, which may set its slots back.
    found.source->confirmed = lsn{350};
    EXPECT_EQ(plan().move, std::nullopt);
    found.source->wal_status = "unreserved";
    EXPECT_EQ(plan().move->to, lsn{350});
}

TEST_F(KeepPlan, NotesWhereTheSlotIsOnceInAWhile) {
    EXPECT_EQ(plan().mark, lsn{1000});
    marks.back().seen_at = noon - 1s;
    EXPECT_EQ(plan().mark, std::nullopt);
    marks.back() = {lsn{1000}, noon - 10min};
    EXPECT_EQ(plan().mark, std::nullopt);
    marks.clear();
    EXPECT_EQ(plan().mark, lsn{1000});
}

TEST_F(KeepPlan, MakesATrailWhereThereIsNone) {
    found.all.pop_back();
    EXPECT_TRUE(plan().make_trail);
    found.slots_free = 1;
    EXPECT_FALSE(plan().make_trail);
    EXPECT_EQ(plan().trouble, trail_trouble::no_free_slot);
}

TEST_F(KeepPlan, MakesATrailAgainThatIsGoneOrLost) {
    trail().state = kept_state::gone;
    EXPECT_TRUE(plan().make_trail);
    trail().state = kept_state::lost;
    EXPECT_FALSE(plan().make_trail);
    ASSERT_EQ(plan().drops.size(), 1U);
    EXPECT_EQ(plan().drops[0].why, giving_way::lost);
}

TEST_F(KeepPlan, LeavesASlotAloneThatMerelyHasTheTrailsName) {
    trail().is_ours = false;
    trail().confirmed = lsn{300};
    auto planned = plan();
    EXPECT_EQ(planned.trouble, trail_trouble::foreign_slot);
    EXPECT_EQ(planned.move, std::nullopt);
    EXPECT_FALSE(planned.make_trail);
    rules.keep.reset();
    EXPECT_THAT(dropped(), IsEmpty());
}

TEST_F(KeepPlan, DropsTheTrailThatIsNotWantedAnyMore) {
    rules.keep.reset();
    ASSERT_EQ(plan().drops.size(), 1U);
    EXPECT_EQ(plan().drops[0].what.slot, "s_trail");
    EXPECT_EQ(plan().drops[0].why, giving_way::unwanted);
    EXPECT_EQ(plan().mark, std::nullopt);
    replay_from(trail(), lsn{500});
    EXPECT_THAT(dropped(), IsEmpty());
}

TEST_F(KeepPlan, DropsBookmarksThatHaveExpired) {
    bookmark().expires_at = noon + 1s;
    EXPECT_THAT(dropped(), IsEmpty());
    bookmark().expires_at = noon;
    ASSERT_THAT(dropped(), ElementsAre("s_at_old"));
    EXPECT_EQ(plan().drops[0].why, giving_way::expired);
    replay_from(bookmark(), std::nullopt);
    EXPECT_THAT(dropped(), IsEmpty());
    found.replays.clear();
    bookmark().is_ours = false;
    EXPECT_THAT(dropped(), IsEmpty());
}

TEST_F(KeepPlan, MovesTheTrailOnAndDropsBookmarksThatHoldTooMuch) {
    rules.max_wal = byte_size{500};
    const auto planned = plan();
    ASSERT_THAT(dropped(), ElementsAre("s_at_old"));
    EXPECT_EQ(planned.drops[0].why, giving_way::max_wal);
    ASSERT_TRUE(planned.move.has_value());
    // Nine tenths of it, since a slot keeps WAL from before its position.
    EXPECT_EQ(planned.move->to, lsn{600});
    EXPECT_EQ(planned.move->early, giving_way::max_wal);
}

TEST_F(KeepPlan, MovesTheTrailToTheSlotWhereNothingElseHelps) {
    rules.max_wal = byte_size{50};
    EXPECT_EQ(plan().move->to, lsn{1000});
}

TEST_F(KeepPlan, GivesNothingUpThatWouldFreeNothing) {
    rules.max_wal = byte_size{500};
    found.source->restart = lsn{100};
    EXPECT_THAT(dropped(), IsEmpty());
    EXPECT_EQ(plan().move, std::nullopt);
}

TEST_F(KeepPlan, HasPostgresqlLookAgainForWhatItNeedNotKeep) {
    rules.max_wal = byte_size{100};
    trail().confirmed = lsn{1000};
    EXPECT_EQ(plan().move, std::nullopt);
    EXPECT_TRUE(plan().touch_trail);
}

TEST_F(KeepPlan, KeepsWhatAReplayReads) {
    rules.max_wal = byte_size{500};
    replay_from(bookmark(), std::nullopt);
    replay_from(trail(), lsn{450});
    EXPECT_THAT(dropped(), IsEmpty());
    EXPECT_EQ(plan().move->to, lsn{450});
    found.replays.back().at.reset();
    EXPECT_EQ(plan().move, std::nullopt);
}

TEST_F(KeepPlan, KeepsForAReplayWhatWouldBeDueByTime) {
    trail().confirmed = lsn{300};
    replay_from(trail(), lsn{350});
    EXPECT_EQ(plan().move, std::nullopt);
    found.replays.back().at = lsn{400};
    EXPECT_EQ(plan().move->to, lsn{400});
}

/// After a failover without the trail's slot, or a cut: what stands there now has nothing for it.
TEST_F(KeepPlan, DoesNotWaitForAReplayWhosePlaceIsGone) {
    rules.max_wal = byte_size{500};
    replay_from(bookmark(), lsn{1});
    replay_from(trail(), lsn{1});
    EXPECT_THAT(dropped(), ElementsAre("s_at_old"));
    ASSERT_TRUE(plan().move.has_value());
    EXPECT_EQ(plan().move->to, lsn{600});
}

TEST_F(KeepPlan, GivesTheSlotRoomWhoeverReplays) {
    found.source->wal_status = "unreserved";
    replay_from(bookmark(), std::nullopt);
    replay_from(trail(), lsn{450});
    EXPECT_THAT(dropped(), IsEmpty()) << "the trail moves on first";
    EXPECT_EQ(plan().move->to, lsn{1000});
    EXPECT_EQ(plan().move->early, giving_way::slot_in_danger);
    EXPECT_TRUE(plan().move->cuts_replay);
    trail().confirmed = lsn{1000};
    trail().restart = lsn{990};
    EXPECT_THAT(dropped(), ElementsAre("s_at_old"));
    EXPECT_EQ(plan().drops[0].why, giving_way::slot_in_danger);
}

TEST_F(KeepPlan, GivesOneSlotBackWhereNoneIsFree) {
    found.slots_free = 0;
    EXPECT_THAT(dropped(), ElementsAre("s_trail"));
    EXPECT_EQ(plan().drops[0].why, giving_way::no_free_slot);
    EXPECT_EQ(plan().move, std::nullopt);
    replay_from(trail(), std::nullopt);
    EXPECT_THAT(dropped(), ElementsAre("s_at_old"));
    found.all.push_back(kept("lost", 500, 1010));
    found.all.back().state = kept_state::lost;
    EXPECT_THAT(dropped(), ElementsAre("s_at_lost"));
}

TEST_F(KeepPlan, UsesTheTrailBeforeItIdlesTooLong) {
    found.idle_timeout = 30min;
    trail().idle_since = noon - 9min;
    EXPECT_FALSE(plan().touch_trail);
    trail().idle_since = noon - 10min;
    EXPECT_TRUE(plan().touch_trail);
    found.idle_timeout = 0s;
    EXPECT_FALSE(plan().touch_trail);
}

TEST_F(KeepPlan, LetsStandbysKeepWhatTheyKeepOfTheSlot) {
    EXPECT_THAT(plan().to_fail_over, IsEmpty());
    found.source->failover = true;
    EXPECT_THAT(plan().to_fail_over, ElementsAre("s_at_old", "s_trail"));
    bookmark().failover = true;
    trail().is_ours = false;
    EXPECT_THAT(plan().to_fail_over, IsEmpty());
}

TEST_F(KeepPlan, DoesNothingOnAStandbyOrWithoutTheSlot) {
    bookmark().expires_at = noon;
    auto on_standby = found;
    on_standby.in_recovery = true;
    EXPECT_THAT(plan_keeping(rules, on_standby, marks).drops, IsEmpty());
    found.source.reset();
    EXPECT_THAT(dropped(), IsEmpty());
    EXPECT_EQ(plan().mark, std::nullopt);
}

TEST_F(KeepPlan, LooksOftenEnoughForShortTimes) {
    EXPECT_EQ(relay::time_between_looks({24h, {}}), 5s);
    EXPECT_EQ(relay::time_between_looks({20s, {}}), 1s);
    EXPECT_EQ(relay::time_between_looks({100ms, {}}), 250ms);
    EXPECT_EQ(relay::time_between_looks({}), 5s);
    EXPECT_EQ(relay::time_between_marks(24h), 1min);
}

/// Whatever the server says, the three rules hold.
TEST(KeepPlanRules, HoldForWhateverTheServerSays) {
    std::mt19937_64 random(7);
    const auto below = [&](std::uint64_t limit) { return random() % limit; };
    for (int round = 0; round < 20'000; ++round) {
        kept_positions found;
        found.read_at = noon;
        found.wal_end = lsn{2000};
        found.slots_free = static_cast<std::int64_t>(below(4));
        found.is_register_readable = below(5) > 0;
        const bool in_danger = below(4) == 0;
        found.source = kept_source{"", lsn{1 + below(2000)}, lsn{1 + below(2000)},
                                   in_danger ? "unreserved" : "reserved"};
        for (int each = 0; each < 4; ++each) {
            auto one = kept(std::to_string(each), 11 + below(1980), 2000);
            one.is_ours = below(4) > 0;
            one.state = static_cast<kept_state>(below(3));
            if (each == 0) {
                one.kind = kept_kind::trail;
            }
            if (below(3) == 0) {
                one.expires_at = noon - 1s;
            }
            if (below(3) == 0) {
                found.replays.push_back({one.slot, lsn{1 + below(2000)}});
            }
            found.all.push_back(one);
        }
        std::vector<trail_mark> marks;
        for (std::uint64_t each = below(20); each < 20; ++each) {
            marks.push_back({lsn{each * 100}, noon - std::chrono::minutes(120 - each * 6)});
        }
        keep_rules rules{below(4) > 0 ? std::optional(std::chrono::milliseconds(1h)) : std::nullopt,
                         byte_size{below(3000)}};
        const auto planned = plan_keeping(rules, found, marks);
        const auto* const trail = find_trail(found);
        const auto is_replayed = [&](const kept_position& of) {
            return std::ranges::any_of(found.replays, [&](const unfinished_replay& each) {
                return each.kept_slot == of.slot && *each.at >= *of.confirmed;
            });
        };
        for (const auto& each : planned.drops) {
            ASSERT_TRUE(each.what.is_ours);
            ASSERT_TRUE(in_danger || !is_replayed(each.what) || each.why == giving_way::lost);
        }
        if (planned.move) {
            ASSERT_TRUE(trail->is_ours && trail->state == kept_state::kept && rules.keep);
            ASSERT_LE(planned.move->to, found.source->confirmed);
            ASSERT_GT(planned.move->to, *trail->confirmed);
            ASSERT_TRUE(in_danger || !is_replayed(*trail) ||
                        planned.move->to <= *found.replays.front().at);
            ASSERT_TRUE(planned.drops.empty() ||
                        std::ranges::none_of(planned.drops, [](const relay::kept_drop& each) {
                            return each.what.kind == kept_kind::trail;
                        }));
        }
        ASSERT_FALSE(planned.make_trail && found.slots_free < 2);
    }
}

}  // namespace
}  // namespace walrelay::test
