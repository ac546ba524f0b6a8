#include "relay/checkpoint/slot_place.hpp"

#include <gtest/gtest.h>

namespace walrelay::relay {
namespace {

using std::chrono::milliseconds;

constexpr lsn first{100};
constexpr lsn later{200};
constexpr lsn far{300};

TEST(SlotPlace, IsNotMovedWhereItStandsAtMostWhereItWasTold) {
    slot_place place;
    place.begins_at(first);
    place.told(later);
    EXPECT_FALSE(place.was_moved(first));
    EXPECT_FALSE(place.was_moved(later));
    EXPECT_TRUE(place.was_moved(far));
    EXPECT_EQ(place.at_most(), later);
}

TEST(SlotPlace, NothingIsKnownOfASlotThatWasNeverHad) {
    const slot_place place;
    EXPECT_FALSE(place.was_moved(far));
}

TEST(SlotPlace, IsForAnotherConsumerToMove) {
    slot_place place;
    place.begins_at(first);
    EXPECT_EQ(place.was_in_use(errc::slot_in_use), milliseconds(50));
    EXPECT_FALSE(place.was_moved(far));
    place.begins_at(far);
    EXPECT_TRUE(place.was_moved(lsn{400}));
}

TEST(SlotPlace, IsNotForItsOwnLastConnectionToMove) {
    slot_place place;
    place.begins_at(first);
    static_cast<void>(place.was_in_use(errc::slot_not_released));
    EXPECT_TRUE(place.was_moved(far));
}

TEST(SlotPlace, StandsByOnceItWasInUseForLongerThanAServerNeedsToNotice) {
    slot_place place;
    for (std::uint32_t tries = 1; tries < slot_place::standby_after_tries; ++tries) {
        static_cast<void>(place.was_in_use(errc::slot_in_use));
        EXPECT_FALSE(place.is_standby());
    }
    static_cast<void>(place.was_in_use(errc::slot_in_use));
    EXPECT_TRUE(place.is_standby());
    EXPECT_TRUE(place.began_to_stand_by());
    for (int tries = 0; tries < 10; ++tries) {
        EXPECT_LE(place.was_in_use(errc::slot_in_use), milliseconds(1000));
    }
    EXPECT_TRUE(place.is_standby());
    EXPECT_FALSE(place.began_to_stand_by());
}

TEST(SlotPlace, ForgetsWhereItWasWhenItIsTakenOver) {
    slot_place place;
    place.begins_at(first);
    EXPECT_EQ(place.take(), slot_place::taken::at_once);
    for (int tries = 0; tries < 4; ++tries) {
        static_cast<void>(place.was_in_use(errc::slot_in_use));
    }
    EXPECT_EQ(place.take(), slot_place::taken::after_standing_by);
    EXPECT_FALSE(place.was_refused());
    EXPECT_FALSE(place.was_moved(far));
}

/// A server that decodes a large row notices late that a connection has ended.
TEST(SlotPlace, IsTakenAtOnceFromItsOwnLastConnectionHoweverLongThatTakes) {
    slot_place place;
    place.begins_at(first);
    for (int tries = 0; tries < 10; ++tries) {
        static_cast<void>(place.was_in_use(errc::slot_not_released));
        EXPECT_FALSE(place.began_to_stand_by());
    }
    EXPECT_TRUE(place.is_for_long());
    EXPECT_FALSE(place.is_standby()) << "nobody leads";
    EXPECT_EQ(place.take(), slot_place::taken::at_once);
    EXPECT_FALSE(place.was_refused());
    EXPECT_TRUE(place.was_moved(far));
}

TEST(SlotPlace, StandsByOnceAnotherConsumerHasItAfterItsOwnLastConnection) {
    slot_place place;
    place.begins_at(first);
    for (int tries = 0; tries < 10; ++tries) {
        static_cast<void>(place.was_in_use(errc::slot_not_released));
    }
    static_cast<void>(place.was_in_use(errc::slot_in_use));
    EXPECT_TRUE(place.is_standby());
    EXPECT_TRUE(place.began_to_stand_by());
    static_cast<void>(place.was_in_use(errc::slot_not_released));
    EXPECT_FALSE(place.began_to_stand_by());
    EXPECT_EQ(place.take(), slot_place::taken::after_standing_by);
}

TEST(SlotPlace, IsNotTakenAtOnceWhereAnotherConsumerHadItToo) {
    slot_place place;
    place.begins_at(first);
    static_cast<void>(place.was_in_use(errc::slot_in_use));
    static_cast<void>(place.was_in_use(errc::slot_not_released));
    EXPECT_EQ(place.take(), slot_place::taken::after_tries);
    EXPECT_EQ(place.take(), slot_place::taken::at_once);
}

TEST(SlotPlace, BeginsAnewWhereItStandsBeforeAllThatIsKnownToBeStored) {
    slot_place place;
    place.begins_at(later);
    place.told(far);
    place.begins_at(first);
    EXPECT_EQ(place.at_most(), first);
}

TEST(SlotPlace, IsKnownUpToTheBranchOfAnotherHistory) {
    slot_place place;
    place.begins_at(first);
    place.told(far);
    place.begin_history(later);
    EXPECT_TRUE(place.was_moved(far));
    EXPECT_FALSE(place.was_moved(later));
    place.begin_history(std::nullopt);
    EXPECT_FALSE(place.was_moved(far));
}

}  // namespace
}  // namespace walrelay::relay
