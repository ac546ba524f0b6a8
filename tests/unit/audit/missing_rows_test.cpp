#include "audit/missing_rows.hpp"

#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <string>

namespace walrelay::audit {
namespace {

class MissingRows : public testing::Test {
protected:
    void begin(std::size_t tables, std::uint64_t expected_rows = 0,
               std::uint64_t bucket_bytes = 4096) {
        missing_rows_options options;
        options.folder = folder_.path();
        options.tables = tables;
        options.expected_rows = expected_rows;
        options.bucket_bytes = bucket_bytes;
        rows_ = missing_rows::make(std::move(options)).value();
    }
    void row(const std::string& id, std::uint32_t table = 0) {
        ASSERT_TRUE(rows_->add_row(table, id));
    }
    void message(const std::string& id) { ASSERT_TRUE(rows_->add_message(id)); }
    void find() { ASSERT_TRUE(rows_->find()); }
    [[nodiscard]] missing_rows& rows() { return *rows_; }
    /// The rows of a table as `x` for missing and `.` for held.
    [[nodiscard]] std::string picture(std::uint32_t table = 0) const {
        std::string drawn;
        for (std::uint64_t each = 0; each < rows_->row_count(table); ++each) {
            drawn += rows_->is_missing(table, each) ? 'x' : '.';
        }
        return drawn;
    }

private:
    test::temporary_folder folder_{"missing_rows"};
    std::unique_ptr<missing_rows> rows_;
};

TEST_F(MissingRows, FindsTheRowsThatNoMessageStandsFor) {
    begin(1);
    for (const auto* const id : {"a", "b", "c", "d"}) {
        row(id);
    }
    message("c");
    message("a");
    message("somebody else's");
    find();
    EXPECT_EQ(picture(), ".x.x");
    EXPECT_EQ(rows().missing_count(0), 2U);
    EXPECT_EQ(rows().first_held(0), 0U);
}

TEST_F(MissingRows, CountsTablesApart) {
    begin(2);
    row("a", 0);
    row("x", 1);
    row("y", 1);
    message("y");
    find();
    EXPECT_EQ(picture(0), "x");
    EXPECT_EQ(picture(1), "x.");
    EXPECT_FALSE(rows().first_held(0));
    EXPECT_EQ(rows().first_held(1), 1U);
}

TEST_F(MissingRows, TakesAMessageThatWasPublishedAgainForItsRow) {
    begin(1);
    row("a");
    row("b;c");
    row("b");
    message("a;retry-7-1;republish-00000000000000FF-0");
    message("b;c");
    find();
    EXPECT_EQ(picture(), "..x") << "\"b;c\" is an id of its own";
}

TEST_F(MissingRows, TakesADeadLetterForItsRow) {
    begin(1);
    row("a");
    row("b");
    rows().add_row_without_id(0);
    rows().add_row_without_id(0);
    ASSERT_TRUE(rows().add_dead_letter(0, "b"));
    ASSERT_TRUE(rows().add_dead_letter(0, ""));
    find();
    EXPECT_EQ(picture(), "x..x");
}

TEST_F(MissingRows, HoldsEachOfSeveralRowsOfAnIdByAMessageOrADeadLetterOfItsOwn) {
    begin(1);
    for (const auto* const id : {"x", "x", "y", "y", "z", "z"}) {
        row(id);
    }
    message("x");
    ASSERT_TRUE(rows().add_dead_letter(0, "x"));
    message("y");
    message("y");
    message("z;retry-7-1");
    find();
    EXPECT_EQ(picture(), ".....x");
    const auto published = rows().next_run(0, 0, 10, true);
    EXPECT_EQ(published.first, 0U);
    EXPECT_EQ(published.length, 1U) << "the second row of x is the dead letter";
}

TEST_F(MissingRows, HoldsARowByADeadLetterOfItsOwnTableOnly) {
    begin(2);
    row("x", 0);
    row("y", 0);
    row("x", 1);
    row("y", 1);
    message("x");
    ASSERT_TRUE(rows().add_dead_letter(0, "x"));
    ASSERT_TRUE(rows().add_dead_letter(1, "y"));
    ASSERT_TRUE(rows().add_dead_letter(1, "y"));
    find();
    EXPECT_EQ(picture(0), ".x");
    EXPECT_EQ(picture(1), "..");
}

TEST_F(MissingRows, HoldsTheRowsOfTwoTablesWhoseIdsAreEqual) {
    begin(2);
    for (const auto* const id : {"1", "2", "3"}) {
        row(id, 0);
        row(id, 1);
        message(id);
    }
    message("1");
    message("3");
    find();
    EXPECT_EQ(picture(0), "...");
    EXPECT_EQ(picture(1), ".x.");
}

TEST_F(MissingRows, IsExactAboutRepeatedIdsBeyondWhatABucketHolds) {
    constexpr std::uint64_t count = 3000;
    begin(1, 0, 1000);
    for (std::uint64_t each = 0; each < count; ++each) {
        row(std::to_string(each / 3));
        if (each % 3 != 2) {
            message(std::to_string(each / 3));
        }
    }
    for (std::uint64_t each = 0; each < count; ++each) {
        row("constant");
        if (each % 2 == 0) {
            message("constant");
        }
    }
    find();
    for (std::uint64_t each = 0; each < count; ++each) {
        ASSERT_EQ(rows().is_missing(0, each), each % 3 == 2) << each;
        ASSERT_EQ(rows().is_missing(0, count + each), each >= count / 2) << each;
    }
}

TEST_F(MissingRows, TakesTheLastOfSeveralRowsOfAnIdForTheBeginningOfTheStream) {
    begin(1);
    for (const auto* const id : {"x", "aged", "x", "lost"}) {
        row(id);
    }
    message("x");
    find();
    EXPECT_EQ(rows().first_stored(0), 2U);
    EXPECT_EQ(rows().excuse_older(0, {}), 1U);
    EXPECT_EQ(picture(), "..xx");
}

TEST_F(MissingRows, ExcusesWhatIsOlderThanTheFirstRowThatIsHeld) {
    begin(1);
    for (const auto* const id : {"old", "older", "known", "lost"}) {
        row(id);
    }
    message("known");
    find();
    EXPECT_EQ(rows().excuse_older(0, {}), 2U);
    EXPECT_EQ(picture(), "...x");
}

TEST_F(MissingRows, ExcusesNoRowOfTheSameTimeAsTheFirstOneThatIsHeld) {
    begin(1);
    ASSERT_TRUE(rows().add_row(0, "old", {}));
    ASSERT_TRUE(rows().add_row(0, "same", {true, true}));
    ASSERT_TRUE(rows().add_row(0, "same too", {true, false}));
    ASSERT_TRUE(rows().add_row(0, "known", {true, false}));
    ASSERT_TRUE(rows().add_row(0, "lost", {true, false}));
    message("known");
    find();
    EXPECT_EQ(rows().excuse_older(0, {}), 1U);
    EXPECT_EQ(picture(), ".xx.x");
}

TEST_F(MissingRows, ExcusesNoMoreThanTheStreamHasLost) {
    begin(1);
    for (const auto* const id : {"aged", "aged too", "never stored", "known"}) {
        row(id);
    }
    message("known");
    find();
    audit::excuse which;
    which.at_most = 2;
    EXPECT_EQ(rows().excuse_older(0, which), 2U);
    EXPECT_EQ(picture(), "..x.");
}

TEST_F(MissingRows, TakesNoDeadLetterForTheBeginningOfTheStream) {
    begin(1);
    for (const auto* const id : {"set aside", "aged", "known", "lost"}) {
        row(id);
    }
    ASSERT_TRUE(rows().add_dead_letter(0, "set aside"));
    message("known");
    find();
    audit::excuse which;
    which.by_messages = true;
    EXPECT_EQ(rows().excuse_older(0, which), 1U);
    EXPECT_EQ(picture(), "...x");
}

TEST_F(MissingRows, ExcusesEverythingOfATableThatIsNotHeldAtAll) {
    begin(1);
    row("a");
    row("b");
    find();
    EXPECT_EQ(rows().excuse_older(0, {}), 2U);
    EXPECT_EQ(picture(), "..");
}

TEST_F(MissingRows, ExcusesNoPendingRowWhereStatusesTell) {
    begin(1);
    ASSERT_TRUE(rows().add_row(0, "published before", {false, true}));
    ASSERT_TRUE(rows().add_row(0, "to be published", {true, true}));
    ASSERT_TRUE(rows().add_row(0, "known", {false, true}));
    message("known");
    find();
    EXPECT_EQ(rows().pending_count(0), 1U);
    audit::excuse which;
    which.but_pending = true;
    EXPECT_EQ(rows().excuse_older(0, which), 1U);
    EXPECT_EQ(picture(), ".x.");
}

TEST_F(MissingRows, GivesNoPublishedRowThatIsWrittenBackAlready) {
    begin(1);
    ASSERT_TRUE(rows().add_row(0, "done", {false, true}));
    ASSERT_TRUE(rows().add_row(0, "to be written back", {true, true}));
    message("done");
    message("to be written back");
    find();
    const auto run = rows().next_run(0, 0, 10, true);
    EXPECT_EQ(run.first, 1U);
    EXPECT_EQ(run.length, 1U);
    EXPECT_TRUE(run.published);
}

TEST_F(MissingRows, IsExactBeyondWhatABucketHolds) {
    constexpr std::uint64_t count = 5000;
    begin(1, 0, 1000);
    for (std::uint64_t each = 0; each < count; ++each) {
        row(std::to_string(each));
        if (each % 7 != 3) {
            message(std::to_string(each));
        }
    }
    find();
    for (std::uint64_t each = 0; each < count; ++each) {
        ASSERT_EQ(rows().is_missing(0, each), each % 7 == 3) << each;
    }
}

TEST_F(MissingRows, GivesRunsOfMissingRows) {
    begin(1);
    for (const auto* const id : {"a", "b", "c", "d", "e"}) {
        row(id);
    }
    message("a");
    message("d");
    find();
    const auto first = rows().next_run(0, 0, 10, false);
    EXPECT_EQ(first.first, 1U);
    EXPECT_EQ(first.length, 2U);
    const auto second = rows().next_run(0, 3, 10, false);
    EXPECT_EQ(second.first, 4U);
    EXPECT_EQ(second.length, 1U);
    EXPECT_EQ(rows().next_run(0, 5, 10, false).length, 0U);
    EXPECT_EQ(rows().next_run(0, 0, 1, false).length, 1U);
}

TEST_F(MissingRows, GivesRunsOfPublishedRowsWhereTheyAreAskedFor) {
    begin(1);
    for (const auto* const id : {"a", "b", "c", "d"}) {
        row(id);
    }
    message("a");
    message("b");
    message("d");
    ASSERT_TRUE(rows().add_dead_letter(0, "d"));
    find();
    const auto first = rows().next_run(0, 0, 10, true);
    EXPECT_EQ(first.length, 2U);
    EXPECT_TRUE(first.published);
    const auto second = rows().next_run(0, 2, 10, true);
    EXPECT_EQ(second.first, 2U);
    EXPECT_EQ(second.length, 1U);
    EXPECT_FALSE(second.published);
    EXPECT_EQ(rows().next_run(0, 3, 10, true).length, 0U) << "a dead letter is not published";
}

TEST_F(MissingRows, MissesEverythingWhereThereIsNoMessage) {
    begin(1);
    row("a");
    find();
    EXPECT_EQ(picture(), "x");
    EXPECT_FALSE(rows().first_held(0));
}

}  // namespace
}  // namespace walrelay::audit
