#include "preflight/preflight.hpp"
#include "unit/preflight/sound_facts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace walrelay::preflight {
namespace {

using testing::HasSubstr;

const expectations wanted{
    "walrelay", "walrelay", std::nullopt, "OUTBOX", {{.table = {"public", "outbox"}}}};

TEST(PostgresPreflight, TakesASlotThatIsBeingRewoundForNoFirstStart) {
    auto facts = sound_facts();
    facts.slot.reset();
    facts.slot_is_rewinding = true;
    const auto found = postgres_findings(wanted, facts, {});
    ASSERT_FALSE(can_start(found));
    EXPECT_EQ(found.at(0).code.text(), "slot_rewind_unfinished");
    EXPECT_THAT(found.at(0).remedy, HasSubstr("walrelay run, which finishes it"));
    EXPECT_THAT(found.at(0).remedy, HasSubstr("replay --rewind with --execute"))
        << "a relay whose slot is halted does not come to it";
}

TEST(PostgresPreflight, DoesNotMindACopyBesideTheSlot) {
    auto facts = sound_facts();
    facts.slot_is_rewinding = true;
    EXPECT_TRUE(can_start(postgres_findings(wanted, facts, {})));
}

}  // namespace
}  // namespace walrelay::preflight
