#include "postgres/tables/replay_rows.hpp"

#include "core/sql_text.hpp"
#include "postgres/session/array_literal.hpp"
#include "postgres/session/sqlstate.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>
#include <utility>

namespace walrelay::postgres {
namespace {

using boost::asio::awaitable;

/// So that an index on the id can be used.
constexpr const char* type_of_column_sql =
    "SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = "
    "to_regclass($1) AND attname = $2 AND NOT attisdropped";

/// Class 22 is "Data Exception", 42 "Syntax Error or Access Rule Violation" (PostgreSQL Error
/// Codes).
error explain_rows(const server_report& report, const connection& sql, const table_name& table) {
    const std::string_view code = report.sqlstate;
    if (code == sqlstate::insufficient_privilege) {
        return {errc::postgres_unsuitable,
                fmt::format("the role {} may not read table {}", sql.role(), to_string(table)),
                fmt::format("GRANT SELECT ON {} TO {};", quote_table(table),
                            quote_identifier(sql.role())),
                words_of(report)};
    }
    if (code.starts_with("22") || code.starts_with("42")) {
        return {errc::configuration_invalid,
                fmt::format("PostgreSQL cannot find these rows of table {}", to_string(table)),
                "correct the condition or the ids", words_of(report)};
    }
    return explain(report, {.action = server_action::query, .role = sql.role()});
}

}  // namespace

awaitable<result<std::vector<std::string>>> ids_of_rows(connection& sql, replay_table of,
                                                        std::string condition) {
    const auto id = quote_identifier(of.id_column);
    const auto order = of.time_column.empty() ? id : quote_identifier(of.time_column) + ", " + id;
    // The line feed ends a comment in the condition.
    auto statement = fmt::format(
        "SELECT {0}::text FROM {1} WHERE ({2}\n) AND {0} IS NOT NULL ORDER "
        "BY {3}",
        id, rows_sql(of.scope()), condition, order);
    const auto rows = co_await sql.ask(std::move(statement));
    if (rows.has_error()) {
        co_return explain_rows(rows.error(), sql, of.table);
    }
    std::vector<std::string> ids;
    ids.reserve(rows->size());
    for (std::size_t row = 0; row < rows->size(); ++row) {
        ids.push_back(rows->text(row, 0));
    }
    co_return ids;
}

awaitable<result<row_set>> rows_of_ids(connection& sql, replay_table of,
                                       std::vector<std::string> ids) {
    std::vector<std::string> which{quote_table(of.table), of.id_column};
    const auto type = co_await sql.query(type_of_column_sql, std::move(which));
    if (!type) {
        co_return type.error();
    }
    if (type->empty()) {
        co_return error{errc::configuration_invalid,
                        fmt::format("table {} has no column {}", to_string(of.table), of.id_column),
                        "set outbox.columns.id to the column of the row's id"};
    }
    std::vector<std::string> columns;
    columns.reserve(of.columns.size());
    for (const auto& each : of.columns) {
        columns.push_back("t." + quote_identifier(each));
    }
    auto statement = fmt::format(
        "SELECT {} FROM unnest($1::text[]) WITH ORDINALITY AS w (id, place) JOIN {} AS t "
        "ON t.{} = w.id::{} ORDER BY w.place",
        fmt::join(columns, ", "), rows_sql(of.scope()), quote_identifier(of.id_column),
        type->text(0, 0));
    std::vector<std::string> wanted{array_literal(ids)};
    auto rows = co_await sql.ask(std::move(statement), std::move(wanted));
    if (rows.has_error()) {
        co_return explain_rows(rows.error(), sql, of.table);
    }
    co_return std::move(*rows);
}

}  // namespace walrelay::postgres
