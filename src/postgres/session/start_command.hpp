// The text of START_REPLICATION for each output plugin. Pure.
// Source: PostgreSQL documentation, "Streaming Replication Protocol" and "Logical Streaming
// Replication Parameters"; wal2json's README, "Parameters".
#pragma once

#include "core/outbox_table.hpp"
#include "postgres/session/replication_stream.hpp"

#include <span>
#include <string>

namespace walrelay::postgres {

/// Streams from `from`, or from the slot's own position: 0/0 asks for confirmed_flush_lsn. Asks for
/// messages of pg_logical_emit_message only where outboxes are made of them: with wal2json for
/// those of their prefixes alone; pgoutput, which has them from PostgreSQL 14 on, sends all of
/// them. `version_number` is server_version_num.
[[nodiscard]] std::string start_command(const start_options& options, int version_number);

/// The value of wal2json's option add-tables: `schema.table`, comma-separated, with a backslash
/// before every character that could mean something in the list.
[[nodiscard]] std::string wal2json_table_list(std::span<const table_name> tables);

}  // namespace walrelay::postgres
