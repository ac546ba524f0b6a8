#include "postgres/tables/newest_rows.hpp"

#include "postgres_fixture.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>

namespace walrelay::test {
namespace {

class NewestRows : public postgres_fixture {
protected:
    [[nodiscard]] static postgres::newest_rows_request later(const std::string& condition) {
        postgres::newest_rows_request request{{"public", "outbox"}, {"id"}, "created_at"};
        request.is_later = condition;
        return request;
    }
    [[nodiscard]] postgres::newest_rows read(postgres::newest_rows_request request) {
        auto sql = connect();
        auto rows = run(postgres::read_newest_rows(sql, std::move(request)));
        EXPECT_TRUE(rows) << to_string(rows.error());
        return rows ? std::move(*rows) : postgres::newest_rows{};
    }
    [[nodiscard]] postgres::newest_rows read() { return read(later("true")); }
    /// 70 MB, more than is read as a whole, of rows with an id of at most 0.
    void make_large_table() {
        execute("CREATE TABLE public.outbox (id bigint, created_at timestamptz, filling text)");
        execute("ALTER TABLE public.outbox ALTER COLUMN filling SET STORAGE PLAIN");
        execute(
            "INSERT INTO public.outbox SELECT -each, timestamptz '2020-01-01Z' - each * interval "
            "'1 second', repeat('x', 7000) FROM generate_series(1, 10000) AS each");
    }
    /// With ids from 1 on, a millisecond after each other from 2020 on.
    void insert(int rows) {
        execute(
            "INSERT INTO public.outbox (id, created_at) SELECT each, timestamptz '2020-01-01Z' + "
            "each * interval '1 millisecond' FROM generate_series(1, " +
            std::to_string(rows) + ") AS each");
    }
    [[nodiscard]] static bool has(const postgres::newest_rows& found, const std::string& id) {
        return std::ranges::any_of(found.rows,
                                   [&](const auto& row) { return row.values.front() == id; });
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

/// They are those of another outbox.
TEST_F(NewestRows, AreNotThoseOfATableThatInherits) {
    execute("CREATE TABLE public.outbox (id bigint, created_at timestamptz DEFAULT now())");
    execute("CREATE TABLE public.archive () INHERITS (public.outbox)");
    execute("INSERT INTO public.outbox (id) VALUES (1)");
    execute("INSERT INTO public.archive (id) VALUES (2)");
    const auto all = read();
    EXPECT_EQ(all.rows.size(), 1U);
    EXPECT_FALSE(has(all, "2"));
    const auto by_time = read(later(""));
    EXPECT_TRUE(has(by_time, "1"));
    EXPECT_FALSE(has(by_time, "2"));
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
    const auto last = read(later("id > 97"));
    EXPECT_EQ(last.rows.size(), 100U);
    EXPECT_FALSE(last.is_whole) << "only the last pages were read";
}

TEST_F(NewestRows, AreTheFirstThatWereWrittenWhereThereAreTooManyOfThem) {
    execute("CREATE TABLE public.outbox (id bigint, created_at timestamptz)");
    execute("INSERT INTO public.outbox VALUES (0, 'infinity')");
    insert(20'000);
    const auto found = read();
    EXPECT_FALSE(found.is_whole);
    EXPECT_TRUE(has(found, "0"));
}

/// The broker's clock, or the time that a row had to wait, has nothing to do with their own.
TEST_F(NewestRows, AreAllFoundByAnIndexWhateverTimeIsAskedFor) {
    make_large_table();
    execute("CREATE INDEX ON public.outbox (created_at)");
    insert(12'000);
    using std::chrono::seconds;
    for (const auto around : {seconds(0), seconds(1577836806), seconds(1577836812)}) {
        auto request = later("id > 0");
        request.around = wall_time(around);
        const auto found = read(std::move(request));
        EXPECT_TRUE(found.is_whole);
        EXPECT_EQ(found.rows.size(), 12'000U) << around.count();
    }
}

TEST_F(NewestRows, AreNotAllReadByAnIndexWhereTheyAreTooMany) {
    make_large_table();
    execute("CREATE INDEX ON public.outbox (created_at)");
    insert(20'001);
    const auto some = read(later("id > 0"));
    EXPECT_FALSE(some.is_whole);
    EXPECT_TRUE(has(some, "1")) << "a slot that was moved has skipped the first";
    insert(100'000);
    const auto around = wall_time(std::chrono::seconds(1577836799));
    auto request = later("id > 0");
    request.around = around;
    const auto fewer = read(std::move(request));
    EXPECT_FALSE(fewer.is_whole);
    EXPECT_TRUE(has(fewer, "1"));
}

TEST_F(NewestRows, HaveNoTimeAndAreFoundByAnIndexAllTheSame) {
    make_large_table();
    execute("CREATE INDEX ON public.outbox (created_at)");
    execute("INSERT INTO public.outbox (id) VALUES (1)");
    const auto found = read(later("id > 0"));
    EXPECT_TRUE(found.is_whole);
    ASSERT_EQ(found.rows.size(), 1U);
    EXPECT_EQ(found.rows.front().created_at, wall_time{});
}

TEST_F(NewestRows, AreNotSearchedByAnIndexOfAnotherOrder) {
    make_large_table();
    execute("CREATE INDEX ON public.outbox (created_at DESC NULLS LAST)");
    EXPECT_FALSE(read(later("id > 0")).is_whole) << "only the last pages were read";
}

/// Rows that are not seen would count as none.
TEST_F(NewestRows, AreNotReadWherePoliciesCanHideThem) {
    execute("CREATE TABLE public.outbox (id bigint, created_at timestamptz DEFAULT now())");
    execute("ALTER TABLE public.outbox ENABLE ROW LEVEL SECURITY");
    execute("INSERT INTO public.outbox (id) VALUES (1)");
    const auto role = "reader_of_" + database_;
    execute("CREATE ROLE " + role);
    execute("GRANT SELECT ON public.outbox TO " + role);
    auto sql = connect();
    ASSERT_TRUE(run(sql.query("SET ROLE " + role)));
    const auto rows = run(postgres::read_newest_rows(sql, later("true")));
    const auto after = run(
        sql.query("SELECT current_setting('row_security'), current_setting('statement_timeout')"));
    ASSERT_TRUE(run(sql.query("RESET ROLE")));
    execute("DROP OWNED BY " + role);
    execute("DROP ROLE " + role);
    ASSERT_FALSE(rows);
    EXPECT_NE(rows.error().what.find("row-level security"), std::string::npos)
        << to_string(rows.error());
    EXPECT_NE(rows.error().remedy.find("BYPASSRLS"), std::string::npos);
    ASSERT_TRUE(after);
    EXPECT_EQ(after->text(0, 0), "on");
    EXPECT_EQ(after->text(0, 1), "0");
}

class WalMoment : public NewestRows {};

/// The next record begins after the header of a segment, which is not written yet.
TEST_F(WalMoment, IsFlushedWhereTheNextRecordBeginsASegment) {
    use_own_server();
    execute("SELECT pg_switch_wal()");
    auto sql = connect();
    const auto moment = run(postgres::read_wal_moment(sql));
    ASSERT_TRUE(moment) << to_string(moment.error());
    EXPECT_EQ(to_string(moment->inserted), to_string(moment->flushed));
}

}  // namespace
}  // namespace walrelay::test
