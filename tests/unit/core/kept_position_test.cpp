#include "core/kept_position.hpp"

#include <gmock/gmock.h>

namespace walrelay::test {
namespace {

using testing::HasSubstr;
using testing::Optional;

TEST(KeptPosition, NamesItsSlotAfterTheRelays) {
    EXPECT_EQ(trail_slot_name("walrelay"), "walrelay_trail");
    EXPECT_EQ(bookmark_slot_name("walrelay", "before-release-2"), "walrelay_at_before_release_2");
}

TEST(KeptPosition, TakesNamesThatASlotCanHave) {
    EXPECT_EQ(trouble_with_bookmark_name("walrelay", "before-migration_2"), std::nullopt);
    for (const auto* const name : {"", "Before", "a b", "a.b", "\xC3\xA4", "a'b", "a%b"}) {
        EXPECT_THAT(trouble_with_bookmark_name("walrelay", name), Optional(HasSubstr("a-z")))
            << name;
    }
}

TEST(KeptPosition, LeavesRoomForTheSlotsNameInFront) {
    EXPECT_EQ(trouble_with_bookmark_name("walrelay", std::string(51, 'a')), std::nullopt);
    EXPECT_THAT(trouble_with_bookmark_name("walrelay", std::string(52, 'a')),
                Optional(HasSubstr("at most 51 characters")));
    EXPECT_EQ(bookmark_slot_name("walrelay", std::string(51, 'a')).size(), 63U);
    EXPECT_THAT(trouble_with_bookmark_name(std::string(60, 's'), "a"),
                Optional(HasSubstr("postgres.slot")));
}

kept_positions some() {
    kept_positions found;
    found.all.resize(3);
    found.all[0].name = "a-b";
    found.all[0].held_bytes = 700;
    found.all[1].kind = kept_kind::trail;
    found.all[1].held_bytes = 900;
    found.all[2].name = "c_d";
    return found;
}

TEST(KeptPosition, IsFoundByItsNameHoweverItsDashesAreWritten) {
    const auto all = some();
    EXPECT_EQ(find_bookmark(all, "a-b"), &all.all[0]);
    EXPECT_EQ(find_bookmark(all, "a_b"), &all.all[0]);
    EXPECT_EQ(find_bookmark(all, "c-d"), &all.all[2]);
    EXPECT_EQ(find_bookmark(all, ""), nullptr);
    EXPECT_EQ(find_bookmark(all, "a"), nullptr);
    EXPECT_EQ(find_trail(all), &all.all[1]);
    EXPECT_EQ(find_trail({}), nullptr);
}

TEST(KeptPosition, SharesItsWalWithTheOthers) {
    EXPECT_EQ(held_bytes_of(some()), 900U);
    EXPECT_EQ(held_bytes_of({}), 0U);
}

}  // namespace
}  // namespace walrelay::test
