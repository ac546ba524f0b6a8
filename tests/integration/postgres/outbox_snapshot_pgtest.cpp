#include "postgres/tables/outbox_snapshot.hpp"

#include "postgres_fixture.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace walrelay::test {
namespace {

class OutboxSnapshot : public postgres_fixture {
protected:
    /// The numbers of all rows, in the order in which they come.
    [[nodiscard]] std::vector<std::string> numbers(postgres::connection& sql,
                                                   postgres::row_reading how) {
        std::vector<std::string> found;
        const auto opened = run(postgres::open_cursor(sql, std::move(how)));
        EXPECT_TRUE(opened) << to_string(opened.error());
        while (opened) {
            const auto rows = run(postgres::fetch_rows(sql, 7));
            if (!rows || rows->empty()) {
                EXPECT_TRUE(rows) << to_string(rows.error());
                break;
            }
            for (std::size_t row = 0; row < rows->size(); ++row) {
                found.push_back(rows->text(row, 0));
            }
        }
        return found;
    }
    [[nodiscard]] postgres::snapshot_facts begin(postgres::connection& sql) {
        const std::vector<table_name> tables{{"public", "outbox"}};
        auto facts = run(postgres::begin_snapshot(sql, tables));
        EXPECT_TRUE(facts) << to_string(facts.error());
        return facts ? std::move(*facts) : postgres::snapshot_facts{};
    }
};

/// The index has them the other way round than the table, and is enough for the number alone.
TEST_F(OutboxSnapshot, ARepeatableReadingHasOneOrderWhicheverColumnsAreRead) {
    writer_->execute("CREATE TABLE public.outbox (number bigint PRIMARY KEY, body text)");
    writer_->execute(
        "INSERT INTO public.outbox SELECT 1000 - n, repeat('x', 1000) FROM generate_series(1, 500) "
        "AS n");
    writer_->execute("VACUUM ANALYZE public.outbox");
    const auto plan =
        writer_->value_of("EXPLAIN DECLARE c NO SCROLL CURSOR FOR SELECT number FROM ONLY outbox");
    ASSERT_NE(plan.find("Index Only Scan"), std::string::npos) << plan;
    auto sql = connect();
    const auto facts = begin(sql);
    postgres::row_reading narrow{postgres::scope_of(facts.tables.front()), {"number"}};
    narrow.repeatable = true;
    auto wide = narrow;
    wide.columns = {"number", "body"};
    const auto first = numbers(sql, std::move(narrow));
    ASSERT_EQ(first.size(), 500U);
    EXPECT_EQ(first.front(), "999") << "the order of the table";
    EXPECT_EQ(numbers(sql, std::move(wide)), first);
}

TEST_F(OutboxSnapshot, ARepeatableReadingHasTheWantedOrderFirst) {
    writer_->execute("CREATE TABLE public.outbox (number bigint, part bigint)");
    writer_->execute("INSERT INTO public.outbox VALUES (3, 2), (1, 2), (2, 1)");
    auto sql = connect();
    const auto facts = begin(sql);
    postgres::row_reading how{postgres::scope_of(facts.tables.front()), {"number"}};
    how.order_by = {"part"};
    how.repeatable = true;
    EXPECT_EQ(numbers(sql, std::move(how)), (std::vector<std::string>{"2", "3", "1"}));
}

TEST_F(OutboxSnapshot, ReadsNoRowOfATableThatInherits) {
    writer_->execute("CREATE TABLE public.outbox (number bigint)");
    writer_->execute("CREATE TABLE public.archive () INHERITS (public.outbox)");
    writer_->execute("INSERT INTO public.outbox VALUES (1); INSERT INTO public.archive VALUES (2)");
    auto sql = connect();
    const auto facts = begin(sql);
    postgres::row_reading how{postgres::scope_of(facts.tables.front()), {"number"}};
    EXPECT_EQ(numbers(sql, std::move(how)), (std::vector<std::string>{"1"}));
}

TEST_F(OutboxSnapshot, ReadsTheRowsOfAllPartitions) {
    writer_->execute("CREATE TABLE public.outbox (number bigint) PARTITION BY LIST (number)");
    writer_->execute("CREATE TABLE public.outbox_1 PARTITION OF public.outbox FOR VALUES IN (1)");
    writer_->execute("CREATE TABLE public.outbox_2 PARTITION OF public.outbox FOR VALUES IN (2)");
    writer_->execute("INSERT INTO public.outbox VALUES (1), (2)");
    auto sql = connect();
    const auto facts = begin(sql);
    postgres::row_reading how{postgres::scope_of(facts.tables.front()), {"number"}};
    how.repeatable = true;
    EXPECT_EQ(numbers(sql, std::move(how)), (std::vector<std::string>{"1", "2"}));
}

}  // namespace
}  // namespace walrelay::test
