// The session of postgres.writer: another role's than the relay's, which changes rows of outboxes.
#pragma once

#include "core/error.hpp"
#include "postgres/session/connection.hpp"

#include <boost/asio/awaitable.hpp>

namespace walrelay::postgres {

/// Begins it: what belongs to the relay's role is trusted there (catalog/trusted_roles.hpp).
/// Errors: postgres_unavailable where `relay`'s session is not of the same server and database,
/// which can pass while a standby is promoted.
[[nodiscard]] boost::asio::awaitable<result<void>> act_for(connection& writer, connection& relay);

}  // namespace walrelay::postgres
