// What `walrelay check` finds, and what a relay finds of itself while it runs.
#pragma once

#include "config/settings.hpp"
#include "core/finding.hpp"
#include "servers/run_to_end.hpp"

#include <boost/asio/awaitable.hpp>

#include <optional>
#include <vector>

namespace walrelay::app {

/// Looks at both servers. One that cannot be reached is a finding, too.
[[nodiscard]] boost::asio::awaitable<std::vector<finding>> look_at_both_sides(
    servers::executors on, const config::settings& settings);

/// The same from beside a relay that streams: what leaves no trace on a server, and what the relay
/// does not see by itself. Nothing where one of them has no answer, which the relay tells of.
[[nodiscard]] boost::asio::awaitable<std::optional<std::vector<finding>>> look_in_passing(
    servers::executors on, const config::settings& settings);

}  // namespace walrelay::app
