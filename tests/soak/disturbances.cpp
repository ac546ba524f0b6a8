// See disturbances.hpp.
#include "soak/disturbances.hpp"

#include "soak/tables.hpp"
#include "support/eventually.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <utility>

namespace walrelay::soak {
namespace {

constexpr const char* named_so = " application_name=soak_disturbance";

}  // namespace

bool holds_write_backs(const std::string& kind) {
    return kind == kinds::outbox_locked || kind == kinds::outbox_shared ||
           kind == kinds::rows_locked;
}

disturbances::disturbances(std::string conninfo, const pace& how, diary& book, std::uint64_t seed)
    : conninfo_(std::move(conninfo) + named_so), pace_(how), book_(book) {
    for (const auto what :
         {&disturbances::run_reports, &disturbances::stay_idle, &disturbances::prepare,
          &disturbances::lock_outboxes, &disturbances::lock_others, &disturbances::change_schema,
          &disturbances::keep_partitions, &disturbances::vacuum, &disturbances::make_indexes}) {
        add(what, ++seed);
    }
}

void disturbances::add(void (disturbances::*what)(session&, chaos::dice&), std::uint64_t seed) {
    threads_.add_session(conninfo_,
                         [this, what, random = std::make_shared<chaos::dice>(seed)](session& sql) {
                             while (!threads_.stopping()) {
                                 (this->*what)(sql, *random);
                             }
                         });
}

void disturbances::stop() {
    if (threads_.stopping()) {
        return;
    }
    threads_.ask_to_stop();
    // Some of them wait for a lock, or for a transaction that lasts for minutes. Twice, for those
    // that are just about to connect.
    constexpr std::chrono::milliseconds moment_later{300};
    for (int round = 0; round < 2; ++round) {
        try {
            session(conninfo_ + "_end")
                .execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                    " WHERE application_name = 'soak_disturbance'");
        } catch (const std::runtime_error&) {
            // Without a server they end by themselves.
        }
        (void)test::throughout(moment_later, [] { return true; });
    }
    threads_.stop();
    try {
        end_prepared("ROLLBACK");
    } catch (const std::runtime_error&) {
        // The server is away, and with it all of this.
    }
}

std::chrono::milliseconds disturbances::draw(chaos::dice& random, const span& from) {
    return random.duration(from.shortest, from.longest);
}

void disturbances::hold(session& sql, std::chrono::milliseconds duration) {
    constexpr std::chrono::milliseconds slice{500};
    for (auto left = duration; left.count() > 0 && threads_.pass(std::min(left, slice));
         left -= slice) {
        sql.execute("SELECT 1");
    }
}

void disturbances::run_reports(session& sql, chaos::dice& random) {
    sql.execute("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM other.ledger");
    const diary::happening now(book_, kinds::report);
    hold(sql, draw(random, pace_.report));
    sql.execute("COMMIT");
}

void disturbances::stay_idle(session& sql, chaos::dice& random) {
    sql.execute("BEGIN; INSERT INTO other.ledger (note) VALUES ('begun and forgotten')");
    const diary::happening now(book_, kinds::idle_transaction);
    hold(sql, draw(random, pace_.idle_transaction));
    sql.execute("ROLLBACK");
}

void disturbances::prepare(session& sql, chaos::dice& random) {
    // One that a lost connection has left behind is ended first.
    end_prepared("ROLLBACK");
    sql.execute(
        "BEGIN; INSERT INTO other.ledger (note) VALUES ('prepared'); PREPARE TRANSACTION 'soak'");
    const diary::happening now(book_, kinds::prepared);
    // It outlives the session and the server: nothing is looked at meanwhile.
    (void)threads_.pass(draw(random, pace_.prepared));
    while (!threads_.stopping()) {
        try {
            end_prepared(random.one_in(2) ? "COMMIT" : "ROLLBACK");
            return;
        } catch (const std::runtime_error&) {
            constexpr std::chrono::milliseconds before_next_try{50};
            (void)threads_.pass(before_next_try);
        }
    }
}

void disturbances::end_prepared(const std::string& how) {
    session sql(conninfo_ + "_end");
    for (const auto& row : sql.query("SELECT gid FROM pg_prepared_xacts")) {
        sql.execute(how + " PREPARED " + test::as_literal(row.front().value()));
    }
}

void disturbances::lock_outboxes(session& sql, chaos::dice& random) {
    constexpr std::uint64_t ways = 4;
    if (!threads_.pass(draw(random, pace_.between_locks))) {
        return;
    }
    const auto way = random.between(1, ways);
    if (way > 2) {
        lock_rows(sql, random);
        return;
    }
    constexpr std::uint64_t tables = 3;
    const auto table = static_cast<outbox>(random.between(0, tables - 1));
    sql.execute(fmt::format("SET lock_timeout = '3s'; BEGIN; LOCK TABLE {} IN {} MODE",
                            name_of(table), way == 1 ? "ACCESS EXCLUSIVE" : "SHARE ROW EXCLUSIVE"));
    const diary::happening now(book_, way == 1 ? kinds::outbox_locked : kinds::outbox_shared);
    hold(sql, draw(random, pace_.table_lock));
    sql.execute("ROLLBACK");
}

/// Of rows that are not written back yet: there are some for a few milliseconds after each commit.
void disturbances::lock_rows(session& sql, chaos::dice& random) {
    const auto table = random.one_in(2) ? outbox::events : outbox::tasks;
    const auto find = fmt::format(
        "SELECT id FROM {} WHERE aggregate_id = 'good'{} FOR UPDATE SKIP LOCKED LIMIT 3",
        name_of(table), table == outbox::events ? " AND status = 'pending'" : "");
    constexpr std::chrono::milliseconds between_looks{2};
    while (threads_.pass(between_looks)) {
        sql.execute("BEGIN");
        if (!sql.query(find).empty()) {
            const diary::happening now(book_, kinds::rows_locked);
            hold(sql, draw(random, pace_.row_lock));
            sql.execute("ROLLBACK");
            return;
        }
        sql.execute("ROLLBACK");
    }
}

void disturbances::lock_others(session& sql, chaos::dice& random) {
    {
        const diary::happening now(book_, kinds::other_locked);
        sql.execute("BEGIN; LOCK TABLE other.locked IN ACCESS EXCLUSIVE MODE");
        hold(sql, draw(random, pace_.row_lock));
        sql.execute("COMMIT");
    }
    if (threads_.pass(draw(random, pace_.table_lock))) {
        const diary::happening now(book_, kinds::advisory);
        sql.execute("SELECT pg_advisory_lock(1), pg_advisory_lock(2, 3)");
        hold(sql, draw(random, pace_.row_lock));
        sql.execute("SELECT pg_advisory_unlock_all()");
    }
}

void disturbances::change_schema(session& sql, chaos::dice& /*random*/) {
    constexpr std::chrono::milliseconds between{400};
    {
        const diary::happening now(book_, kinds::ddl);
        sql.execute(
            "DROP TABLE IF EXISTS other.passing; CREATE TABLE other.passing (n int, t text)");
        sql.execute(
            "INSERT INTO other.passing SELECT n, md5(n::text) FROM generate_series(1, 300)"
            " AS n; CREATE INDEX ON other.passing (t)");
        sql.execute("DROP TABLE other.passing");
    }
    (void)threads_.pass(between);
}

void disturbances::keep_partitions(session& sql, chaos::dice& random) {
    {
        const diary::happening now(book_, kinds::partitions);
        sql.execute("SET lock_timeout = '3s'");
        sql.execute(make_partitions(pace_.partition));
        const auto old = sql.query(
            fmt::format("SELECT relname FROM pg_inherits JOIN pg_class AS c ON c.oid = inhrelid"
                        " WHERE inhparent = 'outbox_parts'::regclass AND (substring(relname FROM "
                        "'[0-9]+$')::bigint + 1) * {}"
                        " + {} < extract(epoch FROM clock_timestamp())",
                        pace_.partition.count(), pace_.partition_kept.count()));
        for (const auto& row : old) {
            const auto& name = row.front().value();
            if (random.one_in(2)) {
                sql.execute("ALTER TABLE outbox_parts DETACH PARTITION " + name);
            }
            sql.execute("DROP TABLE " + name);
        }
    }
    (void)threads_.pass(pace_.partition / 2);
}

void disturbances::vacuum(session& sql, chaos::dice& /*random*/) {
    constexpr std::chrono::seconds between{5};
    for (const auto* table : {"outbox_events", "outbox_tasks", "other.ledger", "pg_class"}) {
        if (!threads_.pass(between)) {
            return;
        }
        const diary::happening now(book_, kinds::vacuum);
        sql.execute(fmt::format("VACUUM (ANALYZE, SKIP_LOCKED) {}", table));
    }
}

void disturbances::make_indexes(session& sql, chaos::dice& /*random*/) {
    sql.execute("DROP INDEX IF EXISTS other.by_text");
    const diary::happening now(book_, kinds::index);
    sql.execute("CREATE INDEX CONCURRENTLY by_text ON other.indexed (text)");
    (void)threads_.pass(std::chrono::seconds(1));
}

}  // namespace walrelay::soak
