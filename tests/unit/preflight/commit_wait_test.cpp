#include "preflight/commit_wait.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace walrelay::preflight {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class PreflightCommitWait : public testing::Test {
protected:
    std::vector<finding> found_of(const std::string& standbys) {
        facts.synchronous_standbys = standbys;
        findings_list found;
        look_at_commit_wait(tables, facts, found);
        return found.take();
    }
    void expect(finding_severity severity, const std::string& standbys) {
        const auto found = found_of(standbys);
        ASSERT_EQ(found.size(), 1U) << standbys;
        EXPECT_EQ(found[0].severity, severity) << standbys;
        EXPECT_THAT(found[0].what, HasSubstr("'" + standbys + "'"));
        EXPECT_THAT(found[0].remedy, HasSubstr("ALTER SYSTEM SET synchronous_standby_names"));
    }
    PreflightCommitWait() {
        facts.application_name = "walrelay";
        tables[0].table = {"public", "outbox"};
    }

    postgres_facts facts;
    std::vector<outbox_table> tables{1};
};

TEST_F(PreflightCommitWait, FindsNothingWhereOnlyStandbysAreNamed) {
    EXPECT_THAT(found_of(""), IsEmpty());
    EXPECT_THAT(found_of("replica, \"walrelay, too\""), IsEmpty());
    EXPECT_THAT(found_of("FIRST 1 (walrelay2)"), IsEmpty());
}

TEST_F(PreflightCommitWait, FindsItsOwnNameWhereverItStands) {
    expect(finding_severity::warning, "WalRelay");
    expect(finding_severity::warning, "replica, \"walrelay\"");
    expect(finding_severity::warning, "2 (replica, walrelay)");
    expect(finding_severity::warning, "FIRST 2 (replica,walrelay)");
    expect(finding_severity::warning, "ANY 1 ( walrelay , replica )");
}

TEST_F(PreflightCommitWait, FindsThatEverybodyIsMeant) {
    expect(finding_severity::warning, "*");
    expect(finding_severity::warning, "ANY 2 (*)");
}

TEST_F(PreflightCommitWait, LooksForTheNameThatConninfoGives) {
    facts.application_name = "Outbox Relay";
    EXPECT_THAT(found_of("walrelay"), IsEmpty());
    expect(finding_severity::warning, "\"outbox relay\"");
}

TEST_F(PreflightCommitWait, RefusesWhatWaitsForItselfForEver) {
    tables[0].on_published = "status = 'published'";
    expect(finding_severity::error, "walrelay");
    EXPECT_THAT(found_of("walrelay")[0].what, HasSubstr("table public.outbox"));
    tables[0].on_published.clear();
    tables[0].on_dead_letter = "status = 'failed'";
    expect(finding_severity::error, "FIRST 1 (walrelay)");
    tables[0].on_dead_letter.clear();
    tables[0].delete_after = std::chrono::milliseconds(0);
    expect(finding_severity::error, "walrelay");
}

TEST_F(PreflightCommitWait, OnlyWarnsWhereStandbysCanConfirmInItsPlace) {
    tables[0].on_published = "status = 'published'";
    expect(finding_severity::warning, "*");
    expect(finding_severity::warning, "ANY 1 (replica, walrelay)");
    EXPECT_THAT(found_of("*")[0].what, HasSubstr("wait for each other"));
}

TEST_F(PreflightCommitWait, KnowsThatRowsWhichAreDeletedLaterWaitForNothing) {
    tables[0].delete_after = std::chrono::milliseconds(1000);
    expect(finding_severity::warning, "walrelay");
    EXPECT_THAT(found_of("walrelay")[0].what, Not(HasSubstr("wait for each other")));
}

TEST_F(PreflightCommitWait, FindsNothingOnAStandbyWhichHasNoCommits) {
    facts.in_recovery = true;
    EXPECT_THAT(found_of("*"), IsEmpty());
}

}  // namespace
}  // namespace walrelay::preflight
