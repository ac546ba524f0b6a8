// A slot goes back to where a copy of it still stands, for a stream that was lost.
//
// PostgreSQL moves a slot only forward, and renames none. So a copy of the kept slot waits under a
// name of its own while the slot is made again from it: what breaks off in between is finished by
// the next start of the relay. Source: PostgreSQL documentation, "Replication Management
// Functions", pg_copy_logical_replication_slot.
#pragma once

#include "core/error.hpp"
#include "core/facts.hpp"
#include "postgres/catalog/slot_acts.hpp"
#include "postgres/session/connection.hpp"

#include <boost/asio/awaitable.hpp>

#include <optional>
#include <string>

namespace walrelay::postgres {

/// The name under which the copy waits.
[[nodiscard]] std::string rewinding_slot_name(const std::string& slot);

/// Whether a rewind has broken off. A slot of that name alone shows none, as it can be another
/// relay's: the bookmark of the place before, `undo-...`, must be there as well.
[[nodiscard]] boost::asio::awaitable<result<bool>> rewind_waits(connection& sql, std::string slot);

/// The slot keeps its plugin, or gets `plugin`, where that is given. Nothing may use it. Errors:
/// slot_in_use while a relay streams from it or another session does this; postgres_unsuitable
/// where one of the two slots is not there; those of `let_fail_over`, which is called where the
/// slot is one that standbys keep; else those of server_error.hpp.
[[nodiscard]] boost::asio::awaitable<result<void>> rewind_slot(connection& sql, std::string slot,
                                                               std::string kept_slot,
                                                               std::optional<output_plugin> plugin,
                                                               failover_setter let_fail_over);

enum class rewind_end {
    /// The slot stands where it was to be put.
    finished,
    /// It had not been touched yet, and stays where it is.
    given_up,
};

/// Ends one that broke off; nothing where none did. Errors: slot_in_use while it is under way.
[[nodiscard]] boost::asio::awaitable<result<std::optional<rewind_end>>> end_rewind(
    connection& sql, std::string slot, failover_setter let_fail_over);

}  // namespace walrelay::postgres
