#include "postgres/tables/newest_rows.hpp"

#include "postgres_fixture.hpp"

#include <gtest/gtest.h>

#include <string>

namespace walrelay::test {
namespace {

class NewestRows : public postgres_fixture {
protected:
    [[nodiscard]] postgres::newest_rows read() {
        auto sql = connect();
        postgres::newest_rows_request request{{"public", "outbox"}, {"id"}, "created_at"};
        request.is_later = "true";
        auto rows = run(postgres::read_newest_rows(sql, std::move(request)));
        EXPECT_TRUE(rows) << to_string(rows.error());
        return rows ? std::move(*rows) : postgres::newest_rows{};
    }
    void execute(const std::string& statement) {
        auto sql = connect();
        const auto done = run(sql.query(statement));
        ASSERT_TRUE(done) << to_string(done.error());
    }
};

TEST_F(NewestRows, AreThereWhereTheTableIsSmall) {
    execute("CREATE TABLE public.outbox (id bigint, created_at timestamptz DEFAULT now())");
    execute("INSERT INTO public.outbox (id) SELECT generate_series(1, 3)");
    const auto found = read();
    EXPECT_EQ(found.rows.size(), 3U);
    EXPECT_TRUE(found.is_whole);
}

/// 70 MB: more than is read as a whole.
TEST_F(NewestRows, SayWhereThereIsNoWayToThem) {
    execute(
        "CREATE TABLE public.outbox (id bigint, created_at timestamptz DEFAULT now(), "
        "filling text) PARTITION BY RANGE (id)");
    execute("CREATE TABLE public.outbox_1 PARTITION OF public.outbox FOR VALUES FROM (0) TO (99)");
    execute("ALTER TABLE public.outbox_1 ALTER COLUMN filling SET STORAGE PLAIN");
    execute(
        "INSERT INTO public.outbox (id, filling) SELECT each, repeat('x', 7000) FROM "
        "generate_series(1, 98) AS each, generate_series(1, 100)");
    const auto partitioned = read();
    EXPECT_TRUE(partitioned.rows.empty());
    EXPECT_FALSE(partitioned.is_whole);
    execute("CREATE INDEX ON public.outbox (created_at)");
    EXPECT_TRUE(read().is_whole);
    execute("ALTER TABLE public.outbox DETACH PARTITION public.outbox_1");
    execute("DROP TABLE public.outbox");
    execute("DROP INDEX public.outbox_1_created_at_idx");
    execute("ALTER TABLE public.outbox_1 RENAME TO outbox");
    EXPECT_TRUE(read().is_whole) << "its last pages are at hand";
}

}  // namespace
}  // namespace walrelay::test
