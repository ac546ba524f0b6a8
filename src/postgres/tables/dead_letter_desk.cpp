#include "postgres/tables/dead_letter_desk.hpp"

#include "core/assert.hpp"
#include "core/control.hpp"
#include "core/sql_text.hpp"
#include "postgres/catalog/own_tables.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>
#include <utility>

namespace walrelay::postgres {
namespace {

using boost::asio::awaitable;

/// The newest $1, of the table $2.$3 or, where $2 is empty, of any.
constexpr const char* list_sql = R"sql(
SELECT id, date_trunc('second', dead_at) AS dead_at,
       source_schema || '.' || source_table AS "table",
       message_id, reason, attempts, retries
  FROM (SELECT * FROM walrelay.dead_letter
         WHERE retries >= 0 AND ($2 = '' OR (source_schema = $2 AND source_table = $3))
         ORDER BY id DESC LIMIT $1::bigint) AS newest
 ORDER BY id
)sql";

constexpr const char* list_json_sql = R"sql(
SELECT row_to_json(each)
  FROM (SELECT id, dead_at, source_schema, source_table, message_id, reason, error_code, attempts,
               retries, retried_at
          FROM (SELECT * FROM walrelay.dead_letter
                 WHERE retries >= 0 AND ($2 = '' OR (source_schema = $2 AND source_table = $3))
                 ORDER BY id DESC LIMIT $1::bigint) AS newest
         ORDER BY id) AS each
)sql";

/// As leave_out writes them; a letter that was dropped keeps its position.
constexpr const char* given_up_sql = R"sql(
SELECT id, date_trunc('second', dead_at) AS given_up_at,
       source_schema || '.' || source_table AS "table", message_id, reason
  FROM (SELECT * FROM walrelay.dead_letter
         WHERE retries = -1 AND position LIKE 'left out of %'
           AND ($2 = '' OR (source_schema = $2 AND source_table = $3))
         ORDER BY id DESC LIMIT $1::bigint) AS newest
 ORDER BY id
)sql";

constexpr const char* given_up_json_sql = R"sql(
SELECT row_to_json(each)
  FROM (SELECT id, dead_at AS given_up_at, source_schema, source_table, message_id, reason
          FROM (SELECT * FROM walrelay.dead_letter
                 WHERE retries = -1 AND position LIKE 'left out of %'
                   AND ($2 = '' OR (source_schema = $2 AND source_table = $3))
                 ORDER BY id DESC LIMIT $1::bigint) AS newest
         ORDER BY id) AS each
)sql";

constexpr const char* knows_table_sql = R"sql(
SELECT FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
 WHERE n.nspname = $1 AND c.relname = $2
UNION ALL
SELECT FROM walrelay.dead_letter WHERE source_schema = $1 AND source_table = $2
 LIMIT 1
)sql";

constexpr const char* find_sql = R"sql(
SELECT id, position, source_schema AS schema, source_table AS "table", message_id, subject, reason,
       error_code, attempts, committed_at, dead_at, retries, retried_at
  FROM walrelay.dead_letter WHERE id = $1::bigint AND retries >= 0
)sql";

constexpr const char* find_json_sql =
    "SELECT row_to_json(d) FROM walrelay.dead_letter AS d "
    "WHERE id = $1::bigint AND retries >= 0";

constexpr const char* headers_sql =
    "SELECT h.key, h.value FROM walrelay.dead_letter, json_each_text(headers) AS h "
    "WHERE id = $1::bigint";

constexpr const char* columns_sql = R"sql(
SELECT c.value ->> 'name', format_type((c.value ->> 'type')::oid, NULL), c.value ->> 'value'
  FROM walrelay.dead_letter, json_array_elements(event) WITH ORDINALITY AS c (value, place)
 WHERE id = $1::bigint ORDER BY c.place
)sql";

/// Of the ids $1, or of all where $4 is set; as for the rest see list_sql. One that was dropped has
/// no event any more. For every relay of the
/// table, as a letter does not say of which slot it is.
constexpr const char* retry_sql = R"sql(
WITH chosen AS (
    UPDATE walrelay.dead_letter SET retries = retries + 1, retried_at = now()
     WHERE (id = ANY ($1::bigint[]) OR ($4::bool AND retries = 0))
       AND ($2 = '' OR (source_schema = $2 AND source_table = $3))
       AND event IS NOT NULL
    RETURNING id, retries, source_schema, source_table, event)
INSERT INTO walrelay.control (place, kind, dead_letter, retry, source_schema, source_table, event)
SELECT row_number() OVER (ORDER BY id), 'retry', id, retries, source_schema, source_table, event
  FROM chosen ORDER BY id
)sql";

/// In the same transaction: what was written there is in the WAL. Gives id and occasion of each.
constexpr const char* retried_sql = R"sql(
WITH gone AS (
    DELETE FROM walrelay.control WHERE transaction = pg_current_xact_id()::text::bigint
    RETURNING place, dead_letter, format('retry-%s-%s', dead_letter, retry) AS occasion)
SELECT dead_letter, occasion FROM gone ORDER BY place
)sql";

/// What is left says of the row that nobody is to miss it.
constexpr const char* drop_sql = R"sql(
WITH gone AS (
    UPDATE walrelay.dead_letter
       SET retries = -1, event = NULL, headers = '{}', subject = NULL,
           reason = format('dropped at %s', date_trunc('second', now()))
     WHERE (id = ANY ($1::bigint[]) OR $4::bool) AND retries >= 0
       AND ($2 = '' OR (source_schema = $2 AND source_table = $3))
    RETURNING id)
SELECT id FROM gone ORDER BY id
)sql";

/// The plugin of the slot $1; and of the publication $2, whether it has walrelay.control.
constexpr const char* slot_sql = R"sql(
SELECT plugin,
       EXISTS (SELECT FROM pg_publication_tables
                WHERE pubname = $2 AND schemaname = 'walrelay' AND tablename = 'control')
  FROM pg_replication_slots WHERE slot_name = $1 AND database = current_database()
)sql";

/// An empty schema stands for any table: no schema has an empty name.
std::vector<std::string> with_table(std::vector<std::string> parameters,
                                    const std::optional<table_name>& table) {
    parameters.push_back(table ? table->schema : "");
    parameters.push_back(table ? table->name : "");
    return parameters;
}

std::vector<std::string> parameters_of(const dead_letter_selection& which) {
    WALRELAY_ASSERT(which.all == which.ids.empty());
    auto parameters = with_table({fmt::format("{{{}}}", fmt::join(which.ids, ","))}, which.table);
    parameters.emplace_back(which.all ? "true" : "false");
    return parameters;
}

awaitable<result<row_set>> run(connection& sql, std::string statement,
                               std::vector<std::string> parameters) {
    auto rows = co_await sql.ask(std::move(statement), std::move(parameters));
    if (rows.has_error()) {
        co_return explain_use(rows.error(), sql, own_table::dead_letter);
    }
    co_return std::move(*rows);
}

}  // namespace

awaitable<result<row_set>> list_dead_letters(connection& sql, std::int64_t limit,
                                             std::optional<table_name> table, dead_letter_form form,
                                             bool given_up) {
    auto parameters = with_table({std::to_string(limit)}, table);
    const bool json = form == dead_letter_form::json;
    const auto* const statement =
        given_up ? (json ? given_up_json_sql : given_up_sql) : (json ? list_json_sql : list_sql);
    co_return co_await run(sql, statement, std::move(parameters));
}

awaitable<result<row_set>> find_dead_letter(connection& sql, std::int64_t id,
                                            dead_letter_form form) {
    std::vector<std::string> parameters{std::to_string(id)};
    const auto* const statement = form == dead_letter_form::json ? find_json_sql : find_sql;
    co_return co_await run(sql, statement, std::move(parameters));
}

awaitable<result<row_set>> headers_of_dead_letter(connection& sql, std::int64_t id) {
    std::vector<std::string> parameters{std::to_string(id)};
    co_return co_await run(sql, headers_sql, std::move(parameters));
}

awaitable<result<row_set>> columns_of_dead_letter(connection& sql, std::int64_t id) {
    std::vector<std::string> parameters{std::to_string(id)};
    co_return co_await run(sql, columns_sql, std::move(parameters));
}

awaitable<result<row_set>> retry_dead_letters(connection& sql, dead_letter_selection which) {
    statement chosen{retry_sql};
    for (auto& each : parameters_of(which)) {
        chosen.parameters.emplace_back(std::move(each));
    }
    std::vector<statement> all{std::move(chosen), {retried_sql}};
    auto rows = co_await sql.ask_together(std::move(all));
    if (rows.has_error()) {
        const bool of_control = is_about(rows.error(), own_table::control);
        co_return explain_use(rows.error(), sql,
                              of_control ? own_table::control : own_table::dead_letter);
    }
    co_return std::move(*rows);
}

awaitable<result<bool>> knows_table(connection& sql, table_name table) {
    std::vector<std::string> names{table.schema, table.name};
    const auto found = co_await sql.query(knows_table_sql, std::move(names));
    if (!found) {
        co_return found.error();
    }
    co_return !found->empty();
}

awaitable<result<row_set>> drop_dead_letters(connection& sql, dead_letter_selection which) {
    co_return co_await run(sql, drop_sql, parameters_of(which));
}

awaitable<result<void>> check_slot_for_retries(connection& sql, std::string slot,
                                               std::string publication) {
    std::vector<std::string> parameters{slot, publication};
    const auto rows = co_await sql.query(slot_sql, std::move(parameters));
    if (rows.has_error()) {
        co_return rows.error();
    }
    if (rows->empty()) {
        co_return error{errc::postgres_unsuitable,
                        fmt::format("the slot {} does not exist in database {}, so no relay would "
                                    "see a retry; nothing was changed",
                                    slot, sql.database()),
                        "set postgres.slot to the relay's slot, or: walrelay init"};
    }
    const auto there = co_await has_table(sql, own_table::control);
    if (!there) {
        co_return there.error();
    }
    if (!*there) {
        co_return error{errc::postgres_unsuitable,
                        "the table walrelay.control, through which the relay is told of a retry, "
                        "does not exist; nothing was changed",
                        "walrelay init (or sql/control.sql in psql, as who made walrelay's other "
                        "tables)"};
    }
    if (rows->text(0, 0) == "pgoutput" && !rows->flag(0, 1)) {
        co_return error{
            errc::postgres_unsuitable,
            fmt::format("the publication {} does not contain the table walrelay.control, so no "
                        "relay would see a retry; nothing was changed",
                        publication),
            add_to_publication_sql(publication, control_table()) +
                " or walrelay init, as the owner of both"};
    }
    co_return result<void>{};
}

}  // namespace walrelay::postgres
