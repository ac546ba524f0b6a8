// Where the slot of a relay stood at which time: the rows of walrelay.trail (sql/trail.sql),
// through a connection of connection_kind::sql. Errors of a refused statement: own_tables.hpp,
// explain_use.
#pragma once

#include "core/error.hpp"
#include "core/kept_position.hpp"
#include "core/lsn.hpp"
#include "postgres/session/connection.hpp"

#include <boost/asio/awaitable.hpp>

#include <string>
#include <utility>
#include <vector>

namespace walrelay::postgres {

struct trail_owner {
    std::string slot = {};
    /// The system identifier.
    std::string system = {};
};

/// A position with the server's clock.
using placed_time = std::pair<lsn, wall_time>;

/// In the order of the positions. Those of another system are deleted first: their positions are
/// others.
[[nodiscard]] boost::asio::awaitable<result<std::vector<placed_time>>> read_trail_marks(
    connection& sql, trail_owner of);

/// To be called after the slot was seen there. Returns the time that was noted.
[[nodiscard]] boost::asio::awaitable<result<wall_time>> add_trail_mark(connection& sql,
                                                                       trail_owner of, lsn at);

/// Those before a position that the trail has left.
[[nodiscard]] boost::asio::awaitable<result<void>> forget_trail_marks(connection& sql,
                                                                      std::string slot, lsn before);

}  // namespace walrelay::postgres
