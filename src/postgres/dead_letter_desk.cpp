#include "postgres/dead_letter_desk.hpp"

#include "core/assert.hpp"
#include "postgres/dead_letter_store.hpp"
#include "postgres/server_error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>
#include <utility>

namespace walrelay::postgres {
namespace {

using boost::asio::awaitable;

constexpr const char* table_sql = R"sql(
SELECT EXISTS (SELECT FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
                WHERE n.nspname = 'walrelay' AND c.relname = 'dead_letter')
)sql";

/// The newest $1, of the table $2.$3 or, where $2 is empty, of any.
constexpr const char* list_sql = R"sql(
SELECT id, date_trunc('second', dead_at) AS dead_at,
       source_schema || '.' || source_table AS "table",
       message_id, reason, attempts, retries
  FROM (SELECT * FROM walrelay.dead_letter
         WHERE $2 = '' OR (source_schema = $2 AND source_table = $3)
         ORDER BY id DESC LIMIT $1::bigint) AS newest
 ORDER BY id
)sql";

constexpr const char* list_json_sql = R"sql(
SELECT row_to_json(each)
  FROM (SELECT id, dead_at, source_schema, source_table, message_id, reason, error_code, attempts,
               retries, retried_at
          FROM (SELECT * FROM walrelay.dead_letter
                 WHERE $2 = '' OR (source_schema = $2 AND source_table = $3)
                 ORDER BY id DESC LIMIT $1::bigint) AS newest
         ORDER BY id) AS each
)sql";

constexpr const char* find_sql = R"sql(
SELECT id, position, source_schema AS schema, source_table AS "table", message_id, subject, reason,
       error_code, attempts, committed_at, dead_at, retries, retried_at
  FROM walrelay.dead_letter WHERE id = $1::bigint
)sql";

constexpr const char* find_json_sql =
    "SELECT row_to_json(d) FROM walrelay.dead_letter AS d WHERE id = $1::bigint";

constexpr const char* headers_sql =
    "SELECT h.key, h.value FROM walrelay.dead_letter, json_each_text(headers) AS h "
    "WHERE id = $1::bigint";

constexpr const char* columns_sql = R"sql(
SELECT c.value ->> 'name', format_type((c.value ->> 'type')::oid, NULL), c.value ->> 'value'
  FROM walrelay.dead_letter, json_array_elements(event) WITH ORDINALITY AS c (value, place)
 WHERE id = $1::bigint ORDER BY c.place
)sql";

/// Of the ids $1, or of all where $4 is set; as for the rest see list_sql. The content of the
/// message is what relay/ reads again.
constexpr const char* retry_sql = R"sql(
WITH chosen AS (
    UPDATE walrelay.dead_letter SET retries = retries + 1, retried_at = now()
     WHERE (id = ANY ($1::bigint[]) OR ($4::bool AND retries = 0))
       AND ($2 = '' OR (source_schema = $2 AND source_table = $3))
       AND event IS NOT NULL
    RETURNING id, source_schema, source_table, event,
              format('retry-%s-%s', id, retries) AS occasion)
SELECT id, occasion, pg_logical_emit_message(true, 'walrelay.retry', json_build_object(
           'table', json_build_object('schema', source_schema, 'name', source_table),
           'occasion', occasion, 'columns', event)::text)
  FROM (SELECT * FROM chosen ORDER BY id) AS ordered
)sql";

constexpr const char* drop_sql = R"sql(
WITH gone AS (
    DELETE FROM walrelay.dead_letter
     WHERE (id = ANY ($1::bigint[]) OR $4::bool)
       AND ($2 = '' OR (source_schema = $2 AND source_table = $3))
    RETURNING id)
SELECT id FROM gone ORDER BY id
)sql";

constexpr const char* slot_sql =
    "SELECT plugin FROM pg_replication_slots "
    "WHERE slot_name = $1 AND database = current_database()";

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
        co_return explain_dead_letters(rows.error(), sql);
    }
    co_return std::move(*rows);
}

}  // namespace

awaitable<result<bool>> has_dead_letter_table(connection& sql) {
    const auto rows = co_await sql.query(table_sql);
    if (rows.has_error()) {
        co_return rows.error();
    }
    co_return !rows->empty() && rows->flag(0, 0);
}

awaitable<result<row_set>> list_dead_letters(connection& sql, std::int64_t limit,
                                             std::optional<table_name> table,
                                             dead_letter_form form) {
    auto parameters = with_table({std::to_string(limit)}, table);
    const auto* const statement = form == dead_letter_form::json ? list_json_sql : list_sql;
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
    co_return co_await run(sql, retry_sql, parameters_of(which));
}

awaitable<result<row_set>> drop_dead_letters(connection& sql, dead_letter_selection which) {
    co_return co_await run(sql, drop_sql, parameters_of(which));
}

awaitable<result<void>> check_slot_for_retries(connection& sql, std::string slot) {
    constexpr int first_with_messages = 140'000;
    std::vector<std::string> parameters{slot};
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
    if (rows->text(0, 0) == "pgoutput" && sql.version_number() < first_with_messages) {
        co_return error{errc::postgres_unsuitable,
                        "pgoutput sends no messages before PostgreSQL 14, so no relay would see a "
                        "retry; nothing was changed",
                        "insert the row into its outbox table once more, or use a slot with "
                        "plugin wal2json"};
    }
    co_return result<void>{};
}

}  // namespace walrelay::postgres
