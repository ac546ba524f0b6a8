// What `walrelay check` finds, and what a relay finds of itself while it runs.
#pragma once

#include "config/settings.hpp"
#include "core/finding.hpp"
#include "preflight/preflight.hpp"
#include "servers/run_to_end.hpp"

#include <boost/asio/awaitable.hpp>

#include <optional>
#include <vector>

namespace walrelay::app {

/// Looks at both servers. One that cannot be reached is a finding, too.
[[nodiscard]] boost::asio::awaitable<std::vector<finding>> look_at_both_sides(
    servers::executors on, const config::settings& settings);

/// What PostgreSQL's half of a look in passing had, and what it took the stream for.
struct seen_in_passing {
    std::optional<preflight::earlier_run> earlier;
    std::vector<finding> of_postgres;
};

/// The same from beside a relay that streams: what leaves no trace on a server, and what the relay
/// does not see by itself. Nothing where one of them has no answer, which the relay tells of.
/// PostgreSQL is not asked where `known` still tells what it would say; what is there afterwards is
/// of this look.
[[nodiscard]] boost::asio::awaitable<std::optional<std::vector<finding>>> look_in_passing(
    servers::executors on, const config::settings& settings, std::optional<seen_in_passing>& known);

}  // namespace walrelay::app
