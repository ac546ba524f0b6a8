// `walrelay replay --to-stream`, and how a replay is refused.
#pragma once

#include "config/settings.hpp"
#include "core/error.hpp"
#include "postgres/session/connection.hpp"
#include "postgres/tables/replay_desk.hpp"
#include "servers/run_to_end.hpp"
#include "tasks/replay/replay_request.hpp"

#include <boost/asio/awaitable.hpp>

#include <cstdint>
#include <string>

namespace walrelay::app {

/// All of these say why, and return the exit code.
int refuse_usage(const std::string& what, const std::string& fix);
/// What is asked for cannot be had, or is written wrongly; else a server failed.
int refuse(const error& why);
int too_many(std::uint64_t rows, std::uint64_t limit);

/// Shows the plan, or does it. Returns the exit code.
[[nodiscard]] boost::asio::awaitable<int> replay_to_stream(servers::executors on,
                                                           postgres::connection& sql,
                                                           const config::settings& settings,
                                                           tasks::replay_request request,
                                                           postgres::kept_replay scope);

}  // namespace walrelay::app
