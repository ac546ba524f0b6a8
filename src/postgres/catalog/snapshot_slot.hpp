// A slot that is made together with a snapshot of the same moment: what the snapshot shows was
// committed before the slot's first change, and everything else comes from the slot.
//
// The slot is a temporary one: it ends with its connection, so that work which breaks off leaves
// nothing on the server. Once the snapshot has been used, a lasting slot takes its place.
// Source: PostgreSQL documentation, "Streaming Replication Protocol", CREATE_REPLICATION_SLOT, and
// "Replication Management Functions", pg_copy_logical_replication_slot.
#pragma once

#include "core/error.hpp"
#include "core/facts.hpp"
#include "core/lsn.hpp"
#include "postgres/session/connection.hpp"

#include <boost/asio/awaitable.hpp>

#include <string>

namespace walrelay::postgres {

struct snapshot_slot {
    std::string name = {};
    /// Where the slot begins.
    lsn consistent_point = {};
    /// For SET TRANSACTION SNAPSHOT, until the connection does something else.
    std::string snapshot = {};
};

/// The name of the temporary slot for `slot`: never longer than a name may be.
[[nodiscard]] std::string snapshot_slot_name(const std::string& slot);

/// Needs a connection of connection_kind::replication, which is to be left alone afterwards. Waits
/// for the transactions that run at the moment. Errors: slot_in_use where another relay is at it
/// for the same `slot`, else those of server_error.hpp with `server_action::create_slot`.
[[nodiscard]] boost::asio::awaitable<result<snapshot_slot>> create_snapshot_slot(
    connection& replication, std::string slot, output_plugin plugin);

/// The same with a lasting slot of this name, and a snapshot that lives as long as that of a
/// temporary one. `failover` needs PostgreSQL 17.
[[nodiscard]] boost::asio::awaitable<result<snapshot_slot>> create_slot_with_snapshot(
    connection& replication, std::string slot, output_plugin plugin, bool failover);

/// To be asked once the temporary slot is there, which keeps other relays from making `slot`: that
/// there is none. With `replace` one that is there is dropped. Errors: slot_in_use where it was
/// made meanwhile, or streams.
[[nodiscard]] boost::asio::awaitable<result<void>> claim_slot_name(connection& sql,
                                                                   std::string slot, bool replace);

/// Makes `slot` a lasting one that begins where `from` does. To be called while the temporary one
/// still lives.
[[nodiscard]] boost::asio::awaitable<result<void>> adopt_snapshot_slot(connection& sql,
                                                                       snapshot_slot from,
                                                                       std::string slot);

/// Lets standbys keep a copy of a lasting slot (PostgreSQL 17 and newer): neither a temporary slot
/// nor the copy of a slot can have that from the start. Needs a connection of
/// connection_kind::replication.
[[nodiscard]] boost::asio::awaitable<result<void>> enable_failover(connection& replication,
                                                                   std::string slot);

}  // namespace walrelay::postgres
