// Messages of a history that the database does not have.
#include "audit/auditor.hpp"
#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>

namespace walrelay::audit {
namespace {

class Orphans : public testing::Test {
protected:
    void SetUp() override { begin(false); }
    void begin(bool excuses_removed) {
        audit_options how;
        how.folder = folder_.path();
        how.tables = {"public.a"};
        how.excuses_removed = excuses_removed;
        auto made = auditor::make(std::move(how));
        ASSERT_TRUE(made);
        auditor_ = std::move(*made);
    }
    void row(std::string_view id) { ASSERT_TRUE(auditor_->add_row(0, id)); }
    void sent(std::string_view id, std::uint32_t timeline, std::uint64_t commit,
              std::uint64_t system = 7) {
        position where;
        where.origin = {system, timeline};
        where.at.commit = lsn{commit};
        ASSERT_TRUE(auditor_->add_message({++sequence_, "s", id, to_string(where)}));
    }
    /// On the third timeline: the first ended at 100, the second at 200.
    report conclude(std::optional<lineage> line = lineage{{7, 3}, {{1, lsn{100}}, {2, lsn{200}}}}) {
        if (line) {
            auditor_->set_history(*line, lsn{300});
        }
        EXPECT_TRUE(auditor_->sift());
        auto found = auditor_->conclude(finding_kind::missing);
        EXPECT_TRUE(found);
        return found ? *found : report{};
    }

    std::unique_ptr<auditor> auditor_;

private:
    test::temporary_folder folder_{"audit"};
    std::uint64_t sequence_ = 0;
};

TEST_F(Orphans, AreMessagesFromTheSwitchPointOnOfAnEarlierTimeline) {
    sent("shared", 1, 99);
    sent("lost", 1, 100);
    sent("lost too", 1, 150);
    sent("own", 2, 120);
    const auto found = conclude();
    EXPECT_EQ(found.of(finding_kind::orphaned).count, 2U);
    EXPECT_EQ(found.first_orphan, 2U);
    EXPECT_EQ(found.last_orphan, 3U);
    EXPECT_EQ(found.without_row, 2U);
    EXPECT_FALSE(found.clean());
    ASSERT_EQ(found.of(finding_kind::orphaned).named.size(), 2U);
    EXPECT_EQ(found.of(finding_kind::orphaned).named[0].id, "lost");
    EXPECT_EQ(found.of(finding_kind::orphaned).named[0].sequence, 2U);
}

TEST_F(Orphans, AreMessagesBeyondTheEndOfTheWalAndOfLaterTimelines) {
    sent("own", 3, 299);
    sent("beyond", 3, 300);
    sent("later", 4, 50);
    EXPECT_EQ(conclude().of(finding_kind::orphaned).count, 2U);
}

TEST_F(Orphans, StandForNoRowThatHasTheirIdNow) {
    // After an asynchronous failover a sequence gives numbers again that it has given before.
    row("lost, and given again");
    sent("lost, and given again", 1, 150);
    const auto found = conclude();
    EXPECT_EQ(found.of(finding_kind::missing).count, 1U);
    EXPECT_EQ(found.of(finding_kind::orphaned).count, 1U);
}

TEST_F(Orphans, DoNotTellWhereTheStreamBegins) {
    begin(true);
    // Limits have removed the messages of the first two rows; the second one got its id again.
    ASSERT_TRUE(auditor_->add_row(0, "removed", {true, false}));
    ASSERT_TRUE(auditor_->add_row(0, "given again", {true, false}));
    ASSERT_TRUE(auditor_->add_row(0, "stored", {true, false}));
    sent("given again", 1, 150);
    sent("stored", 3, 250);
    auditor_->expect_removed(2);
    const auto found = conclude();
    EXPECT_EQ(found.of(finding_kind::missing).count, 0U);
    EXPECT_EQ(found.removed_rows, 2U);
}

TEST_F(Orphans, AreNoSecondCopiesOfARowThatHasTheirIdNow) {
    row("given again");
    sent("given again", 1, 150);
    sent("given again", 3, 250);
    const auto found = conclude();
    EXPECT_EQ(found.of(finding_kind::missing).count, 0U);
    EXPECT_EQ(found.of(finding_kind::twice).count, 0U);
    EXPECT_EQ(found.of(finding_kind::orphaned).count, 1U);
}

TEST_F(Orphans, OfAnotherSystemCannotBeTold) {
    sent("before an upgrade", 1, 5000, 8);
    const auto found = conclude();
    EXPECT_TRUE(found.clean());
    EXPECT_EQ(found.without_row, 1U);
}

TEST_F(Orphans, OfOlderTimelinesCannotBeToldWithoutTheHistoryFile) {
    sent("x", 1, 150);
    EXPECT_TRUE(conclude(lineage{{7, 3}, {}}).clean());
}

TEST_F(Orphans, CannotBeToldWithoutAHistory) {
    sent("beyond", 3, 300);
    const auto found = conclude(std::nullopt);
    EXPECT_TRUE(found.clean());
    EXPECT_FALSE(found.history_known);
}

TEST_F(Orphans, ThatPublishAgainCountAsWell) {
    sent("a;republish-0000000000000001-1", 1, 150);
    const auto found = conclude();
    EXPECT_EQ(found.of(finding_kind::orphaned).count, 1U);
    EXPECT_EQ(found.without_row, 0U);
}

}  // namespace
}  // namespace walrelay::audit
