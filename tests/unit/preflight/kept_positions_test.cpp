#include "preflight/kept_positions.hpp"

#include <gmock/gmock.h>

namespace walrelay::preflight {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr wall_time noon{1767268800s};

class KeptPositionFindings : public testing::Test {
protected:
    KeptPositionFindings() {
        tables.role = "relay";
        tables.bookmarks = tables.trails = {true, true};
        found.read_at = noon;
        found.slots_free = 5;
        kept_position trail;
        trail.kind = kept_kind::trail;
        trail.slot = "s_trail";
        trail.is_ours = true;
        kept_position bookmark;
        bookmark.name = "a";
        bookmark.slot = "s_at_a";
        bookmark.is_ours = true;
        bookmark.expires_at = noon + 1h;
        found.all = {bookmark, trail};
    }
    [[nodiscard]] std::vector<finding> findings() const {
        return kept_position_findings(wanted, found, tables);
    }
    static auto warns(const char* what, const char* fix) {
        return AllOf(Field(&finding::severity, finding_severity::warning),
                     Field(&finding::what, HasSubstr(what)),
                     Field(&finding::remedy, HasSubstr(fix)));
    }

    kept_expectations wanted{true, byte_size{10'000'000'000}};
    kept_positions found;
    kept_tables tables;
};

TEST_F(KeptPositionFindings, AreNoneWhereAllIsWell) {
    EXPECT_THAT(findings(), IsEmpty());
    found.all.clear();
    EXPECT_THAT(findings(), IsEmpty());
}

TEST_F(KeptPositionFindings, NameTheRightsThatATrailTakes) {
    tables.trails = {true, false};
    EXPECT_THAT(findings(), ElementsAre(warns("walrelay.trail", "GRANT")));
    tables.trails = {false, false};
    EXPECT_THAT(findings(), ElementsAre(warns("walrelay.trail", "walrelay init")));
    tables.may_make = true;
    EXPECT_THAT(findings(), IsEmpty());
    tables.trails = {true, false};
    wanted.keeps_trail = false;
    EXPECT_THAT(findings(), IsEmpty());
}

TEST_F(KeptPositionFindings, MissASlotForTheTrail) {
    found.slots_free = 1;
    EXPECT_THAT(findings(), IsEmpty());
    found.all.pop_back();
    EXPECT_THAT(findings(), ElementsAre(warns("no replication slot",
                                              "ALTER SYSTEM SET max_replication_slots")));
    wanted.service = managed_service::rds;
    EXPECT_THAT(findings(), ElementsAre(warns("no replication slot", "parameter group")));
}

TEST_F(KeptPositionFindings, LeaveAForeignSlotAlone) {
    found.all[1].is_ours = false;
    EXPECT_THAT(findings(), ElementsAre(warns("walrelay did not make it", "remove replay.keep")));
}

TEST_F(KeptPositionFindings, NameBookmarksThatKeepNothing) {
    found.all[0].state = kept_state::lost;
    found.all[0].lost_for = "wal_removed";
    EXPECT_THAT(findings(),
                ElementsAre(warns("is lost: PostgreSQL has removed its WAL (wal_removed)",
                                  "walrelay bookmark drop a")));
    found.all[0].state = kept_state::gone;
    EXPECT_THAT(findings(), ElementsAre(warns("is gone", "walrelay bookmark drop a")));
}

TEST_F(KeptPositionFindings, SayWhatIsDear) {
    found.all[0].held_bytes = 8'900'000'000;
    EXPECT_THAT(findings(), IsEmpty());
    found.all[0].held_bytes = 9'100'000'000;
    EXPECT_THAT(findings(), ElementsAre(warns("holds 9100 MB of WAL", "replay.max_wal")));
    found.all[0].held_bytes = 0;
    found.all[1].catalog_age_transactions = 150'000'000;
    EXPECT_THAT(findings(), ElementsAre(warns("150000000 transactions", "replay.keep")));
}

TEST_F(KeptPositionFindings, SayWhatIdlesTooLong) {
    found.idle_timeout = 59min;
    EXPECT_THAT(findings(),
                ElementsAre(warns("before it expires", "idle_replication_slot_timeout = 0")));
    found.idle_timeout = 60min;
    EXPECT_THAT(findings(), IsEmpty());
    found.all[0].expires_at.reset();
    EXPECT_THAT(findings(), ElementsAre(warns("before it expires", "ALTER SYSTEM")));
    wanted.service = managed_service::rds;
    EXPECT_THAT(findings(), ElementsAre(warns("before it expires", "in the DB parameter group")));
}

TEST_F(KeptPositionFindings, SayThatAStandbyKeepsNoTrail) {
    found.in_recovery = true;
    EXPECT_THAT(findings(), ElementsAre(warns("standby", "primary")));
}

}  // namespace
}  // namespace walrelay::preflight
