// How many rows the outbox tables hold. Only for the .cpp files of this folder.
#pragma once

#include "core/facts.hpp"
#include "postgres/session/connection.hpp"

#include <boost/asio/awaitable.hpp>

namespace walrelay::postgres {

/// Fills `rows` of each table: exactly up to 100,000, else from the statistics (pg_class.reltuples)
/// and at least that. Left out where the role may not read, where reading runs code of others
/// (`foreign_reading`, to be read before), or where it would take more than two seconds. Without
/// tables that inherit, which are not relayed either.
[[nodiscard]] boost::asio::awaitable<void> count_rows(connection& sql, postgres_facts& facts);

}  // namespace walrelay::postgres
