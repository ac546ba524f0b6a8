// A pooler between this relay and PostgreSQL: whether it keeps a session for whoever opened it.
// Only for the .cpp files of this folder.
#pragma once

#include "core/error.hpp"
#include "postgres/session/connect_parameters.hpp"
#include "postgres/session/session.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <memory>

namespace walrelay::postgres {

/// Tries it: sets something in the session, has a second one begin a transaction, and looks whether
/// the first still has what it set. In a pool of mode `transaction` or `statement` the second has
/// been given the first one's connection to the server by then; `statement` refuses it the
/// transaction. Errors: postgres_refused where what was set is lost, postgres_unavailable where
/// that cannot be tried now. Source: pgbouncer's documentation, "pool_mode".
[[nodiscard]] boost::asio::awaitable<result<void>> require_own_session(
    boost::asio::any_io_executor executor, std::shared_ptr<session> mine,
    connect_parameters parameters, std::chrono::steady_clock::time_point deadline);

}  // namespace walrelay::postgres
