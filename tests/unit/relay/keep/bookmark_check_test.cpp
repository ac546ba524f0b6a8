#include "relay/keep/bookmark_check.hpp"

#include <gmock/gmock.h>

namespace walrelay::test {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;

class BookmarkCheck : public testing::Test {
protected:
    BookmarkCheck() {
        found.slots_free = 5;
        found.source = kept_source{"pgoutput", lsn{100}, lsn{90}, "reserved"};
    }
    [[nodiscard]] std::string trouble() const {
        const auto one = relay::trouble_with_bookmark(wanted, found);
        return one ? to_string(*one) : "";
    }

    relay::bookmark_wish wanted{"s", "a", 24h};
    kept_positions found;
};

TEST_F(BookmarkCheck, AllowsWhatIsSafe) {
    EXPECT_EQ(trouble(), "");
    found.wal_limit_bytes = 1U << 30U;
    wanted.expires_after.reset();
    EXPECT_EQ(trouble(), "");
}

TEST_F(BookmarkCheck, WantsANameThatIsFree) {
    wanted.name = "A";
    EXPECT_THAT(trouble(), HasSubstr("cannot have that name"));
    wanted.name = "a_b";
    found.all.resize(1);
    found.all[0].name = "a-b";
    found.all[0].slot = "s_at_a_b";
    wanted.insists = true;
    EXPECT_THAT(trouble(), HasSubstr("there is a bookmark a-b already (slot s_at_a_b, kept)"));
}

TEST_F(BookmarkCheck, LeavesTwoSlotsFreeUnlessToldOtherwise) {
    found.slots_free = 3;
    EXPECT_EQ(trouble(), "");
    found.slots_free = 2;
    EXPECT_THAT(trouble(),
                AllOf(HasSubstr("only 1 of max_replication_slots"), HasSubstr("--force")));
    wanted.insists = true;
    EXPECT_EQ(trouble(), "");
}

TEST_F(BookmarkCheck, NeverTakesTheLastSlot) {
    wanted.insists = true;
    for (const auto free : {1, 0}) {
        found.slots_free = free;
        EXPECT_THAT(trouble(), HasSubstr("the last free replication slot")) << free;
    }
}

TEST_F(BookmarkCheck, LooksAtHowLongASlotMayIdle) {
    found.idle_timeout = 24h;
    EXPECT_EQ(trouble(), "");
    found.idle_timeout = 23h;
    EXPECT_THAT(trouble(), HasSubstr("idle_replication_slot_timeout, 82800 s"));
    wanted.expires_after = 23h;
    EXPECT_EQ(trouble(), "");
    found.wal_limit_bytes = 1;
    wanted.expires_after.reset();
    EXPECT_THAT(trouble(), HasSubstr("idle_replication_slot_timeout"));
}

TEST_F(BookmarkCheck, WantsABoundForTheWal) {
    wanted.expires_after.reset();
    EXPECT_THAT(trouble(), HasSubstr("nothing bounds the WAL"));
    wanted.insists = true;
    EXPECT_EQ(trouble(), "");
}

TEST_F(BookmarkCheck, NamesAllDangersAtOnce) {
    wanted.expires_after.reset();
    found.slots_free = 2;
    found.idle_timeout = 1h;
    EXPECT_THAT(trouble(), AllOf(HasSubstr("max_replication_slots"), HasSubstr("idle_replication"),
                                 HasSubstr("nothing bounds")));
}

TEST_F(BookmarkCheck, WantsASlotThatHasItsWal) {
    wanted.insists = true;
    found.source->wal_status = "lost";
    EXPECT_THAT(trouble(), HasSubstr("has removed its WAL"));
    found.source.reset();
    EXPECT_THAT(trouble(), HasSubstr("no such slot"));
    found.in_recovery = true;
    EXPECT_THAT(trouble(), HasSubstr("standby"));
}

}  // namespace
}  // namespace walrelay::test
