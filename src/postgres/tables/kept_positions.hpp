// Reads which positions are kept for a replay, from pg_replication_slots, walrelay.bookmark and
// walrelay.trail. Judges nothing and changes nothing.
#pragma once

#include "core/error.hpp"
#include "core/kept_position.hpp"
#include "postgres/session/connection.hpp"

#include <boost/asio/awaitable.hpp>

#include <string>

namespace walrelay::postgres {

/// Those of the relay's slot `slot`, through a connection of connection_kind::sql whose schema
/// walrelay can be trusted (own_tables.hpp). A table that is missing, or that the role may not
/// read, is taken for an empty one. Errors: those of `connection::query`.
[[nodiscard]] boost::asio::awaitable<result<kept_positions>> read_kept_positions(connection& sql,
                                                                                 std::string slot);

}  // namespace walrelay::postgres
