// What JetStream lets an account have, from the server's own account of it (INFO of its API).
#pragma once

#include "core/facts.hpp"
#include "nats/requests/handles.hpp"
#include "nats/session/connect_options.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace walrelay::nats {

/// What counts for a stream of so many replicas: an account either has limits for all streams
/// together, or tiers, `R1` and `R3` for example, each with limits of its own. Nothing where the
/// answer holds no limits. Pure. Source: nats-server, server/jetstream.go (JetStreamUsage,
/// selectLimits, checkBytesLimits).
[[nodiscard]] std::optional<account_limits> account_limits_in(std::string_view answer,
                                                              std::int64_t replicas);

/// Asks for it, and waits for as long as the options say. Nothing where that is not told, as to a
/// user who may not ask.
[[nodiscard]] std::optional<account_limits> read_account(natsConnection* connection,
                                                         const connect_options& options,
                                                         std::int64_t replicas);

}  // namespace walrelay::nats
