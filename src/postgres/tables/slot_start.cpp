#include "postgres/tables/slot_start.hpp"

#include "core/sql_text.hpp"
#include "postgres/catalog/own_tables.hpp"
#include "postgres/session/fact_reader.hpp"
#include "postgres/session/run_command.hpp"
#include "postgres/session/server_error.hpp"
#include "postgres/session/sqlstate.hpp"

#include <fmt/format.h>

#include <utility>

namespace walrelay::postgres {
namespace {

using boost::asio::awaitable;

/// A slot of that name was there before: what was published then was published.
constexpr const char* keep_sql = R"sql(
INSERT INTO walrelay.slot_start AS kept (slot, lsn, snapshot, published)
VALUES ($1, $2::pg_lsn, $3::pg_snapshot, nullif($4, 'unknown'))
    ON CONFLICT (slot) DO UPDATE
       SET made_at = now(), lsn = excluded.lsn, snapshot = excluded.snapshot,
           published = CASE WHEN $4 IN ('pending', 'all') THEN $4 ELSE kept.published END
)sql";

/// Where the table is of 0.2.0 and the role may not alter it.
constexpr const char* keep_in_old_table_sql = R"sql(
INSERT INTO walrelay.slot_start (slot, lsn, snapshot) VALUES ($1, $2::pg_lsn, $3::pg_snapshot)
    ON CONFLICT (slot) DO UPDATE
       SET made_at = now(), lsn = excluded.lsn, snapshot = excluded.snapshot
)sql";

/// What this server has not numbered yet is of another one, whose data were dumped and loaded. An
/// exported snapshot of a slot can end before its xmin. By way of jsonb, because the last column
/// came after 0.2.0.
constexpr const char* read_start_sql = R"sql(
SELECT lsn, snapshot, pg_snapshot_xmax(pg_current_snapshot()),
       coalesce(to_jsonb(s) ->> 'published', '')
  FROM walrelay.slot_start AS s
 WHERE slot = $1
   AND pg_snapshot_xmax(snapshot) <= greatest(pg_snapshot_xmin(pg_current_snapshot()),
                                              pg_snapshot_xmax(pg_current_snapshot()))
)sql";

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
/// access/transam.h).
std::string later_than(const std::string& snapshot, std::uint64_t next) {
    constexpr unsigned xid_bits = 32;
    const auto epoch = next >> xid_bits << xid_bits;
    const auto before = epoch == 0 ? 0 : epoch - (std::uint64_t{1} << xid_bits);
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
    once_more.pop_back();
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
    std::vector<std::string> values{std::move(slot), to_string(from.consistent_point), *snapshot,
                                    std::move(published)};
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
    std::vector<std::string> which{std::move(slot)};
    const auto rows = co_await sql.ask(read_start_sql, std::move(which));
    if (rows.has_error()) {
        co_return explain_use(rows.error(), sql, own_table::slot_start);
    }
    if (rows->empty()) {
        co_return std::optional<slot_start>{};
    }
    fact_reader reader{*rows};
    const auto begins = reader.maybe_lsn(0, 0).value_or(lsn{});
    const auto next = reader.number<std::uint64_t>(0, 2);
    slot_start start{begins, rows->text(0, 3), {}};
    if (reader.failure()) {
        co_return *reader.failure();
    }
    start.is_later = start.published == "all" ? "true" : later_than(rows->text(0, 1), next);
    co_return std::optional(std::move(start));
}

}  // namespace walrelay::postgres
