// Statements as text, each as walrelay runs it and as it is shown to people, semicolon included.
//
// Quoting as in PostgreSQL's documentation, "Lexical Structure".
#pragma once

#include "core/facts.hpp"
#include "core/outbox_table.hpp"

#include <span>
#include <string>
#include <string_view>

namespace walrelay {

/// `"name"`, with quotes inside doubled. Always quoted, so that no list of key words is needed.
[[nodiscard]] std::string quote_identifier(std::string_view name);
/// `'text'`, or `E'text'` where a backslash is in it.
[[nodiscard]] std::string quote_literal(std::string_view text);
/// `"schema"."name"`.
[[nodiscard]] std::string quote_table(const table_name& table);

/// `publish` is what is published of the tables, "insert" or "insert, update".
[[nodiscard]] std::string create_publication_sql(std::string_view publication,
                                                 std::span<const table_name> tables,
                                                 std::string_view publish = "insert");
/// Takes a table out and puts it in again, which takes its row filter and column list away.
[[nodiscard]] std::string unfilter_sql(std::string_view publication, const table_name& table);
[[nodiscard]] std::string add_to_publication_sql(std::string_view publication,
                                                 const table_name& table);
/// What must be published of these tables: updates as well, where any is to publish rows again.
[[nodiscard]] std::string_view published_operations(std::span<const outbox_table> tables);
/// `failover` only for PostgreSQL 17 and newer.
[[nodiscard]] std::string create_slot_sql(std::string_view slot, output_plugin plugin,
                                          bool failover = false);
/// A replication command, for a connection of that kind.
[[nodiscard]] std::string set_failover_sql(std::string_view slot, bool failover);
[[nodiscard]] std::string drop_slot_sql(std::string_view slot);
[[nodiscard]] std::string grant_replication_sql(std::string_view role);
/// Whether the SQL has the column's name as a word of its own, outside of quoted text.
[[nodiscard]] bool mentions_column(const std::string& sql, const std::string& name);
/// The two statements that let a server load wal2json. The list must not be one quoted string:
/// that would be one bogus name, and refuse pgoutput as well.
[[nodiscard]] std::string allow_wal2json_sql();

}  // namespace walrelay
