// Who keeps a statement of ours waiting for a lock. Decides nothing.
#pragma once

#include "core/error.hpp"
#include "postgres/session/connection.hpp"

#include <boost/asio/awaitable.hpp>

#include <string>

namespace walrelay::postgres {

/// In words for the log: what the server's process `process` waits for, whose it is and how to look
/// at it. Of a session of another role, what it does is seen by pg_read_all_stats alone. `sql` is
/// of connection_kind::sql. Errors: those of connection::query.
[[nodiscard]] boost::asio::awaitable<result<std::string>> describe_blockers(connection& sql,
                                                                            int process);

}  // namespace walrelay::postgres
