// The slot that a replay reads from: a temporary copy of a kept one, made in the session that
// decodes, so that the kept slot stays where it is and nothing is left when the session ends.
// Source: PostgreSQL documentation, "Replication Management Functions",
// pg_copy_logical_replication_slot.
#pragma once

#include "core/error.hpp"
#include "core/facts.hpp"
#include "postgres/session/connection.hpp"

#include <boost/asio/awaitable.hpp>

#include <string>

namespace walrelay::postgres {

/// `<slot>_replay`, never longer than a name may be. There is one for each relay's slot, so that
/// two replays never run at once: PostgreSQL lets nobody take it who may not replicate.
[[nodiscard]] std::string replay_slot_name(const std::string& slot);

/// Copies `kept_slot` to replay_slot_name(slot), through a connection of
/// connection_kind::replication, which is to go on with START_REPLICATION. Errors: slot_in_use
/// where another replay is under way; postgres_unsuitable where the kept slot is not there any
/// more, or its WAL is gone; else those of server_error.hpp with `server_action::create_slot`.
[[nodiscard]] boost::asio::awaitable<result<void>> copy_to_replay_slot(connection& replication,
                                                                       std::string kept_slot,
                                                                       std::string slot,
                                                                       output_plugin plugin);

}  // namespace walrelay::postgres
