// What is asked for becomes a range of the WAL, and the kept slot that reaches back to it.
#pragma once

#include "config/settings.hpp"
#include "core/change.hpp"
#include "core/error.hpp"
#include "postgres/session/connection.hpp"
#include "postgres/tables/replay_desk.hpp"
#include "tasks/replay/replay_request.hpp"

#include <boost/asio/awaitable.hpp>

#include <string>

namespace walrelay::tasks {

/// To the second, for people.
[[nodiscard]] std::string utc_text(wall_time time);

/// The replay that is asked for, not begun. Errors: configuration_invalid for words that are none,
/// and for tables that are not configured; position_not_kept where nothing reaches back so far.
[[nodiscard]] boost::asio::awaitable<result<postgres::kept_replay>> scope_of(
    postgres::connection& sql, const config::settings& settings, replay_request wanted);

}  // namespace walrelay::tasks
