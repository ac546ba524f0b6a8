#include "postgres/tables/row_cleaner.hpp"

#include "postgres_fixture.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>

namespace walrelay::test {
namespace {

class RowCleaner : public postgres_fixture {
protected:
    void SetUp() override {
        make_table();
        table_.table = {"public", "outbox"};
        published_ = number_of("SELECT 'public.outbox'::regclass::oid::int8");
    }

    void make_table() { writer_->execute("CREATE TABLE public.outbox (id bigint PRIMARY KEY)"); }
    void insert(const std::string& ids) {
        writer_->execute("INSERT INTO public.outbox VALUES " + ids);
    }
    [[nodiscard]] std::uint32_t number_of(const std::string& query) {
        return static_cast<std::uint32_t>(std::stoul(writer_->value_of(query)));
    }
    [[nodiscard]] std::string rows() {
        return writer_->value_of("SELECT count(*) FROM public.outbox");
    }
    void begin() {
        auto made =
            run(postgres::row_cleaner::begin(connect(), table_, published_, {table_.table}));
        ASSERT_TRUE(made) << to_string(made.error());
        cleaner_.emplace(std::move(*made));
    }
    [[nodiscard]] result<postgres::cleaned_rows> clean() {
        postgres::rows_by_value all{"id", {}, {"1", "2"}};
        return run(cleaner_->clean(std::move(all)));
    }

    outbox_table table_;
    std::uint32_t published_ = 0;
    std::optional<postgres::row_cleaner> cleaner_;
};

TEST_F(RowCleaner, DeletesRowsOfTheTableThatWasPublished) {
    insert("(1), (2), (3)");
    begin();
    const auto cleaned = clean();
    ASSERT_TRUE(cleaned) << to_string(cleaned.error());
    EXPECT_EQ(cleaned->deleted, 2U);
    EXPECT_EQ(rows(), "1");
}

/// Its rows with these ids are others, and may never have been published.
TEST_F(RowCleaner, DeletesNothingOfATableThatWasMadeAgain) {
    begin();
    writer_->execute("DROP TABLE public.outbox");
    make_table();
    insert("(1), (2)");
    const auto refused = clean();
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, errc::postgres_lost);
    EXPECT_EQ(rows(), "2");
}

TEST_F(RowCleaner, DeletesNothingOfATableThatWasSwappedIn) {
    begin();
    writer_->execute(
        "CREATE TABLE public.next (LIKE public.outbox INCLUDING ALL);"
        "ALTER TABLE public.outbox RENAME TO previous;"
        "ALTER TABLE public.next RENAME TO outbox");
    insert("(1), (2)");
    EXPECT_FALSE(clean());
    EXPECT_EQ(rows(), "2");
    // Back under its name it is the one that is meant.
    writer_->execute(
        "ALTER TABLE public.outbox RENAME TO next; ALTER TABLE public.previous RENAME TO outbox");
    insert("(1), (2), (3)");
    const auto cleaned = clean();
    ASSERT_TRUE(cleaned) << to_string(cleaned.error());
    EXPECT_EQ(cleaned->deleted, 2U);
}

/// A row that goes into a partition that was made since belongs to the same table.
TEST_F(RowCleaner, DeletesRowsOfPartitionsThatCameSince) {
    writer_->execute("DROP TABLE public.outbox");
    writer_->execute("CREATE TABLE public.outbox (id bigint PRIMARY KEY) PARTITION BY RANGE (id)");
    published_ = number_of("SELECT 'public.outbox'::regclass::oid::int8");
    begin();
    writer_->execute(
        "CREATE TABLE public.outbox_1 PARTITION OF public.outbox FOR VALUES FROM (0) TO (99)");
    insert("(1), (2), (3)");
    const auto cleaned = clean();
    ASSERT_TRUE(cleaned) << to_string(cleaned.error());
    EXPECT_EQ(cleaned->deleted, 2U);
}

/// They are rows of an outbox of their own.
TEST_F(RowCleaner, LeavesRowsOfATableThatInherits) {
    writer_->execute("CREATE TABLE public.archive () INHERITS (public.outbox)");
    writer_->execute("INSERT INTO public.archive VALUES (1)");
    insert("(1), (2)");
    begin();
    const auto cleaned = clean();
    ASSERT_TRUE(cleaned) << to_string(cleaned.error());
    EXPECT_EQ(cleaned->deleted, 2U);
    EXPECT_EQ(writer_->value_of("SELECT count(*) FROM public.archive"), "1");
}

}  // namespace
}  // namespace walrelay::test
