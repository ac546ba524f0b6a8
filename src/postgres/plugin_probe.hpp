// Asks the server by trying, where its settings and catalogs do not tell. Only for the .cpp files
// of this folder.
#pragma once

#include "core/facts.hpp"
#include "postgres/connection.hpp"

#include <boost/asio/awaitable.hpp>

#include <string>

namespace walrelay::postgres {

/// Whether the server loads wal2json: by peeking at the slot if it is one of wal2json, or by making
/// a temporary slot if there is none yet. Where neither can be tried: whether the list of
/// output_plugin_libraries has it, or true where the role may not see the list.
[[nodiscard]] boost::asio::awaitable<bool> may_use_wal2json(connection& sql, std::string slot,
                                                            const postgres_facts& known);

/// Whether decoding what the slot has next fails because the publication was not there at the time.
/// False if it cannot be told within a few seconds.
[[nodiscard]] boost::asio::awaitable<bool> publication_is_younger(connection& sql, std::string slot,
                                                                  std::string publication);

}  // namespace walrelay::postgres
