// Rows that have no message id, which are told apart by their number alone.
#include "audit/auditor.hpp"
#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>

namespace walrelay::audit {
namespace {

class RowsWithoutId : public testing::Test {
protected:
    void SetUp() override {
        audit_options how;
        how.folder = folder_.path();
        how.tables = {"public.a", "public.b"};
        auto made = auditor::make(std::move(how));
        ASSERT_TRUE(made);
        auditor_ = std::move(*made);
    }
    void rows(std::uint32_t table, int count) {
        for (int row = 0; row < count; ++row) {
            auditor_->add_row_without_id(table, "column \"x\" is NULL");
        }
    }
    void sift() { ASSERT_TRUE(auditor_->sift()); }
    void dead(std::uint32_t table) { ASSERT_TRUE(auditor_->add_dead_letter(table, "")); }
    report conclude() {
        auto found = auditor_->conclude(finding_kind::missing);
        EXPECT_TRUE(found);
        return found ? *found : report{};
    }

    test::temporary_folder folder_{"audit"};
    std::unique_ptr<auditor> auditor_;
};

TEST_F(RowsWithoutId, NeedADeadLetterWithoutOne) {
    rows(0, 1);
    rows(1, 1);
    sift();
    EXPECT_EQ(auditor_->open_rows(), 2U);
    dead(1);
    const auto found = conclude();
    EXPECT_EQ(found.rows, 2U);
    EXPECT_EQ(found.dead_lettered, 1U);
    EXPECT_EQ(found.of(finding_kind::missing).count, 1U);
    EXPECT_EQ(found.of(finding_kind::missing).named.at(0).detail,
              "1 row has no message id: column \"x\" is NULL");
}

TEST_F(RowsWithoutId, AreNotMissingAsFarAsTheSlotStillBringsThem) {
    rows(0, 5);
    sift();
    dead(0);
    auditor_->add_awaited_without_id(0);
    auditor_->add_awaited_without_id(1);
    const auto found = conclude();
    EXPECT_EQ(found.dead_lettered, 1U);
    EXPECT_EQ(found.of(finding_kind::undelivered).count, 1U);
    EXPECT_EQ(found.of(finding_kind::missing).count, 3U);
    EXPECT_EQ(found.of(finding_kind::missing).named.at(0).rows, 3U);
}

}  // namespace
}  // namespace walrelay::audit
