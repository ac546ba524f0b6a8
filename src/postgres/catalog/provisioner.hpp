// Makes what pgoutput and the slot need, with the statements that sql_text.hpp shows.
#pragma once

#include "core/error.hpp"
#include "core/facts.hpp"
#include "core/lsn.hpp"
#include "core/outbox_table.hpp"
#include "postgres/session/connection.hpp"

#include <boost/asio/awaitable.hpp>

#include <string>
#include <vector>

namespace walrelay::postgres {

/// `publish` as for create_publication_sql. Needs CREATE on the database and ownership of the
/// tables. To be done before the slot is created: pgoutput cannot decode what lies before its
/// publication.
[[nodiscard]] boost::asio::awaitable<result<void>> create_publication(
    connection& sql, std::string publication, std::vector<table_name> tables,
    std::string publish = "insert");

/// Needs REPLICATION. Waits for the transactions that run at the moment. Gives the position from
/// which the slot streams. `failover` only for PostgreSQL 17 and newer.
[[nodiscard]] boost::asio::awaitable<result<lsn>> create_slot(connection& sql, std::string slot,
                                                              output_plugin plugin,
                                                              bool failover = false);

/// Errors as above.
[[nodiscard]] boost::asio::awaitable<result<void>> add_to_publication(connection& sql,
                                                                      std::string publication,
                                                                      table_name table);

}  // namespace walrelay::postgres
