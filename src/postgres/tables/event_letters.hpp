// What walrelay's own tables know of one event. Through a connection of
// connection_kind::sql; errors are those of `connection::query`, with the rights that are lacking.
#pragma once

#include "core/error.hpp"
#include "postgres/session/connection.hpp"
#include "postgres/session/row_set.hpp"

#include <boost/asio/awaitable.hpp>

#include <string>
#include <vector>

namespace walrelay::postgres {

/// The slot's letters whose message would have had this id, or that of one of its republications,
/// also those that were dropped or given up: id, state, when, table, reason, whether it is this
/// very id, subject (NULL where it is not known) and when its transaction was committed. None where
/// there is no table of letters.
[[nodiscard]] boost::asio::awaitable<result<row_set>> letters_of_event(connection& sql,
                                                                       std::string slot,
                                                                       std::string message_id);

/// The templates of the subjects to which replays of the slot have published (replayed_subject of
/// relay/intake/control_row.hpp), each once. None where there is no table of replays, or the role
/// may not read it.
[[nodiscard]] boost::asio::awaitable<std::vector<std::string>> subjects_of_replays(
    connection& sql, std::string slot);

}  // namespace walrelay::postgres
