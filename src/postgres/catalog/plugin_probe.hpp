// Asks the server by trying, where its settings and catalogs do not tell. Only for the .cpp files
// of this folder.
#pragma once

#include "core/facts.hpp"
#include "postgres/session/connection.hpp"

#include <boost/asio/awaitable.hpp>

#include <string>

namespace walrelay::postgres {

/// Whether the server loads wal2json, and one that is new enough: by peeking at the slot if it is
/// one of wal2json, or by making a temporary slot if there is none yet. Where neither can be tried:
/// whether the list of output_plugin_libraries has it, or none where the role may not see the list.
///
/// Versions tell themselves apart by nothing but a row, and those for PostgreSQL 15 are all new
/// enough. Before, it is the first row that the slot has; without a slot one of walrelay.control,
/// inserted and deleted in one transaction and read through the temporary slot. None where that
/// cannot be tried.
[[nodiscard]] boost::asio::awaitable<plugin_trouble> trouble_with_wal2json(
    connection& sql, std::string slot, const postgres_facts& known);

/// Whether decoding what the slot has next fails because the publication was not there at the time.
/// False if it cannot be told within a few seconds.
[[nodiscard]] boost::asio::awaitable<bool> publication_is_younger(connection& sql, std::string slot,
                                                                  std::string publication);

}  // namespace walrelay::postgres
