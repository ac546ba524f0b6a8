#include "postgres/catalog/table_list.hpp"

#include "postgres/session/fact_reader.hpp"

#include <utility>

namespace walrelay::postgres {
namespace {

/// A row for each column: schema, table, column, type.
constexpr const char* tables_sql = R"sql(
SELECT n.nspname, c.relname, a.attname,
       CASE WHEN t.typtype = 'd' THEN t.typbasetype ELSE a.atttypid END
  FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
  JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
  JOIN pg_type AS t ON t.oid = a.atttypid
 WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition
   AND n.nspname NOT IN ('information_schema', 'walrelay') AND n.nspname !~ '^pg_'
 ORDER BY n.nspname, c.relname, a.attnum
)sql";

}  // namespace

boost::asio::awaitable<result<std::vector<listed_table>>> list_tables(connection& sql) {
    const auto rows = co_await sql.query(tables_sql);
    if (!rows) {
        co_return rows.error();
    }
    fact_reader reader{*rows};
    std::vector<listed_table> tables;
    for (std::size_t row = 0; row < rows->size(); ++row) {
        table_name name{rows->text(row, 0), rows->text(row, 1)};
        if (tables.empty() || tables.back().table != name) {
            tables.push_back({std::move(name)});
        }
        tables.back().columns.push_back({rows->text(row, 2), reader.number<type_oid>(row, 3)});
    }
    if (reader.failure().has_value()) {
        co_return *reader.failure();
    }
    co_return tables;
}

}  // namespace walrelay::postgres
