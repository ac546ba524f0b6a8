#include "postgres/tables/witness_store.hpp"

#include "postgres/catalog/own_tables.hpp"
#include "postgres/session/array_literal.hpp"
#include "postgres/session/fact_reader.hpp"
#include "postgres/session/sqlstate.hpp"
#include "postgres/tables/open_transactions.hpp"
#include "postgres/tables/slot_start.hpp"

#include <fmt/format.h>

#include <utility>

namespace walrelay::postgres {
namespace {

using boost::asio::awaitable;

constexpr const char* read_witness_sql = R"sql(
SELECT version, stream, stream_created, sequence, position, told, system_identifier, timeline,
       snapshot, pg_snapshot_xmax(pg_current_snapshot()), snapshot_lsn
  FROM walrelay.witness WHERE slot = $1
)sql";

/// The snapshot is older than the LSN beside it, and taken over once the slot may be told that:
/// then every transaction that ends later is not in it. A new row begins with what the slot began
/// with, and so does one that came from another system (a dump was loaded), the transactions of
/// which are not numbered like those of this, and one that is told less than before (a rewind):
/// what its snapshot shows is not all stored any more. So does one whose slot was made again after
/// both of its moments (walrelay init --new-slot): what came before that slot is not its matter.
constexpr std::string_view store_witness_begin = R"sql(
INSERT INTO walrelay.witness AS known
       (slot, version, stream, stream_created, sequence, position, told, system_identifier,
        timeline, snapshot, snapshot_lsn, next_snapshot, next_lsn, owners)
SELECT $1, 1, $3, $4::int8, $5::int8, $6, $7::pg_lsn, $8::numeric, $9::int8,
       start.snapshot, start.lsn, open.snapshot, pg_current_wal_insert_lsn(),
       coalesce((SELECT jsonb_object_agg(n.nspname || '.' || c.relname, c.relowner)
                   FROM unnest($10::text[], $11::text[]) AS outbox (schema, name)
                   JOIN pg_namespace AS n ON n.nspname = outbox.schema
                   JOIN pg_class AS c ON c.relnamespace = n.oid AND c.relname = outbox.name), '{}')
)sql";
constexpr std::string_view store_witness_end = R"sql(
  LEFT JOIN walrelay.slot_start AS start
         ON start.slot = $1 AND start.lsn <= $7::pg_lsn
        AND coalesce((to_jsonb(start) ->> 'system_identifier')::numeric,
                     (SELECT old.system_identifier FROM walrelay.witness AS old
                       WHERE old.slot = $1), $8::numeric) = $8::numeric
 WHERE $2::int8 = 0 OR EXISTS (SELECT FROM walrelay.witness AS old WHERE old.slot = $1)
    ON CONFLICT (slot) DO UPDATE
   SET version = known.version + 1, noted_at = now(), stream = excluded.stream,
       stream_created = excluded.stream_created, sequence = excluded.sequence,
       position = excluded.position, told = excluded.told,
       system_identifier = excluded.system_identifier, timeline = excluded.timeline,
       snapshot = CASE WHEN known.system_identifier <> excluded.system_identifier
                         OR excluded.told < known.snapshot_lsn
                         OR excluded.snapshot_lsn > known.next_lsn
                       THEN excluded.snapshot
                       WHEN known.next_lsn <= excluded.told
                       THEN known.next_snapshot ELSE known.snapshot END,
       snapshot_lsn = CASE WHEN known.system_identifier <> excluded.system_identifier
                             OR excluded.told < known.snapshot_lsn
                             OR excluded.snapshot_lsn > known.next_lsn
                           THEN excluded.snapshot_lsn
                           WHEN known.next_lsn <= excluded.told
                           THEN known.next_lsn ELSE known.snapshot_lsn END,
       next_snapshot = CASE WHEN known.system_identifier <> excluded.system_identifier
                              OR excluded.told < known.snapshot_lsn
                              OR known.next_lsn <= excluded.told
                            THEN excluded.next_snapshot ELSE known.next_snapshot END,
       next_lsn = CASE WHEN known.system_identifier <> excluded.system_identifier
                         OR excluded.told < known.snapshot_lsn
                         OR known.next_lsn <= excluded.told
                       THEN excluded.next_lsn ELSE known.next_lsn END,
       owners = CASE WHEN known.system_identifier = excluded.system_identifier
                     THEN excluded.owners || coalesce(known.owners, '{}') ELSE excluded.owners END
 WHERE known.version = $2::int8
RETURNING version
)sql";

const std::string& store_witness_sql() {
    static const auto text = fmt::format("{} FROM ({}) AS open {}", store_witness_begin,
                                         open_transactions_sql, store_witness_end);
    return text;
}

/// Both tables: the statement looks at the slot's beginning as well.
awaitable<result<void>> make_tables(connection& sql, std::vector<table_name> outboxes) {
    for (const auto table : {own_table::slot_start, own_table::witness}) {
        auto made = co_await create_table(sql, table, outboxes);
        if (!made) {
            co_return made.error();
        }
    }
    co_return result<void>{};
}

/// Or is one that lacks a column.
bool is_to_be_made(const server_report& report) {
    return is_missing(report) || report.sqlstate == sqlstate::undefined_column;
}

error cannot_store(const server_report& report, const connection& sql) {
    const auto table =
        is_about(report, own_table::slot_start) ? own_table::slot_start : own_table::witness;
    auto why = explain_use(report, sql, table);
    if (report.sqlstate == sqlstate::read_only) {
        // Not for good: a disk that is nearly full, or a switch of the primary.
        why.code = errc::postgres_unavailable;
    }
    return why;
}

std::vector<std::string> values_of(std::string slot, const witness& what,
                                   const std::vector<table_name>& outboxes) {
    auto [schemas, names] = arrays_of(outboxes);
    return {std::move(slot),
            std::to_string(what.version),
            what.stream,
            std::to_string(what.created.time_since_epoch().count()),
            std::to_string(what.sequence),
            what.where ? to_string(*what.where) : std::string(),
            to_string(what.told),
            std::to_string(what.origin.system_identifier),
            std::to_string(what.origin.timeline),
            std::move(schemas),
            std::move(names)};
}

result<read_witness_row> row_in(const row_set& rows, std::uint64_t system_identifier) {
    fact_reader reader{rows};
    read_witness_row row;
    auto& what = row.what;
    what.version = reader.number<std::uint64_t>(0, 0);
    what.stream = rows.text(0, 1);
    what.created = wall_time(std::chrono::microseconds(reader.number<std::int64_t>(0, 2)));
    what.sequence = reader.number<std::uint64_t>(0, 3);
    what.where = parse_position(rows.text(0, 4));
    what.told = reader.maybe_lsn(0, 5).value_or(lsn{});
    what.origin = {reader.number<std::uint64_t>(0, 6), reader.number<std::uint32_t>(0, 7)};
    const auto next = reader.number<std::uint64_t>(0, 9);
    if (reader.failure()) {
        return *reader.failure();
    }
    if (const auto& snapshot = rows.at(0, 8);
        snapshot && what.origin.system_identifier == system_identifier) {
        row.is_later = later_than(*snapshot, next);
        row.later_than = row.is_later.empty() ? lsn{} : reader.maybe_lsn(0, 10).value_or(lsn{});
    }
    return row;
}

}  // namespace

awaitable<result<std::optional<read_witness_row>>> read_witness(connection& sql, std::string slot,
                                                                std::uint64_t system_identifier) {
    if (sql.avoids_own_schema()) {
        co_return explain_use({}, sql, own_table::witness);
    }
    const auto there = co_await has_table(sql, own_table::witness);
    if (!there) {
        co_return there.error();
    }
    if (!*there) {
        co_return std::optional<read_witness_row>{};
    }
    std::vector<std::string> which{std::move(slot)};
    const auto rows = co_await sql.ask(read_witness_sql, std::move(which));
    if (rows.has_error()) {
        co_return explain_use(rows.error(), sql, own_table::witness);
    }
    if (rows->empty()) {
        co_return std::optional<read_witness_row>{};
    }
    auto row = row_in(*rows, system_identifier);
    if (!row) {
        co_return row.error();
    }
    co_return std::optional(std::move(*row));
}

awaitable<result<std::optional<std::uint64_t>>> store_witness(connection& sql, std::string slot,
                                                              witness what,
                                                              std::vector<table_name> outboxes) {
    const auto values = values_of(std::move(slot), what, outboxes);
    auto again = values;
    auto done = co_await sql.ask(store_witness_sql(), std::move(again));
    if (done.has_error() && is_to_be_made(done.error())) {
        const auto made = co_await make_tables(sql, std::move(outboxes));
        if (!made) {
            co_return made.error();
        }
        again = values;
        done = co_await sql.ask(store_witness_sql(), std::move(again));
    }
    if (done.has_error()) {
        co_return cannot_store(done.error(), sql);
    }
    if (done->empty()) {
        co_return std::optional<std::uint64_t>{};
    }
    fact_reader reader{*done};
    const auto version = reader.number<std::uint64_t>(0, 0);
    if (reader.failure()) {
        co_return *reader.failure();
    }
    co_return std::optional(version);
}

}  // namespace walrelay::postgres
