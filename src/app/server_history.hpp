// What history the server has, and where its WAL ends.
#pragma once

#include "core/error.hpp"
#include "core/lineage.hpp"
#include "postgres/connection.hpp"

#include <boost/asio/awaitable.hpp>

namespace walrelay::app {

struct server_history {
    lineage line;
    lsn wal_end;
};

/// `replication` is of connection_kind::replication. Without ancestors where the server no longer
/// has their file.
[[nodiscard]] boost::asio::awaitable<result<server_history>> read_server_history(
    postgres::connection& replication);

}  // namespace walrelay::app
