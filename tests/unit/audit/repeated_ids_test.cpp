// Where several rows have one id, verify counts what healing leaves alone.
#include "audit/auditor.hpp"
#include "audit/missing_rows.hpp"
#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace walrelay::audit {
namespace {

/// Tells both of them the same: rows first, then messages, then dead letters.
class RepeatedIds : public testing::Test {
protected:
    void begin(std::uint64_t bucket_bytes = 1'000'000) {
        audit_options how;
        how.folder = folder_.path();
        how.tables = {"public.a", "public.b"};
        how.bucket_bytes = bucket_bytes;
        how.chunk_bytes = 64;
        auditor_ = auditor::make(std::move(how)).value();
        missing_rows_options rows;
        rows.folder = folder_.path();
        rows.tables = 2;
        rows.bucket_bytes = bucket_bytes;
        rows_ = missing_rows::make(std::move(rows)).value();
        sequence_ = 0;
    }
    void row(const std::string& id, std::uint32_t table = 0) {
        ASSERT_TRUE(auditor_->add_row(table, id));
        ASSERT_TRUE(rows_->add_row(table, id));
    }
    void sent(const std::string& id) {
        ++sequence_;
        const auto where = to_string(position{{7, 1}, {lsn{sequence_}, {}, 0}});
        ASSERT_TRUE(auditor_->add_message({sequence_, "s", id, where}));
        ASSERT_TRUE(rows_->add_message(id));
    }
    void sift() { ASSERT_TRUE(auditor_->sift()); }
    void dead(const std::string& id, std::uint32_t table = 0) {
        ASSERT_TRUE(auditor_->add_dead_letter(table, id));
        ASSERT_TRUE(rows_->add_dead_letter(table, id));
    }
    report conclude() {
        EXPECT_TRUE(rows_->find());
        auto found = auditor_->conclude(finding_kind::missing);
        EXPECT_TRUE(found);
        return found ? *found : report{};
    }
    [[nodiscard]] std::uint64_t published_by_healing() const {
        return rows_->missing_count(0) + rows_->missing_count(1);
    }
    [[nodiscard]] bool publishes(std::uint32_t table, std::uint64_t row) const {
        return rows_->is_missing(table, row);
    }

private:
    test::temporary_folder folder_{"repeated_ids"};
    std::unique_ptr<auditor> auditor_;
    std::unique_ptr<missing_rows> rows_;
    std::uint64_t sequence_ = 0;
};

TEST_F(RepeatedIds, ARowThatIsADeadLetterIsNotPublishedBesideTheOneThatIsSent) {
    begin();
    row("x");
    row("x");
    sent("x");
    sift();
    dead("x");
    const auto found = conclude();
    EXPECT_TRUE(found.clean());
    EXPECT_EQ(found.dead_lettered, 1U);
    EXPECT_EQ(published_by_healing(), 0U);
}

TEST_F(RepeatedIds, ADeadLetterOfAnotherTableStandsForNoRow) {
    begin();
    row("x", 0);
    row("x", 1);
    sift();
    dead("x", 1);
    dead("x", 1);
    const auto found = conclude();
    EXPECT_EQ(found.dead_lettered, 1U);
    ASSERT_EQ(found.of(finding_kind::missing).count, 1U);
    EXPECT_EQ(found.of(finding_kind::missing).named.at(0).table, "public.a");
    EXPECT_EQ(found.of(finding_kind::missing).named.at(0).detail, "one of 2 rows with this id");
    EXPECT_TRUE(publishes(0, 0));
    EXPECT_FALSE(publishes(1, 0));
}

class RepeatedIdsOfAnyCount : public RepeatedIds, public testing::WithParamInterface<unsigned> {};

TEST_P(RepeatedIdsOfAnyCount, AreCountedAsHealingTakesThem) {
    SCOPED_TRACE(GetParam());
    std::mt19937 random(GetParam());
    const auto below = [&random](unsigned limit) {
        return static_cast<std::uint32_t>(random() % limit);
    };
    begin(GetParam() % 2 == 0 ? 300 : 1'000'000);
    const auto some = [&](unsigned limit, auto&& add) {
        for (unsigned id = 0; id < 60; ++id) {
            for (auto left = below(limit); left > 0; --left) {
                add(std::to_string(id));
            }
        }
    };
    some(4, [&](const std::string& id) { row(id, below(2)); });
    some(3, [&](const std::string& id) { sent(id); });
    some(2, [&](const std::string& id) { sent(id + ";retry-" + id + "-1"); });
    sift();
    some(3, [&](const std::string& id) { dead(id, below(2)); });
    const auto found = conclude();
    EXPECT_GT(found.dead_lettered, 0U);
    EXPECT_EQ(found.of(finding_kind::missing).count, published_by_healing());
}

INSTANTIATE_TEST_SUITE_P(Seeds, RepeatedIdsOfAnyCount, testing::Range(1U, 21U));

}  // namespace
}  // namespace walrelay::audit
