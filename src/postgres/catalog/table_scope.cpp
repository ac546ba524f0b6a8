#include "postgres/catalog/table_scope.hpp"

#include "core/sql_text.hpp"

#include <fmt/format.h>

namespace walrelay::postgres {

std::string rows_sql(const table_scope& scope) {
    return (scope.partitioned ? "" : "ONLY ") + quote_table(scope.table);
}

std::string is_meant_sql(const table_scope& scope) {
    if (scope.oid == 0) {
        return "true";
    }
    return fmt::format("{}::pg_catalog.regclass = {}::pg_catalog.oid",
                       quote_literal(quote_table(scope.table)), scope.oid);
}

}  // namespace walrelay::postgres
