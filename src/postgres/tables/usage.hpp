// What a slot and the dead letters take at the moment, for people and alerts.
//
// Through a connection of connection_kind::sql.
#pragma once

#include "core/error.hpp"
#include "core/usage.hpp"
#include "postgres/session/connection.hpp"

#include <boost/asio/awaitable.hpp>

#include <optional>
#include <string>

namespace walrelay::postgres {

/// Nothing where there is no such slot.
[[nodiscard]] boost::asio::awaitable<result<std::optional<slot_usage>>> read_slot_usage(
    connection& sql, std::string slot);

/// Nothing where nobody streams from the slot.
[[nodiscard]] boost::asio::awaitable<result<std::optional<slot_holder>>> read_slot_holder(
    connection& sql, std::string slot);

/// Those of this slot. Nothing where there is no such table, or the role may not read it. Counts
/// its rows, which can take a while where there are very many.
[[nodiscard]] boost::asio::awaitable<result<std::optional<open_letters>>> read_open_letters(
    connection& sql, std::string slot);

}  // namespace walrelay::postgres
