// Connections to PostgreSQL as the settings name it.
#pragma once

#include "config/settings.hpp"
#include "core/error.hpp"
#include "core/facts.hpp"
#include "core/lineage.hpp"
#include "postgres/catalog/inspector.hpp"
#include "postgres/catalog/slot_acts.hpp"
#include "postgres/session/connection.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

namespace walrelay::servers {

/// How to connect, and where the password comes from.
[[nodiscard]] postgres::connect_options connect_options_of(const config::settings& settings);

/// A connection for replication commands.
[[nodiscard]] boost::asio::awaitable<result<postgres::connection>> open_replication(
    boost::asio::any_io_executor executor, const config::settings& settings);

/// Over such a connection of its own for each slot. `settings` must outlive it.
[[nodiscard]] postgres::failover_setter failover_setter_for(boost::asio::any_io_executor executor,
                                                            const config::settings& settings);

struct slot_on_server {
    server_identity server;
    postgres::slot_place place;
};

/// Which history the server is on, over a connection for replication, and where the slot stands
/// there, over `sql`.
[[nodiscard]] boost::asio::awaitable<result<slot_on_server>> find_slot(
    boost::asio::any_io_executor executor, const config::settings& settings,
    postgres::connection& sql);

/// A connection for queries, for whoever looks at the schema walrelay himself.
[[nodiscard]] boost::asio::awaitable<result<postgres::connection>> open_sql_unchecked(
    boost::asio::any_io_executor executor, const config::settings& settings);

/// A connection for queries. An error as well where the schema walrelay cannot be trusted with
/// statements (postgres/own_tables).
[[nodiscard]] boost::asio::awaitable<result<postgres::connection>> open_sql(
    boost::asio::any_io_executor executor, const config::settings& settings);

/// The same, for a command whose matter is in the schema walrelay: an error as well where that is
/// somebody else's, which open_sql only keeps away from.
[[nodiscard]] boost::asio::awaitable<result<postgres::connection>> open_sql_of_own_schema(
    boost::asio::any_io_executor executor, const config::settings& settings);

/// As open_sql, for statements that change rows of outboxes, which can run code of others: as
/// postgres.writer, where that is set.
[[nodiscard]] boost::asio::awaitable<result<postgres::connection>> open_for_outboxes(
    boost::asio::any_io_executor executor, const config::settings& settings);

/// postgres::inspect over `sql`, with what postgres.writer may do; an error where that cannot be
/// reached.
[[nodiscard]] boost::asio::awaitable<result<postgres_facts>> inspect(
    boost::asio::any_io_executor executor, const config::settings& settings,
    postgres::connection& sql, postgres::inspection_request wanted);

/// As open_sql, for commits that must survive a crash of the server.
[[nodiscard]] boost::asio::awaitable<result<postgres::connection>> open_for_writes(
    boost::asio::any_io_executor executor, const config::settings& settings);

}  // namespace walrelay::servers
