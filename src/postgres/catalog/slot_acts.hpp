// What changes a slot is made of: finding, copying and dropping one. For slot_switch and
// slot_rewind; all through a connection of connection_kind::sql, with the right to replicate.
#pragma once

#include "core/error.hpp"
#include "postgres/session/connection.hpp"

#include <boost/asio/awaitable.hpp>

#include <functional>
#include <optional>
#include <string>

namespace walrelay::postgres {

struct found_slot {
    std::string plugin;
    std::string confirmed;  // as PostgreSQL prints it
    std::string wal_status;
    bool active = false;
    /// Standbys keep a copy of it (PostgreSQL 17 and newer).
    bool failover = false;

    /// Its WAL is gone: it sends nothing any more, and cannot be copied.
    [[nodiscard]] bool is_lost() const { return wal_status == "lost"; }
};

/// Nothing if this database has no such logical slot.
[[nodiscard]] boost::asio::awaitable<result<std::optional<found_slot>>> find_slot(connection& sql,
                                                                                  std::string slot);
/// Errors: slot_in_use, where `slot` is; else those of server_error.hpp.
[[nodiscard]] boost::asio::awaitable<result<void>> copy_slot(connection& sql, std::string slot,
                                                             std::string to, std::string plugin);
[[nodiscard]] boost::asio::awaitable<result<void>> drop_slot(connection& sql, std::string slot);

/// Lets standbys keep a copy of a slot, which takes a connection of connection_kind::replication:
/// neither the copy of a slot nor a function of SQL can.
using failover_setter = std::function<boost::asio::awaitable<result<void>>(std::string slot)>;

/// For who changes the slot's plugin or rewinds it, until the session ends. False where another
/// session does. A temporary slot is the lock: only a role that may replicate can take it, and it
/// ends with its session. Errors: those of making a slot.
[[nodiscard]] boost::asio::awaitable<result<bool>> lock_slot_changes(connection& sql,
                                                                     std::string slot);

/// The slot's name with a suffix: never longer than a name may be.
[[nodiscard]] std::string slot_name_with(const std::string& slot, std::string_view suffix);

}  // namespace walrelay::postgres
