// Which partitions the outboxes have had, in the table walrelay.partition: what wal2json, and
// pgoutput by the leaves, do not tell once a partition is detached or dropped. Decides nothing.
#pragma once

#include "core/error.hpp"
#include "core/facts.hpp"
#include "postgres/session/connection.hpp"

#include <boost/asio/awaitable.hpp>

#include <string>

namespace walrelay::postgres {

/// Remembers the partitions of `facts`, which was read just before, for the slot, and fills
/// `facts.gone_partitions`. Makes the table where it is missing. Forgets what has been gone for a
/// week, is no table any more, and lies before what the slot has confirmed. On a standby nothing is
/// written. `sql` is of connection_kind::sql. Errors: postgres_unsuitable where the role may not
/// use the table; postgres_lost, postgres_unavailable.
[[nodiscard]] boost::asio::awaitable<result<void>> remember_partitions(connection& sql,
                                                                       std::string slot,
                                                                       postgres_facts& facts);

}  // namespace walrelay::postgres
