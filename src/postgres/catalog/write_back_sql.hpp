// The statements that change rows of an outbox table, as text. Pure.
//
// The configuration's fragments stand in them as they are; every value is a parameter.
#pragma once

#include "core/outbox_table.hpp"
#include "postgres/catalog/table_scope.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace walrelay::postgres {

/// Marks rows as changed by walrelay itself in this transaction, for every relay that reads it:
/// $1 counts the marks of the transaction, $2 and $3 schema and name of the table, $4 own_ids_json,
/// $5 key_column: a relay that maps another one as id finds its rows by none of these. The second
/// ends the transaction and leaves walrelay.control empty.
inline constexpr const char* mark_as_own_sql =
    "INSERT INTO walrelay.control (place, kind, source_schema, source_table, event, subject) "
    "VALUES ($1, 'own', $2, $3, $4, $5)";
inline constexpr const char* empty_control_sql =
    "DELETE FROM walrelay.control WHERE transaction = "
    "pg_catalog.pg_current_xact_id()::pg_catalog.text::pg_catalog.int8";

/// A JSON array of the texts of the column that is mapped as id.
[[nodiscard]] std::string own_ids_json(const std::vector<std::string_view>& ids);

/// The column that identifies a row.
[[nodiscard]] std::string_view key_column(const outbox_table& table);

/// Whether published rows are deleted at once, in place of outbox.on_published.
[[nodiscard]] bool deletes_at_once(const outbox_table& table);

/// How the rows of a table are found by their keys.
struct keyed_rows {
    table_scope in = {};
    /// SQL name of the key's type.
    std::string key_type = {};
};

/// For the rows whose keys are the array $1. Without `retried` only rows that are still pending are
/// touched, where the table says which those are: a row is written back once, and what somebody
/// else has written since stays.
[[nodiscard]] std::string write_back_sql(const outbox_table& table, const keyed_rows& rows,
                                         bool retried);

/// The whole row of the key $1, where it has at most $2 bytes as text.
[[nodiscard]] std::string fetch_row_sql(const outbox_table& table, const keyed_rows& rows);

/// How many bytes the row of the key $1 has as text.
[[nodiscard]] std::string row_bytes_sql(const outbox_table& table, const keyed_rows& rows);

/// outbox.on_dead_letter with its placeholders as these parameters, for the row of the key
/// `key_parameter`: an UPDATE without a semicolon, to which conditions can be added.
[[nodiscard]] std::string on_dead_letter_sql(const outbox_table& table, const keyed_rows& rows,
                                             std::string_view key_parameter,
                                             std::string_view error_parameter,
                                             std::string_view attempts_parameter);

}  // namespace walrelay::postgres
