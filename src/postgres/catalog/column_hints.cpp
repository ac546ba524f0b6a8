#include "postgres/catalog/column_hints.hpp"

#include <string>
#include <utility>

namespace walrelay::postgres {
namespace {

using boost::asio::awaitable;

/// A row for each thing that is known: the column, what it is, its text.
constexpr const char* hints_sql = R"sql(
WITH columns AS (
    SELECT a.attrelid, a.attnum, a.attname, a.attnotnull, a.atttypid
      FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid
      JOIN pg_namespace AS n ON n.oid = c.relnamespace
     WHERE n.nspname = $1 AND c.relname = $2 AND a.attnum > 0 AND NOT a.attisdropped)
SELECT attname::text, kind, text FROM (
    SELECT attnum, attname, 0 AS place, 'column' AS kind,
           CASE WHEN attnotnull THEN 'not null' ELSE '' END AS text, 0::float4 AS sorted
      FROM columns
    UNION ALL
    SELECT k.attnum, k.attname, 1, 'default', pg_get_expr(d.adbin, d.adrelid), 0
      FROM columns AS k JOIN pg_attrdef AS d ON d.adrelid = k.attrelid AND d.adnum = k.attnum
    UNION ALL
    SELECT k.attnum, k.attname, 2, 'label', e.enumlabel::text, e.enumsortorder
      FROM columns AS k JOIN pg_enum AS e ON e.enumtypid = k.atttypid
    UNION ALL
    SELECT k.attnum, k.attname, 3, 'check', pg_get_constraintdef(t.oid), 0
      FROM columns AS k JOIN pg_constraint AS t
        ON t.contype = 'c' AND (t.conrelid = k.attrelid AND t.conkey = ARRAY[k.attnum]
                                OR t.contypid = k.atttypid)) AS known
 ORDER BY attnum, place, sorted, text
)sql";

}  // namespace

awaitable<result<std::vector<column_hint>>> read_column_hints(connection& sql, table_name table) {
    std::vector<std::string> which{std::move(table.schema), std::move(table.name)};
    const auto rows = co_await sql.query(hints_sql, std::move(which));
    if (!rows) {
        co_return rows.error();
    }
    std::vector<column_hint> hints;
    for (std::size_t row = 0; row < rows->size(); ++row) {
        const auto kind = rows->text(row, 1);
        auto text = rows->text(row, 2);
        if (kind == "column") {
            hints.push_back({rows->text(row, 0), text.empty()});
        } else if (kind == "default") {
            hints.back().default_value = std::move(text);
        } else if (kind == "label") {
            hints.back().labels.push_back(std::move(text));
        } else {
            hints.back().checks.push_back(std::move(text));
        }
    }
    co_return hints;
}

}  // namespace walrelay::postgres
