#include "postgres/tables/slot_start.hpp"

#include "core/sql_text.hpp"
#include "postgres/catalog/own_tables.hpp"
#include "postgres/session/fact_reader.hpp"
#include "postgres/session/run_command.hpp"
#include "postgres/session/server_error.hpp"
#include "postgres/session/sqlstate.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstddef>
#include <system_error>
#include <utility>

namespace walrelay::postgres {
namespace {

using boost::asio::awaitable;

/// A slot of that name was there before: what was published then was published, if it was here. $6
/// says that it was elsewhere.
constexpr const char* keep_sql = R"sql(
INSERT INTO walrelay.slot_start AS kept (slot, lsn, snapshot, published, system_identifier)
VALUES ($1, $2::pg_lsn, $3::pg_snapshot, nullif($4, 'unknown'), nullif($5, '')::numeric)
    ON CONFLICT (slot) DO UPDATE
       SET made_at = now(), lsn = excluded.lsn, snapshot = excluded.snapshot,
           published = CASE WHEN $4 IN ('pending', 'all') THEN $4
                            WHEN $6::bool OR
                                 kept.system_identifier <> excluded.system_identifier
                            THEN excluded.published ELSE kept.published END,
           system_identifier = excluded.system_identifier
)sql";

/// By way of jsonb: the column came after 0.2.0.
constexpr const char* kept_by_sql = R"sql(
SELECT to_jsonb(s) ->> 'system_identifier' FROM walrelay.slot_start AS s WHERE slot = $1
)sql";

/// Where the table is of 0.2.0 and the role may not alter it.
constexpr const char* keep_in_old_table_sql = R"sql(
INSERT INTO walrelay.slot_start (slot, lsn, snapshot) VALUES ($1, $2::pg_lsn, $3::pg_snapshot)
    ON CONFLICT (slot) DO UPDATE
       SET made_at = now(), lsn = excluded.lsn, snapshot = excluded.snapshot
)sql";

/// What this server has not numbered yet is of another one, whose data were dumped and loaded; of
/// one that has numbered less, its system identifier tells. An exported snapshot of a slot can end
/// before its xmin. By way of jsonb, because the last columns came after 0.2.0.
constexpr const char* read_start_sql = R"sql(
SELECT lsn, snapshot, pg_snapshot_xmax(pg_current_snapshot()),
       coalesce(to_jsonb(s) ->> 'published', ''), to_jsonb(s) ->> 'system_identifier'
  FROM walrelay.slot_start AS s
 WHERE slot = $1
   AND pg_snapshot_xmax(snapshot) <= greatest(pg_snapshot_xmin(pg_current_snapshot()),
                                              pg_snapshot_xmax(pg_current_snapshot()))
)sql";

constexpr const char* may_ask_system_sql =
    "SELECT has_function_privilege('pg_catalog.pg_control_system()', 'EXECUTE')";
constexpr const char* system_sql = "SELECT system_identifier FROM pg_control_system()";

constexpr const char* witness_readable_sql = R"sql(
SELECT FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
 WHERE n.nspname = 'walrelay' AND c.relname = 'witness'
   AND has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT')
)sql";
constexpr const char* system_of_witness_sql =
    "SELECT system_identifier FROM walrelay.witness WHERE slot = $1";

using system_name = std::optional<std::string>;

/// A timeline is not asked for: what a branch has in its tables, it has from before it left the
/// other one, and the numbers of transactions and LSNs are the same up to there.
awaitable<result<system_name>> this_system(connection& sql) {
    const auto may = co_await sql.query(may_ask_system_sql);
    if (!may || !may->flag(0, 0)) {
        co_return may ? result<system_name>(system_name{}) : may.error();
    }
    const auto rows = co_await sql.query(system_sql);
    co_return rows ? result<system_name>(rows->text(0, 0)) : rows.error();
}

/// Of a row that does not say where it was written: its slot's witness was written there as well,
/// or later.
awaitable<result<system_name>> system_of_witness(connection& sql, std::string slot) {
    if (sql.avoids_own_schema()) {
        co_return system_name{};
    }
    const auto readable = co_await sql.query(witness_readable_sql);
    if (!readable || readable->empty()) {
        co_return readable ? result<system_name>(system_name{}) : readable.error();
    }
    std::vector<std::string> which{std::move(slot)};
    const auto rows = co_await sql.query(system_of_witness_sql, std::move(which));
    if (!rows) {
        co_return rows.error();
    }
    co_return rows->empty() ? system_name{} : system_name{rows->text(0, 0)};
}

/// Whether the row was written by another server, whose transactions have other numbers.
awaitable<result<bool>> is_of_another(connection& sql, std::string slot, system_name written_by) {
    if (!written_by) {
        auto by_witness = co_await system_of_witness(sql, std::move(slot));
        if (!by_witness) {
            co_return by_witness.error();
        }
        written_by = std::move(*by_witness);
    }
    if (!written_by) {
        co_return false;
    }
    const auto here = co_await this_system(sql);
    if (!here) {
        co_return here.error();
    }
    co_return here->has_value() && *here != written_by;
}

/// Whether what is kept of a slot of this name is another server's.
awaitable<result<bool>> was_kept_elsewhere(connection& sql, std::string slot) {
    std::vector<std::string> which{slot};
    const auto rows = co_await sql.query(kept_by_sql, std::move(which));
    if (!rows || rows->empty()) {
        co_return rows ? result<bool>(false) : rows.error();
    }
    const auto& written_by = rows->at(0, 0);
    auto system = written_by ? system_name(*written_by) : system_name{};
    co_return co_await is_of_another(sql, std::move(slot), std::move(system));
}

/// A slot's snapshot ends with the last commit that it has met. Where the transactions after that
/// one were rolled back its xmin is greater, and pg_snapshot takes no such text.
std::string in_order(std::string text) {
    const auto first = text.find(':');
    const auto second = text.find(':', first + 1);
    if (second == std::string::npos) {
        return text;
    }
    const auto oldest = text.substr(0, first);
    const auto next = text.substr(first + 1, second - first - 1);
    const bool is_less = std::pair(next.size(), next) < std::pair(oldest.size(), oldest);
    return is_less ? oldest + ":" + oldest + text.substr(second) : text;
}

/// The exported snapshot of a slot lists what was not committed, subtransactions and all
/// (PostgreSQL source, SnapBuildInitialSnapshot), so that it answers for the xmin of every row.
awaitable<result<std::string>> text_of_snapshot(connection& sql, std::string name) {
    const auto begun = co_await run_command(sql, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
    if (!begun) {
        co_return begun.error();
    }
    auto statement = "SET TRANSACTION SNAPSHOT " + quote_literal(name);
    const auto shared = co_await run_command(sql, std::move(statement));
    result<std::string> text = shared ? result<std::string>(std::string()) : shared.error();
    if (shared) {
        const auto rows = co_await sql.query("SELECT pg_current_snapshot()");
        text = rows ? result<std::string>(in_order(rows->text(0, 0))) : rows.error();
    }
    const auto ended = co_await run_command(sql, "ROLLBACK");
    if (!ended) {
        co_return ended.error();
    }
    co_return text;
}

}  // namespace

/// xmin has 32 bits of a transaction's number: the rest are those of the last number that is not
/// after `next`, the first number of none. Below 3 are no transactions (PostgreSQL source,
/// access/transam.h). A snapshot from before all numbers that these bits can tell apart would have
/// every row count as later.
std::string later_than(const std::string& snapshot, std::uint64_t next) {
    constexpr unsigned xid_bits = 32;
    constexpr auto numbers = std::uint64_t{1} << xid_bits;
    std::uint64_t oldest = 0;
    const auto* const end = snapshot.data() + snapshot.size();
    const auto read = std::from_chars(snapshot.data(), end, oldest);
    if (read.ec != std::errc{} || (next > oldest && next - oldest >= numbers)) {
        return {};
    }
    const auto epoch = next >> xid_bits << xid_bits;
    const auto before = epoch == 0 ? 0 : epoch - numbers;
    const auto low = next - epoch;
    return fmt::format(
        "xmin::text::int8 > 2 AND NOT pg_visible_in_snapshot((xmin::text::int8 + CASE WHEN "
        "xmin::text::int8 < {} THEN {} ELSE {} END)::text::xid8, {}::pg_snapshot)",
        low, epoch, before, quote_literal(snapshot));
}

namespace {

awaitable<answer> write(connection& sql, std::vector<std::string> values,
                        std::vector<table_name> outboxes) {
    auto once_more = values;
    auto kept = co_await sql.ask(keep_sql, std::move(values));
    if (!kept.has_error() || kept.error().sqlstate != sqlstate::undefined_column) {
        co_return kept;
    }
    const auto completed = co_await create_table(sql, own_table::slot_start, std::move(outboxes));
    if (completed) {
        co_return co_await sql.ask(keep_sql, std::move(once_more));
    }
    constexpr std::size_t of_old_table = 3;
    once_more.resize(of_old_table);
    co_return co_await sql.ask(keep_in_old_table_sql, std::move(once_more));
}

}  // namespace

awaitable<result<void>> keep_slot_start(connection& sql, snapshot_slot from, std::string slot,
                                        std::string published, std::vector<table_name> outboxes) {
    const auto there = co_await has_table(sql, own_table::slot_start);
    if (!there) {
        co_return there.error();
    }
    if (!*there) {
        const auto made = co_await create_table(sql, own_table::slot_start, outboxes);
        if (!made) {
            co_return made.error();
        }
    }
    const auto snapshot = co_await text_of_snapshot(sql, from.snapshot);
    if (!snapshot) {
        co_return snapshot.error();
    }
    const auto here = co_await this_system(sql);
    if (!here) {
        co_return here.error();
    }
    const auto was_elsewhere = co_await was_kept_elsewhere(sql, slot);
    if (!was_elsewhere) {
        co_return was_elsewhere.error();
    }
    std::vector<std::string> values{std::move(slot),    to_string(from.consistent_point),
                                    *snapshot,          std::move(published),
                                    here->value_or(""), *was_elsewhere ? "true" : "false"};
    const auto kept = co_await write(sql, std::move(values), std::move(outboxes));
    if (kept.has_error()) {
        co_return explain_use(kept.error(), sql, own_table::slot_start);
    }
    co_return result<void>{};
}

awaitable<result<std::optional<slot_start>>> read_slot_start(connection& sql, std::string slot) {
    const auto there = co_await has_table(sql, own_table::slot_start);
    if (!there) {
        co_return there.error();
    }
    if (!*there) {
        co_return std::optional<slot_start>{};
    }
    std::vector<std::string> which{slot};
    const auto rows = co_await sql.ask(read_start_sql, std::move(which));
    if (rows.has_error()) {
        co_return explain_use(rows.error(), sql, own_table::slot_start);
    }
    if (rows->empty()) {
        co_return std::optional<slot_start>{};
    }
    const auto& written_by = rows->at(0, 4);
    auto system = written_by ? system_name(*written_by) : system_name{};
    const auto is_foreign = co_await is_of_another(sql, std::move(slot), std::move(system));
    if (!is_foreign || *is_foreign) {
        co_return is_foreign ? result<std::optional<slot_start>>(std::optional<slot_start>{})
                             : is_foreign.error();
    }
    fact_reader reader{*rows};
    const auto begins = reader.maybe_lsn(0, 0).value_or(lsn{});
    const auto next = reader.number<std::uint64_t>(0, 2);
    slot_start start{begins, rows->text(0, 3), {}};
    if (reader.failure()) {
        co_return *reader.failure();
    }
    start.is_later = start.published == "all" ? "true" : later_than(rows->text(0, 1), next);
    if (start.is_later.empty()) {
        co_return std::optional<slot_start>{};
    }
    co_return std::optional(std::move(start));
}

}  // namespace walrelay::postgres
