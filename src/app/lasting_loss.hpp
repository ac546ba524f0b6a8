// What the stream has lost for good, for `walrelay resume`: the next start misses it again,
// whatever the tables have.
#pragma once

#include "config/settings.hpp"
#include "core/error.hpp"
#include "postgres/session/connection.hpp"
#include "servers/run_to_end.hpp"

#include <boost/asio/awaitable.hpp>

#include <optional>

namespace walrelay::app {

/// Messages that walrelay.witness says are stored are not in the stream, and the slot does not send
/// their rows again. Nothing where that is not so, or cannot be told at the moment.
[[nodiscard]] boost::asio::awaitable<std::optional<error>> lasting_loss(
    servers::executors on, postgres::connection& sql, const config::settings& settings);

}  // namespace walrelay::app
