#include "postgres/tables/key_kinds.hpp"

#include "core/control.hpp"
#include "postgres/catalog/inspection_queries.hpp"
#include "postgres/session/array_literal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

namespace walrelay::postgres {
namespace {

using boost::asio::awaitable;

/// With -1 and not NULL: of char(36) the latter makes a type that holds one character.
constexpr const char* key_type_sql = R"sql(
SELECT format_type(a.atttypid, -1),
       (WITH RECURSIVE base AS (
            SELECT t.oid, t.typbasetype
            UNION ALL
            SELECT b.oid, b.typbasetype FROM base JOIN pg_type AS b ON b.oid = base.typbasetype)
        SELECT oid FROM base WHERE typbasetype = 0) = 'bytea'::regtype,
       c.relkind = 'p'
  FROM pg_attribute AS a
  JOIN pg_class AS c ON c.oid = a.attrelid
  JOIN pg_namespace AS n ON n.oid = c.relnamespace
  JOIN pg_type AS t ON t.oid = a.atttypid
 WHERE n.nspname = $1 AND c.relname = $2 AND a.attname = $3
   AND a.attnum > 0 AND NOT a.attisdropped
)sql";

}  // namespace

/// Whether the type of a key may be another one than it was: a value that the type does not have,
/// or a comparison or a cast that does not exist.
bool is_about_types(const server_report& report) {
    constexpr std::array<std::string_view, 6> codes = {"42804", "42883", "42846",
                                                       "42725", "42P18", "42704"};
    return report.sqlstate.starts_with("22") ||
           std::ranges::find(codes, report.sqlstate) != codes.end();
}

awaitable<result<key_kind>> key_kinds::find(connection& sql, const outbox_table& table) {
    if (const auto known = known_.find(table.table); known != known_.end()) {
        co_return known->second;
    }
    std::vector<std::string> which{table.table.schema, table.table.name,
                                   std::string{key_column(table)}};
    const auto rows = co_await sql.query(key_type_sql, std::move(which));
    if (!rows) {
        co_return rows.error();
    }
    if (rows->empty()) {
        co_return error{
            errc::postgres_unsuitable,
            fmt::format("table {} has no column {} by which its rows could be written back",
                        to_string(table.table), key_column(table)),
            "name the column that identifies a row in outbox.columns: id = \"...\""};
    }
    std::vector<std::string> partitioned{array_literal({table.table.schema}),
                                         array_literal({table.table.name})};
    const auto columns = co_await sql.query(queries::partition_columns, std::move(partitioned));
    if (!columns) {
        co_return columns.error();
    }
    std::vector<std::string> names;
    for (std::size_t row = 0; row < columns->size(); ++row) {
        names.push_back(columns->text(row, 1));
    }
    key_kind kind{{{table.table, rows->flag(0, 2)}, rows->text(0, 0)},
                  rows->flag(0, 1),
                  needs_mark(table, names)};
    known_[table.table] = kind;
    co_return kind;
}

awaitable<result<key_kind>> key_kinds::find_again(connection& sql, const outbox_table& table) {
    known_.erase(table.table);
    co_return co_await find(sql, table);
}

awaitable<result<std::vector<bool>>> fitting_keys(connection& sql, key_kind kind,
                                                  std::vector<std::string> keys) {
    const auto cast = fmt::format("SELECT $1::text::{}", kind.rows.key_type);
    std::vector<bool> fitting;
    fitting.reserve(keys.size());
    for (const auto& key : keys) {
        std::vector<std::string> value{kind.text_of(key)};
        const auto tried = co_await sql.ask(cast, std::move(value));
        if (tried.has_error() && !is_about_types(tried.error())) {
            co_return explain(tried.error(), {.action = server_action::query});
        }
        fitting.push_back(!tried.has_error());
    }
    co_return fitting;
}

}  // namespace walrelay::postgres
