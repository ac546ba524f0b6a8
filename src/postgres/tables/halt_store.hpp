// Keeps why no relay of a slot may go on, in the table walrelay.halt of the outbox's database.
//
// Through a connection of connection_kind::sql. The table is that of sql/halt.sql; where it is
// missing nothing is halted.
#pragma once

#include "core/error.hpp"
#include "core/outbox_table.hpp"
#include "postgres/session/connection.hpp"

#include <boost/asio/awaitable.hpp>

#include <optional>
#include <string>
#include <vector>

namespace walrelay::postgres {

struct kept_halt {
    /// "2026-03-14 15:09:26 UTC".
    std::string halted_at;
    std::string reason;
    std::string fix;
    /// When an operator decided to go on.
    std::optional<std::string> resumed_at = {};
};

/// Nothing where the slot is not halted. errc::postgres_unsuitable, with the SQL that fixes it, if
/// the role may not read the table or it is not an ordinary one; else what `connection::query`
/// gives.
[[nodiscard]] boost::asio::awaitable<result<std::optional<kept_halt>>> read_halt(connection& sql,
                                                                                 std::string slot);

/// Returns once it is committed and flushed; makes the table where it is missing (`outboxes` as in
/// own_tables.hpp). Takes the place of an earlier halt of the slot, also of one that was resumed.
[[nodiscard]] boost::asio::awaitable<result<void>> store_halt(connection& sql, std::string slot,
                                                              std::string reason, std::string fix,
                                                              std::vector<table_name> outboxes);

/// Lets the next relay of the slot go on. Returns whether there was a halt.
[[nodiscard]] boost::asio::awaitable<result<bool>> resume_halt(connection& sql, std::string slot);

/// Removes the halt, if there is one.
[[nodiscard]] boost::asio::awaitable<result<void>> forget_halt(connection& sql, std::string slot);

}  // namespace walrelay::postgres
