// A slot goes on with another output plugin, from where it stands.
//
// PostgreSQL copies a slot with another plugin, but renames none. So the copy waits under a name of
// its own while the slot is made again: what breaks off in between is finished by the next try.
// Source: PostgreSQL documentation, "Replication Management Functions",
// pg_copy_logical_replication_slot.
#pragma once

#include "core/error.hpp"
#include "core/facts.hpp"
#include "postgres/session/connection.hpp"

#include <boost/asio/awaitable.hpp>

#include <string>

namespace walrelay::postgres {

struct slot_switch {
    std::string slot;
    output_plugin to = output_plugin::pgoutput;
    /// Of pgoutput: it must have been as it is for all that the slot still sends.
    std::string publication;
};

/// The name under which the copy waits: never longer than a name may be.
[[nodiscard]] std::string waiting_slot_name(const std::string& slot);

/// Does nothing where the slot has the plugin; what broke off is finished first, with the plugin
/// that was wanted then. Through a connection of connection_kind::sql, with the right to replicate.
/// Errors: slot_in_use while a relay streams or another one does this; postgres_unsuitable where
/// the slot is missing, may reach back to before the publication or a table of it, or where it is
/// not clear which of two slots counts; else those of server_error.hpp.
[[nodiscard]] boost::asio::awaitable<result<void>> switch_plugin(connection& sql,
                                                                 slot_switch wanted);

}  // namespace walrelay::postgres
