#include "postgres/tables/outbox_snapshot.hpp"

#include "core/sql_text.hpp"
#include "postgres/catalog/slot_acts.hpp"
#include "postgres/catalog/slot_rewind.hpp"
#include "postgres/catalog/slot_switch.hpp"
#include "postgres/catalog/table_inspection.hpp"
#include "postgres/session/fact_reader.hpp"
#include "postgres/session/run_command.hpp"
#include "postgres/session/server_error.hpp"
#include "postgres/session/sqlstate.hpp"
#include "postgres/tables/letter_owner.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace walrelay::postgres {
namespace {

using boost::asio::awaitable;

/// The insert position and not the flushed one: with synchronous_commit = off a row can be seen
/// before its commit is on the disk.
constexpr const char* end_sql = R"sql(
SELECT CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn()
            ELSE pg_current_wal_insert_lsn() END
)sql";

/// A table that was never analyzed is judged by its size. $1 schema, $2 name.
constexpr const char* expected_rows_sql = R"sql(
SELECT coalesce(sum(greatest(part.reltuples::int8, pg_relation_size(part.oid) / 256)), 0)::int8
  FROM pg_class AS asked
  JOIN pg_namespace AS n ON n.oid = asked.relnamespace
  JOIN pg_class AS part
    ON part.oid = asked.oid OR part.oid IN (SELECT relid FROM pg_partition_tree(asked.oid))
 WHERE n.nspname = $1 AND asked.relname = $2 AND part.relkind = 'r'
)sql";

constexpr const char* progress_sql = R"sql(
SELECT active, coalesce(wal_status, '') = 'lost', confirmed_flush_lsn,
       CASE WHEN pg_is_in_recovery() THEN '0/0' ELSE pg_current_wal_flush_lsn()::text END
  FROM pg_replication_slots WHERE slot_name = $1
)sql";

/// By way of pg_class, because to_regclass wants USAGE on the schema.
constexpr const char* has_dead_letters_sql = R"sql(
SELECT FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
 WHERE n.nspname = 'walrelay' AND c.relname = 'dead_letter'
)sql";

/// One that was dropped and has no id would stand for any row that has none; of rows that were
/// given up as many have a letter as were missing. Of one whose retry was stored, the message
/// stands for the row, and only as long as the stream has it.
std::string dead_letters_sql() {
    return fmt::format(
        "SELECT letter.id, letter.source_schema, letter.source_table, "
        "coalesce(letter.message_id, '') FROM {} WHERE {} AND letter.id > $3::int8 "
        "AND (letter.retries >= 0 OR letter.message_id IS NOT NULL OR "
        "pg_catalog.starts_with(letter.position, 'left out of ')) "
        "AND coalesce(letter.retry_fate, '') <> 'stored' "
        "ORDER BY letter.id LIMIT $4::int8",
        letters_sql, is_own_letter_sql);
}

awaitable<result<std::uint64_t>> expected_rows(connection& sql, table_name table) {
    std::vector<std::string> which{table.schema, table.name};
    const auto rows = co_await sql.query(expected_rows_sql, std::move(which));
    if (!rows) {
        co_return rows.error();
    }
    fact_reader reader{*rows};
    const auto count = reader.number<std::uint64_t>(0, 0);
    if (reader.failure()) {
        co_return *reader.failure();
    }
    co_return count;
}

std::string quoted(const std::vector<std::string>& columns) {
    std::vector<std::string> names;
    names.reserve(columns.size());
    for (const auto& column : columns) {
        names.push_back(quote_identifier(column));
    }
    return fmt::format("{}", fmt::join(names, ", "));
}

std::string select_sql(const row_reading& how) {
    auto statement = "SELECT " + quoted(how.columns);
    if (!how.judged.empty()) {
        statement += fmt::format(", coalesce(({}), false)", how.judged);
    }
    statement += " FROM " + rows_sql(how.from);
    if (!how.where.empty()) {
        statement += fmt::format(" WHERE ({})", how.where);
    }
    auto order = quoted(how.order_by);
    if (how.repeatable) {
        // Where a row lies is one place within a snapshot, which way ever the planner takes.
        order += order.empty() ? "tableoid, ctid" : ", tableoid, ctid";
    }
    return order.empty() ? statement : statement + " ORDER BY " + order;
}

error explain_reading(const server_report& report, const std::string& role,
                      const row_reading& how) {
    const auto table = quote_table(how.from.table);
    const bool has_condition = !how.where.empty() || !how.judged.empty();
    // A condition may need any column, and the order needs those of the system.
    const auto needed =
        has_condition || how.repeatable ? std::string() : " (" + quoted(how.columns) + ")";
    auto failure = explain_read(report, role, table, needed);
    const bool is_refused = failure.code == errc::postgres_unsuitable &&
                            report.sqlstate != sqlstate::insufficient_privilege;
    if (is_refused && has_condition) {
        failure.what = fmt::format("PostgreSQL refuses a condition on the rows of {}: ({})", table,
                                   how.judged.empty() ? how.where : how.judged);
        failure.remedy = "correct the condition: --where, or outbox.pending";
    }
    return failure;
}

}  // namespace

awaitable<result<snapshot_facts>> begin_snapshot(connection& sql, std::vector<table_name> tables,
                                                 std::string snapshot) {
    const auto begun = co_await run_command(sql, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
    if (!begun) {
        co_return begun.error();
    }
    if (!snapshot.empty()) {
        auto statement = "SET TRANSACTION SNAPSHOT " + quote_literal(snapshot);
        const auto shared = co_await run_command(sql, std::move(statement));
        if (!shared) {
            co_return shared.error();
        }
    }
    // Without this a policy would hide rows, with it the query fails.
    const auto plain = co_await run_command(sql, "SET LOCAL row_security = off");
    if (!plain) {
        co_return plain.error();
    }
    const auto end = co_await sql.query(end_sql);
    if (!end) {
        co_return end.error();
    }
    fact_reader reader{*end};
    snapshot_facts facts;
    facts.end = reader.maybe_lsn(0, 0).value_or(lsn{});
    if (reader.failure()) {
        co_return *reader.failure();
    }
    for (const auto& table : tables) {
        const auto rows = co_await expected_rows(sql, table);
        if (!rows) {
            co_return rows.error();
        }
        facts.expected_rows += *rows;
    }
    postgres_facts about_tables;
    const auto inspected = co_await inspect_tables(sql, std::move(tables), "", about_tables);
    if (!inspected) {
        co_return inspected.error();
    }
    facts.tables = std::move(about_tables.tables);
    facts.domains = std::move(about_tables.domains);
    co_return facts;
}

awaitable<result<void>> open_cursor(connection& sql, row_reading how) {
    auto statement = "DECLARE walrelay_rows NO SCROLL CURSOR FOR " + select_sql(how);
    const auto opened = co_await sql.ask(std::move(statement));
    if (opened.has_error()) {
        co_return explain_reading(opened.error(), sql.role(), how);
    }
    co_return result<void>{};
}

awaitable<result<row_set>> fetch_rows(connection& sql, std::size_t rows_max) {
    auto rows = co_await sql.query(fmt::format("FETCH {} FROM walrelay_rows", rows_max));
    if (rows && rows->empty()) {
        const auto closed = co_await close_cursor(sql);
        if (!closed) {
            co_return closed.error();
        }
    }
    co_return rows;
}

awaitable<result<void>> skip_rows(connection& sql, std::uint64_t rows) {
    return run_command(sql, fmt::format("MOVE {} FROM walrelay_rows", rows));
}

awaitable<result<void>> close_cursor(connection& sql) {
    return run_command(sql, "CLOSE walrelay_rows");
}

awaitable<result<void>> end_snapshot(connection& sql) {
    return run_command(sql, "COMMIT");
}

namespace {

awaitable<result<std::optional<slot_wait>>> wait_of(connection& sql, std::string slot) {
    auto waiting = waiting_slot_name(slot);
    const auto rewinds = co_await rewind_waits(sql, std::move(slot));
    if (!rewinds) {
        co_return rewinds.error();
    }
    if (*rewinds) {
        co_return std::optional(slot_wait::rewind);
    }
    const auto switches = co_await find_slot(sql, std::move(waiting));
    if (!switches) {
        co_return switches.error();
    }
    const bool has_all = *switches && !(*switches)->is_lost();
    co_return has_all ? std::optional(slot_wait::plugin_switch) : std::nullopt;
}

}  // namespace

awaitable<result<slot_progress>> read_slot_progress(connection& sql, std::string slot) {
    std::vector<std::string> which{slot};
    const auto rows = co_await sql.query(progress_sql, std::move(which));
    if (!rows) {
        co_return rows.error();
    }
    slot_progress progress;
    if (rows->empty()) {
        const auto waits = co_await wait_of(sql, std::move(slot));
        if (!waits) {
            co_return waits.error();
        }
        progress.waits = *waits;
        co_return progress;
    }
    fact_reader reader{*rows};
    progress.exists = true;
    progress.active = rows->flag(0, 0);
    progress.lost = rows->flag(0, 1);
    progress.confirmed = reader.maybe_lsn(0, 2).value_or(lsn{});
    progress.flushed = reader.maybe_lsn(0, 3).value_or(lsn{});
    if (reader.failure()) {
        co_return *reader.failure();
    }
    co_return progress;
}

awaitable<result<std::vector<dead_letter_id>>> read_dead_letters(connection& sql, std::string slot,
                                                                 std::string& after,
                                                                 std::size_t rows_max) {
    std::vector<dead_letter_id> letters;
    const auto there = co_await sql.query(has_dead_letters_sql);
    if (!there) {
        co_return there.error();
    }
    if (there->empty()) {
        co_return letters;
    }
    const auto owner = co_await find_letter_owner(sql, std::move(slot));
    if (!owner) {
        co_return owner.error();
    }
    std::vector<std::string> which{owner->slot, owner->unnamed(), after.empty() ? "0" : after,
                                   std::to_string(rows_max)};
    auto statement = dead_letters_sql();
    const auto rows = co_await sql.ask(std::move(statement), std::move(which));
    if (rows.has_error()) {
        co_return explain_read(rows.error(), sql.role(), "walrelay.dead_letter");
    }
    for (std::size_t row = 0; row < rows->size(); ++row) {
        after = rows->text(row, 0);
        letters.push_back({{rows->text(row, 1), rows->text(row, 2)}, rows->text(row, 3)});
    }
    co_return letters;
}

}  // namespace walrelay::postgres
