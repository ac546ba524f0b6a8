// The other stream that a replay goes into (`--to-stream`): how it is made, whose it is, and what
// it has of the range.
#pragma once

#include "config/settings.hpp"
#include "core/error.hpp"
#include "core/facts.hpp"
#include "core/lineage.hpp"
#include "postgres/tables/replay_desk.hpp"
#include "relay/intake/size_limits.hpp"
#include "relay/lane/publish_outcome.hpp"
#include "relay/machine/replay_target.hpp"
#include "relay/machine/stream_owner.hpp"
#include "servers/run_to_end.hpp"

#include <boost/asio/awaitable.hpp>

#include <optional>
#include <string>

namespace walrelay::tasks {

struct stream_target {
    /// Those of the program, with this stream in place of the live one, and with its subjects.
    config::settings settings;
    relay::stream_owner owner;
};

/// `line` and `database` are those of the server that is read. Errors: configuration_invalid, where
/// it is the live stream, or the subjects cannot be put into one.
[[nodiscard]] result<stream_target> target_of(const config::settings& settings,
                                              const postgres::kept_replay& of,
                                              const std::string& stream, const lineage& line,
                                              const std::string& database);

struct target_sight {
    /// What the stream has of it; nothing where it is new or not there yet.
    std::optional<relay::replayed_before> before = {};
    /// What it takes.
    relay::size_limits limits = {};
};

/// Errors: those of replay_goes_on_after and of the connection.
[[nodiscard]] boost::asio::awaitable<result<target_sight>> look_at_target(
    servers::executors on, const stream_target& target, const lineage& line);

/// Why the replay ends at an answer of the broker that is unsuitable.
[[nodiscard]] error takes_no_messages(const std::string& stream, const relay::publish_outcome& said,
                                      std::string trouble);

}  // namespace walrelay::tasks
