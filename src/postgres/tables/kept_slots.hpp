// Makes, moves and drops the slots that keep a position, with their rows in walrelay.bookmark.
//
// Slots are not transactional. So a row is there before its slot and stays until the slot is gone:
// what breaks off in between is never a slot of which nobody knows whose it is. Source: PostgreSQL
// documentation, "Replication Management Functions".
//
// All through a connection of connection_kind::sql whose schema walrelay can be trusted
// (own_tables.hpp), with the right to replicate.
#pragma once

#include "core/error.hpp"
#include "core/kept_position.hpp"
#include "core/lsn.hpp"
#include "core/outbox_table.hpp"
#include "postgres/session/connection.hpp"

#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace walrelay::postgres {

struct kept_slot_wish {
    /// Of the relay; the copy is made of it, also while it is in use.
    std::string slot = {};
    std::string kept_slot = {};
    /// Nothing for the trail, whose row may be there already.
    std::optional<std::string> name = {};
    std::string comment = {};
    /// Nothing is never.
    std::optional<std::chrono::milliseconds> expires_after = {};
};

/// Makes walrelay.bookmark and walrelay.trail where they are missing (`outboxes` as in
/// own_tables.hpp). Errors: those of create_table.
[[nodiscard]] boost::asio::awaitable<result<void>> make_kept_tables(
    connection& sql, std::vector<table_name> outboxes);

/// Who looks after the kept slots: whoever streams from the slot that they are copies of, with the
/// server's process `holder`. No lock, which another role could take. errc::slot_in_use where the
/// slot is another's, or nobody's.
[[nodiscard]] boost::asio::awaitable<result<void>> require_holder(connection& sql, std::string slot,
                                                                  int holder);

/// Returns where the copy stands. errc::configuration_invalid where there is such a bookmark or
/// such a slot already; else as with any slot that is made.
[[nodiscard]] boost::asio::awaitable<result<lsn>> make_kept_slot(connection& sql,
                                                                 kept_slot_wish wanted);

/// Moves it forward, or with its own position has PostgreSQL find out what it need not keep for it.
/// Reads the WAL on the way, which can take a while. errc::slot_in_use while a session uses it.
[[nodiscard]] boost::asio::awaitable<result<void>> move_kept_slot(connection& sql,
                                                                  std::string kept_slot, lsn to);

/// Also where the slot or the row is gone already. A slot whose name is none that a kept slot of
/// `slot` has stays, whatever walrelay.bookmark says. errc::slot_in_use while a session uses it.
[[nodiscard]] boost::asio::awaitable<result<void>> drop_kept_slot(connection& sql,
                                                                  std::string kept_slot,
                                                                  std::string slot);

/// For PostgreSQL 17 and newer, through a connection of connection_kind::replication: standbys keep
/// a copy of the slot, as they do of the one that it is a copy of.
[[nodiscard]] boost::asio::awaitable<result<void>> let_kept_slot_fail_over(connection& replication,
                                                                           std::string kept_slot);

}  // namespace walrelay::postgres
