#include "postgres/catalog/write_back_sql.hpp"

#include "core/json_string.hpp"
#include "core/sql_text.hpp"

#include <fmt/format.h>

namespace walrelay::postgres {
namespace {

void replace_all(std::string& text, std::string_view name, std::string_view by) {
    for (auto at = text.find(name); at != std::string::npos; at = text.find(name, at + by.size())) {
        text.replace(at, name.size(), by);
    }
}

}  // namespace

std::string own_ids_json(const std::vector<std::string_view>& ids) {
    std::string json = "[";
    for (const auto id : ids) {
        json += json.size() > 1 ? "," : "";
        json += json_string(id);
    }
    return json + "]";
}

std::string_view key_column(const outbox_table& table) {
    return table.columns.id ? std::string_view{*table.columns.id} : "id";
}

bool deletes_at_once(const outbox_table& table) {
    return table.delete_after == std::chrono::milliseconds(0);
}

std::string write_back_sql(const outbox_table& table, const keyed_rows& rows, bool retried) {
    const auto which = fmt::format("{} = ANY ($1::text[]::{}[])",
                                   quote_identifier(key_column(table)), rows.key_type);
    if (deletes_at_once(table)) {
        return fmt::format("DELETE FROM {} WHERE {}", rows_sql(rows.in), which);
    }
    // A fragment may end with a comment, which must not reach what follows.
    auto sql =
        fmt::format("UPDATE {} SET {}\nWHERE {}", rows_sql(rows.in), table.on_published, which);
    if (!table.pending.empty() && !retried) {
        sql += fmt::format(" AND ({}\n)", table.pending);
    }
    return sql;
}

std::string fetch_row_sql(const outbox_table& table, const keyed_rows& rows) {
    // The name is one that no column has.
    return fmt::format(
        "SELECT walrelay_row.* FROM {} AS walrelay_row WHERE {} = $1::text::{} "
        "AND octet_length(walrelay_row::text) <= $2::int8",
        rows_sql(rows.in), quote_identifier(key_column(table)), rows.key_type);
}

std::string row_bytes_sql(const outbox_table& table, const keyed_rows& rows) {
    return fmt::format(
        "SELECT octet_length(walrelay_row::text) FROM {} AS walrelay_row WHERE {} = $1::text::{}",
        rows_sql(rows.in), quote_identifier(key_column(table)), rows.key_type);
}

std::string on_dead_letter_sql(const outbox_table& table, const keyed_rows& rows,
                               std::string_view key_parameter, std::string_view error_parameter,
                               std::string_view attempts_parameter) {
    auto assignments = table.on_dead_letter;
    replace_all(assignments, "{error}", fmt::format("{}::text", error_parameter));
    replace_all(assignments, "{attempts}", fmt::format("{}::int", attempts_parameter));
    // Both parameters stand here as well: a list need not use them, but every parameter that is
    // sent must have a type.
    return fmt::format(
        "UPDATE {} SET {}\nWHERE {} = {}::text::{} AND ({}::text IS NULL OR true) "
        "AND ({}::int IS NULL OR true)",
        rows_sql(rows.in), assignments, quote_identifier(key_column(table)), key_parameter,
        rows.key_type, error_parameter, attempts_parameter);
}

}  // namespace walrelay::postgres
