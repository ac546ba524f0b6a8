// Asks PostgreSQL whether it would run what the configuration writes back, without running it.
#pragma once

#include "core/error.hpp"
#include "core/facts.hpp"
#include "core/outbox_table.hpp"
#include "postgres/session/connection.hpp"

#include <boost/asio/awaitable.hpp>

#include <string>
#include <vector>

namespace walrelay::postgres {

/// Fills `refused` of the tables, which are those of the configuration in its order. EXPLAIN checks
/// syntax, names, types and rights, and takes the lock of the statement: one that somebody else has
/// locked is not asked for longer than a moment, as no row is relayed before the answer. Tables
/// without the column of the id are left out.
/// Nor are those tried at which code of others would run, unless the session `has_writer`'s role.
/// `search_path` is that of postgres/fragment_path.
[[nodiscard]] boost::asio::awaitable<result<void>> probe_write_backs(
    connection& sql, std::vector<outbox_table> asked, std::string search_path, bool has_writer,
    std::vector<table_facts>& tables);

/// The same for the condition by which a snapshot reads the rows that are still to be sent, through
/// the session that will.
[[nodiscard]] boost::asio::awaitable<result<void>> probe_pending(connection& sql,
                                                                 std::vector<outbox_table> asked,
                                                                 std::string search_path,
                                                                 std::vector<table_facts>& tables);

}  // namespace walrelay::postgres
